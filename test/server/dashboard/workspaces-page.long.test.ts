/** The workspaces of the page in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Plans } from '../../../src/workspace/plans.js';
import { SessionManager } from '../../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { Workspace } from '../../../src/workspace/workspace.js';
import { hasBrowser, launch, Stage } from './browser-kit.js';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasBrowser)('the workspaces on the page', () => {
  let browser: Browser;
  let stage: Stage;
  let page: Page;
  let trouble: string[];

  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), Stage.open()]);
    await fill(stage);
    ({ page, trouble } = await stage.page(browser, '#/sessions'));
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await stage.close();
  });

  async function open(fragment: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
  }

  it('are a tab with the plan, the sessions and the tool calls', async () => {
    await page.getByRole('link', { name: 'Workspaces' }).click();
    await page.getByRole('link', { name: 'Workspace of the agent ada' }).waitFor();
    await page.getByRole('region', { name: 'Plans' }).getByText('# Second plan').waitFor();
    await page.getByText('1 archived plan').click();
    await page.getByRole('button', { name: /_plan\.md$/ }).click();
    await page.getByText('# First plan').waitFor();
    const sessions = page.getByRole('region', { name: 'Sessions of the workspace' });
    expect(await sessions.locator('[data-label="Title"]').allTextContents()).toEqual(['night run']);
    expect(trouble).toEqual([]);
  });

  it('have tool calls that are found by a text, with their large values on request', async () => {
    const calls = page.getByRole('region', { name: 'Tool calls' });
    await calls.getByText('3 calls, newest first').waitFor();
    await calls.getByLabel('Text').fill('needle');
    await calls.getByText('1 call, newest first').waitFor();
    expect(await calls.locator('tbody th').allTextContents()).toEqual(['fetch_page']);
    await calls.getByRole('button', { name: 'Load a large value' }).click();
    await calls.getByText('needle').first().waitFor();
    await calls.getByLabel('Text').fill('');
    await calls.getByLabel('Outcome').selectOption('error');
    await calls.getByText('no such page').waitFor();
    expect(trouble).toEqual([]);
  });

  it('list their entries with versions and authors, and say who reads what', async () => {
    await open('#/workspaces/store');
    await page.getByRole('heading', { name: 'Workspace of the store' }).waitFor();
    await page.getByText('3 writes by').waitFor();
    const rows = page.locator('table').first().locator('tbody tr');
    expect(await rows.locator('th').allTextContents()).toEqual([HOSTILE, 'plan']);
    const readers = page.getByRole('region', { name: 'Who reads what' });
    await readers.getByText('plan').waitFor();
    expect(await readers.locator('tbody td[data-label="Reads"]').allTextContents()).toEqual(['1']);
    await page.getByLabel('Key or author').fill('builder');
    await rows.nth(1).waitFor({ state: 'detached' });
    expect(await rows.locator('th').allTextContents()).toEqual(['plan']);
    expect(trouble).toEqual([]);
  });

  it('show an entry with its versions and the difference between two', async () => {
    await page.getByRole('link', { name: 'plan' }).click();
    await page.getByText('Version 2 by builder').waitFor();
    const difference = page.getByRole('region', { name: 'Difference' });
    await difference.getByRole('heading', { name: 'From version 1 to version 2' }).waitFor();
    expect((await difference.locator('.added').allTextContents()).join('')).toContain('2');
    await page.getByRole('radio', { name: 'Compare from version 2' }).check();
    await difference.waitFor({ state: 'detached' });
    expect(trouble).toEqual([]);
  });

  it('fit a narrow screen', async () => {
    await page.setViewportSize({ width: 375, height: 800 });
    for (const fragment of ['#/workspaces', '#/workspaces/store', '#/workspaces/store/plan']) {
      await open(fragment);
      await page.locator('main table').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
    }
    expect(trouble).toEqual([]);
  });
});

async function fill({ backend }: Stage): Promise<void> {
  const workspace = new Workspace(backend);
  await workspace.write('plan', { steps: [1] }, { agent: 'planner' });
  await workspace.write('plan', { steps: [1, 2] }, { agent: 'builder' });
  await workspace.write(HOSTILE, HOSTILE, { agent: 'planner' });
  const own = new Workspace(backend, { scope: { agent: 'ada' } });
  await own.write('own', 1, { agent: 'ada' });
  const log = new ToolCallLog(backend);
  const call = { callId: 'c', agent: 'ada', error: null, output: HOSTILE, startedMs: 1_000, durationMs: 3 };
  await log.record({ ...call, tool: 'read_from_workspace', input: { key: 'plan' } });
  await log.record({
    ...call,
    tool: 'fetch_page',
    startedMs: 2_000,
    input: { at: `needle ${'x'.repeat(9_000)}` },
  });
  await log.record({
    ...call,
    tool: 'fetch_page',
    startedMs: 3_000,
    input: {},
    output: null,
    error: 'no such page',
  });
  const sessions = new SessionManager(backend);
  await sessions.create({ title: 'night run' });
  const plans = new Plans(backend, ['workspace']);
  await plans.write('# First plan');
  await plans.write('# Second plan');
  for (const one of [workspace, own, log, sessions, plans]) await one.close();
}
