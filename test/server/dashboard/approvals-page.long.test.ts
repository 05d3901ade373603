/** The inbox of approvals on the page, in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAgent, ScriptedModel } from '../../../src/index.js';
import { waitingApprovals } from '../../../src/memory/approvals/waiting-approvals.js';
import { hasBrowser, launch, Stage } from './browser-kit.js';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasBrowser)('calls that wait for a person', () => {
  let browser: Browser;
  let stage: Stage;
  let page: Page;
  let trouble: string[];

  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), Stage.open()]);
    ({ page, trouble } = await stage.page(browser, '#/agents'));
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await stage.close();
  });

  it('appear with their arguments as text, and a running agent goes on when a person denies one', async () => {
    const agent = await openAgent('desk', {
      memoryDir: stage.dir,
      model: new ScriptedModel([{ calls: [{ name: 'pay', arguments: { to: HOSTILE } }] }, { text: 'ok' }]),
      tools: [
        {
          ...{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, needsApproval: true },
          execute: () => 'paid',
        },
      ],
      approve: 'inbox',
    });
    const turn = agent.send('Pay.');
    const inbox = page.getByRole('region', { name: 'Waiting for a person' });
    await inbox.getByRole('heading', { name: 'pay of desk, turn_0001' }).waitFor();
    expect(await inbox.locator('pre').textContent()).toContain(HOSTILE);
    await page.screenshot({ path: process.env['REKINDLE_SHOT'] ?? `${stage.dir}/inbox.png` });

    await inbox.getByLabel('Reason').fill('Not today.');
    await inbox.getByRole('button', { name: 'Deny' }).click();
    await inbox.getByRole('button', { name: 'Cancel' }).click();
    expect(await waitingApprovals(stage.backend)).toMatchObject([{ decision: null }]);
    await inbox.getByRole('button', { name: 'Deny' }).click();
    await inbox.getByRole('button', { name: 'Yes, refuse it' }).click();
    expect((await turn).text).toBe('ok');
    expect(JSON.stringify(agent.messages)).toContain('Reason: Not today.');
    await inbox.waitFor({ state: 'detached' });
    await agent.stop();
    expect(trouble).toEqual([]);
  });
});
