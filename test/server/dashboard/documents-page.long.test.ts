/** The durable documents of the page in a real browser. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentState } from '../../../src/state/durable/documents/agent-state.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { hasBrowser, launch, Stage } from './browser-kit.js';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasBrowser)('the documents on the page', () => {
  let browser: Browser;
  let stage: Stage;
  let page: Page;
  let trouble: string[];

  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), Stage.open()]);
    const state = await StateManager.open({ ...agentState, backend: stage.backend });
    await state.patch({ next_action: HOSTILE }, { by: 'builder', why: 'for a test' });
    await state.close();
    ({ page, trouble } = await stage.page(browser, '#/sessions'));
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await stage.close();
  });

  it('are a tab that lists them with version, author and file', async () => {
    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('link', { name: 'agent_state' }).waitFor();
    const cells = await page.locator('tbody td').allTextContents();
    expect(cells.slice(0, 3)).toEqual(['2', '1', 'builder']);
    expect(cells.at(-1)).toBe('shows this version');
    expect(trouble).toEqual([]);
  });

  it('have a view with value, history, and the difference of a version, as text', async () => {
    await page.evaluate("location.hash = '#/documents/agent_state'");
    await page.getByText('Version 2 by builder').waitFor();
    expect(await page.locator('main > pre').first().textContent()).toContain(HOSTILE);
    const reasons = page.locator('[data-label="Reason"]');
    expect(await reasons.allTextContents()).toEqual(['for a test', '']);
    await page.getByRole('button', { name: 'Show' }).first().click();
    const difference = page.getByRole('region', { name: 'Version 2' });
    await difference.waitFor();
    expect(await difference.locator('.added').allTextContents()).toEqual([
      expect.stringContaining(`"next_action": ${JSON.stringify(HOSTILE)}`),
    ]);
    expect(trouble).toEqual([]);
  });

  it('show the mistakes of an edit by a person with their places', async () => {
    const file = path.join(stage.dir, 'state', 'agent_state.json');
    await fs.writeFile(file, (await fs.readFile(file, 'utf8')).replace('"blockers": []', '"blockers": 1'));
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('has an edit with mistakes').waitFor();
    expect(await page.locator('.warn').allTextContents()).toEqual([
      expect.stringMatching(/^Line \d+, column \d+: \/blockers must be array$/),
    ]);
    expect(trouble).toEqual([]);
  });
});
