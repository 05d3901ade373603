/** The page with 5,000 keys and 500 sessions, in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SharedState } from '../../../src/state/shared/shared-state.js';
import { hasBrowser, launch, Stage } from './browser-kit.js';

const KEYS = 5_000;
const SESSIONS = 500;
const EVENTS = 500;
/** What a person accepts as at once, in ms. */
const SHOWN_MS = 1_000;

/** A machine that does other work takes longer than the usual second. */
const SOON = { timeout: 10_000 };

const keyName = (n: number) => `key-${String(n).padStart(4, '0')}`;

/** Notes when the first event arrives and when its last one is shown, how often the table changes, and frames. */
const WATCH = `(() => {
  const seen = { first: 0, last: 0, events: 0, drawn: 0, frames: 0 };
  globalThis.seen = seen;
  const Plain = WebSocket;
  globalThis.WebSocket = class extends Plain {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', ({ data }) => {
        if (!data.includes('"state_key_')) return;
        if (seen.events === 0) seen.first = performance.now();
        seen.events += 1;
      });
    }
  };
  const count = () => {
    seen.frames += 1;
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
})()`;

interface Seen {
  readonly first: number;
  readonly last: number;
  readonly events: number;
  readonly drawn: number;
  readonly frames: number;
}

describe.skipIf(!hasBrowser)(`the page with ${KEYS} keys and ${SESSIONS} sessions`, () => {
  let browser: Browser;
  let stage: Stage;
  let state: SharedState;

  beforeAll(async () => {
    const limits = { keys: KEYS };
    [browser, stage] = await Promise.all([launch(), Stage.open({ limits })]);
    await stage.shared.tree.create({ id: 'root', status: 'running' });
    for (let n = 0; n < SESSIONS - 1; n += 50)
      await Promise.all(
        Array.from({ length: Math.min(50, SESSIONS - 1 - n) }, (_, i) => {
          const number = n + i;
          const parent = number < 10 ? 'root' : `session-${number % 10}`;
          const status = number === 321 ? 'failed' : 'running';
          return stage.shared.tree.create({
            id: `session-${number}`,
            parent,
            agent: `agent-${number % 7}`,
            status,
          });
        }),
      );
    state = await stage.shared.stateOf('root');
    for (let n = 0; n < KEYS; n += 1_000)
      await state.batch(
        Array.from({ length: 1_000 }, (_, i) => ({ op: 'set', key: keyName(n + i), value: { n: n + i } })),
        { by: `session-${n / 1_000}` },
      );
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await stage?.close();
  });

  async function open<T>(fragment: string, look: (page: Page) => Promise<T>): Promise<T> {
    const { page, trouble } = await stage.page(browser, fragment, WATCH);
    try {
      const result = await look(page);
      expect(trouble).toEqual([]);
      return result;
    } finally {
      await page.close();
    }
  }

  const keysShown = (page: Page) => page.locator('tbody th').allTextContents();
  const sessionsShown = (page: Page) => page.locator('.tree a').allTextContents();

  it(`shows ${EVENTS} events within ${SHOWN_MS} ms, and draws at most once a frame`, () =>
    open('#/sessions/root', async (page) => {
      await page.getByText(`1 to 100 of 5,000 keys`).waitFor();
      await page.evaluate(`new MutationObserver(() => {
        seen.drawn += 1;
        seen.last = performance.now();
      }).observe(document.querySelector('output'), { childList: true, characterData: true, subtree: true })`);
      const before = (await page.evaluate('({ ...seen })')) as Seen;
      const started = performance.now();
      await Promise.all(
        Array.from({ length: EVENTS }, (_, n) => state.set(keyName(n * 10), { changed: n }, { by: 'root' })),
      );
      const stored = performance.now();
      await page.locator('output', { hasText: `${KEYS + EVENTS} of ${KEYS + EVENTS}` }).waitFor();
      const total = performance.now() - started;
      const seen = (await page.evaluate('({ ...seen })')) as Seen;
      const shown = seen.last - seen.first;
      const frames = seen.frames - before.frames;
      console.log(
        `${EVENTS} events on ${KEYS} keys: shown in ${shown.toFixed(0)} ms after the first arrived, in ${seen.drawn} drawings; ` +
          `${(stored - started).toFixed(0)} ms to store them, ${total.toFixed(0)} ms in all`,
      );
      expect(seen.events).toBe(EVENTS);
      expect(shown).toBeLessThan(SHOWN_MS);
      expect(seen.drawn).toBeGreaterThan(0);
      expect(seen.drawn).toBeLessThanOrEqual(frames + 1);
      expect(await page.locator('tbody tr').count()).toBe(100);
      const row = page.locator('tbody tr', {
        has: page.getByRole('rowheader', { name: keyName(90), exact: true }),
      });
      expect(JSON.parse((await row.locator('pre').textContent())!)).toEqual({ changed: 9 });
      await state.set(keyName(1), { n: 1 }, { by: 'session-0' });
    }));

  it('searches, filters and sorts all keys, and turns pages', () =>
    open('#/sessions/root', async (page) => {
      const status = page.locator('.pager');
      await status.getByText('1 to 100 of 5,000 keys').waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await status.getByText('101 to 200 of 5,000 keys').waitFor();
      expect((await keysShown(page))[0]).toBe(keyName(100));
      await page.getByLabel('Search keys').fill('KEY-49');
      await status.getByText('100 of 5,000 keys').waitFor();
      expect((await keysShown(page))[0]).toBe(keyName(4_900));
      await page.getByLabel('Changed by').selectOption('session-3');
      await expect.poll(() => keysShown(page), SOON).toEqual([]);
      await page.getByLabel('Search keys').fill('');
      await expect.poll(async () => (await keysShown(page))[0], SOON).toBe(keyName(3_001));
      await page.getByLabel('Changed by').selectOption('all');
      const latest = await state.set(keyName(2_500), 'newest', { by: 'root' });
      await page.getByRole('button', { name: 'When' }).click();
      await page.getByRole('button', { name: 'When' }).click();
      await expect.poll(async () => (await keysShown(page))[0], SOON).toBe(keyName(2_500));
      expect(await page.locator('tbody tr').first().locator('td').nth(1).textContent()).toBe(
        String(latest.version),
      );
      expect(await page.locator('th[aria-sort=descending]').textContent()).toContain('When');
    }));

  it('compares two versions of the whole state in one drawing, with a page of rows', () =>
    open('#/sessions/root', async (page) => {
      await page.locator('.pager').getByText('1 to 100 of 5,000 keys').waitFor();
      await page.evaluate(`new MutationObserver((records) => {
        const panel = document.querySelector('[aria-label="Compare two versions"]');
        const rows = records.filter(({ target }) => panel?.contains(target) && panel.querySelector('tbody'));
        if (rows.length === 0) return;
        seen.drawn += 1;
        seen.last = performance.now();
      }).observe(document.querySelector('main'), { childList: true, subtree: true })`);
      await page.evaluate(
        `addEventListener('click', () => (seen.first = performance.now()), { capture: true })`,
      );
      await page.getByRole('button', { name: 'Compare versions' }).click();
      const panel = page.getByRole('region', { name: 'Compare two versions' });
      await panel.getByText('5,000 keys added, 0 keys removed, 0 keys changed').waitFor();
      await panel.locator('.pager').getByText('1 to 100 of 5,000 keys').waitFor();
      const { first, last, drawn } = (await page.evaluate('({ ...seen })')) as Seen;
      console.log(`${KEYS} keys compared and shown in ${(last - first).toFixed(0)} ms, in ${drawn} drawings`);
      expect(drawn).toBe(1);
      expect(last - first).toBeLessThan(SHOWN_MS);
      expect(await panel.locator('tbody tr').count()).toBe(100);
      await panel.getByRole('button', { name: 'Next' }).click();
      await expect.poll(() => panel.locator('tbody th').first().textContent(), SOON).toBe(keyName(100));
      await state.set(keyName(7), 'x'.repeat(10_000), { by: 'session-0' });
      const { globalVersion } = await state.set(keyName(8), { n: 8 }, { by: 'session-0' });
      await page.locator('output', { hasText: `${globalVersion} of` }).waitFor();
      await panel.getByLabel('From version').fill(String(globalVersion - 2));
      await panel.getByLabel('To version').fill(String(globalVersion));
      await page.keyboard.press('Enter');
      await panel.getByText('0 keys added, 0 keys removed, 1 key changed').waitFor();
      expect(await panel.locator('.diff').count()).toBe(0); // a large one opens when it is asked for
      await panel.getByRole('button', { name: `Show the difference of ${keyName(7)}` }).click();
      await panel.locator('.diff .added', { hasText: 'xxx' }).waitFor();
      await state.set(keyName(7), { n: 7 }, { by: 'session-0' });
    }));

  it('shows a page of sessions, and searches, filters, sorts and collapses them', () =>
    open('#/sessions', async (page) => {
      const status = page.locator('.pager');
      await status.getByText('1 to 100 of 500 sessions').waitFor();
      expect(await page.locator('.tree li').count()).toBe(100);
      await page.getByLabel('Search sessions').fill('session-321');
      await expect.poll(() => sessionsShown(page), SOON).toEqual(['root', 'session-1', 'session-321']);
      await page.getByText('1 found, with those above them').waitFor();
      await page.getByLabel('Search sessions').fill('');
      await page.getByLabel('Status', { exact: true }).selectOption('failed');
      await expect.poll(() => sessionsShown(page), SOON).toEqual(['root', 'session-1', 'session-321']);
      await page.getByLabel('Status', { exact: true }).selectOption('all');
      await page.getByRole('button', { name: 'Collapse all' }).click();
      await expect.poll(() => sessionsShown(page), SOON).toEqual(['root']);
      await page.getByRole('button', { name: 'Sessions below root' }).click();
      await expect.poll(async () => (await sessionsShown(page)).length, SOON).toBe(11);
      await page.getByLabel('Order by').selectOption('id');
      const collapsed = await sessionsShown(page);
      expect(collapsed.slice(1)).toEqual(collapsed.slice(1).toSorted());
      await page.getByRole('button', { name: 'Sessions below session-4' }).click();
      await expect.poll(async () => (await sessionsShown(page)).length, SOON).toBe(60);
    }));

  it('keeps up with the status of all sessions, with few requests', () =>
    open('#/sessions', async (page) => {
      await page.locator('.pager').getByText('1 to 100 of 500 sessions').waitFor();
      let requests = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/sessions')) requests += 1;
      });
      const changed = Array.from({ length: 300 }, (_, n) => `session-${n}`);
      await Promise.all(changed.map((id) => stage.shared.tree.setStatus(id, 'idle')));
      await page.getByLabel('Status', { exact: true }).selectOption('idle');
      await page.getByText('300 found, with those above them').waitFor();
      expect(requests).toBeGreaterThan(0);
      expect(requests).toBeLessThan(60);
    }));
});
