/** The page in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../src/server/rekindle-server.js';
import type { SharedState } from '../../../src/state/shared/shared-state.js';
import { hasBrowser, launch, Stage, TOKEN } from './browser-kit.js';

/** A machine that does other work takes longer than the usual second. */
const SOON = { timeout: 10_000 };

describe.skipIf(!hasBrowser)('the page', () => {
  let browser: Browser;
  let stage: Stage;
  let state: SharedState;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), Stage.open()]);
    state = await stage.release();
    await stage.agent('support', 'order 4711');
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await stage.close();
  });

  async function open<T>(fragment: string, look: (page: Page) => Promise<T>): Promise<T> {
    const { page, trouble } = await stage.page(browser, fragment);
    try {
      const result = await look(page);
      expect(trouble).toEqual([]);
      return result;
    } finally {
      await page.close();
    }
  }

  const row = (page: Page, key: string) =>
    page.locator('tbody tr', { has: page.getByRole('rowheader', { name: key, exact: true }) });

  it('asks for the token, refuses a wrong one, and opens with the right one', async () => {
    const page = await browser.newPage();
    await page.goto(stage.server.url);
    await page.getByLabel('Token').fill('wrong-wrong-wrong-wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The token is wrong.').waitFor();
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await page.close();
  });

  it('takes the token out of the address', () =>
    open('#/sessions', async (page) => {
      expect(page.url()).not.toContain(TOKEN);
      await page.goBack().catch(() => null);
      expect(page.url()).not.toContain(TOKEN);
    }));

  it.each([
    ['while signed in', true],
    ['while signed out', false],
  ])('takes a token out of an address that is pasted %s', async (_, isSignedIn) => {
    const page = await browser.newPage();
    await page.goto(isSignedIn ? `${stage.server.url}/#token=${TOKEN}` : stage.server.url);
    await page.getByRole('heading', { name: isSignedIn ? 'Sessions' : 'Rekindle' }).waitFor();
    await page.evaluate(`location.href = '/#token=${TOKEN}'`);
    await page.getByText('connected', { exact: true }).waitFor();
    await expect.poll(() => page.url(), SOON).toBe(`${stage.server.url}/#/sessions`);
    await page.close();
  });

  it('takes a damaged token out of the address, and asks for another', async () => {
    const page = await browser.newPage();
    await page.goto(`${stage.server.url}/#token=%E0%A4%A`);
    await page.getByLabel('Token').waitFor();
    expect(page.url()).toBe(`${stage.server.url}/#/sessions`);
    await page.close();
  });

  it('shows what the context of an agent is made of, as a bar and as numbers', () =>
    open('#/agents/support', async (page) => {
      const bar = page.getByRole('img', { name: 'What the context is made of' });
      await bar.waitFor();
      const widths = await bar.locator('rect').evaluateAll((parts) =>
        parts.map((part) => ({
          of: part.getAttribute('class'),
          width: part.getBoundingClientRect().width,
        })),
      );
      const { width } = (await bar.boundingBox())!;
      expect(widths.reduce((sum, part) => sum + part.width, 0)).toBeCloseTo(width, 0);
      expect(widths.map(({ of }) => of)).toEqual(expect.arrayContaining(['part requests', 'part results']));
      const headers = { authorization: `Bearer ${TOKEN}` };
      const response = await fetch(new URL('/agents/support/context', stage.server.url), { headers });
      const { parts } = (await response.json()) as { parts: Record<string, number> };
      const items = await page.locator('.parts li').allInnerTexts();
      const shown = items.map(
        (item) => /^(\w+) (\d+) tokens?, \d+ %$/.exec(item.replace(/\s+/g, ' ').trim())!,
      );
      expect(Object.fromEntries(shown.map(([, part, tokens]) => [part, Number(tokens)]))).toEqual(
        Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens > 0)),
      );
    }));

  it('shows the session tree, and a new session and status as they come', () =>
    open('#/sessions', async (page) => {
      await page.getByRole('link', { name: 'release-42-tester' }).waitFor();
      await stage.shared.tree.create({ id: 'release-42-late', parent: 'release-42', status: 'running' });
      const late = page
        .locator('li', { has: page.getByRole('link', { name: 'release-42-late', exact: true }) })
        .last();
      await late.getByText('running').waitFor();
      await stage.shared.tree.setStatus('release-42-late', 'failed', { why: 'no disk' });
      await late.getByText('no disk').waitFor();
    }));

  it('shows of a session its status, its agent, its parent and its children, also as they change', () =>
    open('#/sessions/release-42', async (page) => {
      const about = page.getByRole('region', { name: 'Session', exact: true });
      await about.getByText('A root session.').waitFor();
      await about.getByText(/^\d children:/).waitFor();
      await stage.shared.tree.setStatus('release-42-writer', 'idle');
      await about.getByText('idle').waitFor();
      await about.getByRole('link', { name: 'release-42-builder' }).click();
      await about.getByText('Parent:').waitFor();
      await about.getByRole('link', { name: 'builder', exact: true }).waitFor();
      await about.getByRole('link', { name: 'release-42', exact: true }).click();
      await about.getByText('A root session.').waitFor();
      await stage.shared.tree.setStatus('release-42-writer', 'running');
    }));

  it('names orphans', () =>
    open('#/sessions', async (page) => {
      await stage.shared.tree.create({ id: 'gone', status: 'running' });
      await stage.shared.tree.create({ id: 'left-behind', parent: 'gone', status: 'running' });
      await stage.shared.tree.setStatus('gone', 'stopped');
      await page.getByText('orphan: gone has ended').waitFor();
    }));

  it('shows a change by another process without being asked', () =>
    open('#/sessions/release-42', async (page) => {
      await row(page, 'done').getByText('release-42-builder').waitFor();
      const { value } = await state.increment('done', 1, { by: 'release-42-writer' });
      await row(page, 'done').getByText('release-42-writer').waitFor();
      expect(await row(page, 'done').locator('pre').textContent()).toBe(String(value));
      await state.set('short-lived', true);
      await row(page, 'short-lived').waitFor();
      await state.delete('short-lived');
      await row(page, 'short-lived').waitFor({ state: 'detached' });
    }));

  it('shows the history of a key, and what differs between two versions', () =>
    open('#/sessions/release-42', async (page) => {
      await page.getByRole('button', { name: 'History of plan' }).click();
      const panel = page.getByRole('region', { name: 'History of plan' });
      await panel.getByText('From version 1 to 2').waitFor();
      expect(await panel.locator('.removed').allTextContents()).toEqual([
        '-   "owner": "lead",\n',
        '-   ]\n',
      ]);
      expect((await panel.locator('.added').allTextContents()).join('')).toContain('"due": "Friday"');
      await panel.getByRole('radio', { name: 'Compare to version 1' }).check();
      await panel.getByText('From version 1 to 1').waitFor();
      expect(await panel.locator('.removed').count()).toBe(0);
    }));

  it('lists all changes, those of one session, and new ones as they come', () =>
    open('#/sessions/release-42', async (page) => {
      await page.getByRole('button', { name: 'All changes' }).click();
      const panel = page.getByRole('region', { name: 'All changes' });
      await panel.getByLabel('Made by').selectOption('release-42-tester');
      const numbers = () => panel.locator('tbody tr td:first-child').allTextContents();
      await expect.poll(numbers, SOON).toEqual(['4']);
      const { globalVersion } = await state.set('reviewed', true, { by: 'release-42-tester' });
      await expect.poll(numbers, SOON).toEqual([String(globalVersion), '4']);
      await panel.getByLabel('Made by').selectOption('all');
      await expect
        .poll(numbers, SOON)
        .toEqual(Array.from({ length: globalVersion }, (_, n) => `${globalVersion - n}`));
      // One commit, so that no page of changes reaches from before it to its end.
      await state.batch(Array.from({ length: 61 }, () => ({ op: 'increment', key: 'many' })));
      await panel.getByRole('button', { name: 'Older changes' }).click();
      await expect.poll(async () => (await numbers()).at(-1), SOON).toBe('1');
      expect(await numbers()).toHaveLength(globalVersion + 61);
    }));

  it('compares the whole state at two versions: what was added, removed and changed, with both values', () =>
    open('#/sessions/release-42', async (page) => {
      const shared = await stage.shared.stateOf('release-42');
      await shared.set('compared', { step: 1, owner: 'ann' });
      await shared.set('passing', 'gone soon');
      const { globalVersion: from } = await shared.set('same', 1);
      await shared.set('compared', { step: 2, owner: 'ann' });
      await shared.set('same', 1);
      await shared.delete('passing');
      const { globalVersion: to } = await shared.set('arrived', ['late']);
      await shared.set('after', 'the versions that are compared');
      await page.getByRole('button', { name: 'Compare versions' }).click();
      const panel = page.getByRole('region', { name: 'Compare two versions' });
      await panel.getByText('From version 0 to').waitFor();
      await panel.getByLabel('From version').fill(String(from));
      await panel.getByLabel('To version').fill(String(to));
      await page.keyboard.press('Enter');
      await panel.getByText(`From version ${from} to ${to}`, { exact: true }).waitFor();
      await panel.getByText('1 key added, 1 key removed, 1 key changed').waitFor();
      const rows = await panel
        .locator('tbody tr')
        .evaluateAll((all) =>
          all.map((one) =>
            [...one.querySelectorAll('th, td:not(:last-child), .added, .removed')].map(
              (part) => part.textContent,
            ),
          ),
        );
      expect(rows).toEqual([
        ['arrived', 'added', '+ [\n', '+   "late"\n', '+ ]\n'],
        ['compared', 'changed', '-   "step": 1,\n', '+   "step": 2,\n'],
        ['passing', 'removed', '- "gone soon"\n'],
      ]);
      await panel.getByLabel('Show').selectOption('removed');
      await expect.poll(() => panel.locator('tbody th').allTextContents(), SOON).toEqual(['passing']);
      await panel.getByLabel('From version').fill(String(to));
      await panel.getByRole('button', { name: 'Compare', exact: true }).click();
      await panel.getByText('No difference.').waitFor();
    }));

  it('compares from the version of the slider, and names a version inside a commit by the one before it', () =>
    open('#/sessions/release-42', async (page) => {
      const first = await state.set('before the commit', 1);
      await state.batch([1, 2, 3].map((value) => ({ op: 'set', key: `of the commit ${value}`, value })));
      await page.locator('output', { hasText: `${first.globalVersion + 3} of` }).waitFor();
      await page.getByRole('slider', { name: 'Version' }).fill(String(first.globalVersion));
      await page.getByText('past version').waitFor();
      await row(page, 'of the commit 1').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Compare versions' }).click();
      const panel = page.getByRole('region', { name: 'Compare two versions' });
      await panel.getByText('3 keys added, 0 keys removed, 0 keys changed').waitFor();
      await panel.getByLabel('To version').fill(String(first.globalVersion + 2));
      await page.keyboard.press('Enter');
      await panel.getByText('A chosen version is in the middle of a commit.').waitFor();
      await panel.getByText('No difference.').waitFor();
    }));

  it('goes back in time with the slider, stays there while things change, and comes back', () =>
    open('#/sessions/release-42', async (page) => {
      const slider = page.getByRole('slider', { name: 'Version' });
      await slider.focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      await page.getByText('past version').waitFor();
      await row(page, 'findings').waitFor({ state: 'detached' });
      expect(await row(page, 'plan').locator('pre').textContent()).toContain('"lead"');
      await state.increment('done');
      await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
      await page.getByRole('button', { name: 'Live' }).click();
      await row(page, 'findings').waitFor();
    }));

  it('shows agents, and of one its restore report, context and traces', () =>
    open('#/agents', async (page) => {
      await page.getByRole('link', { name: 'support' }).click();
      await page.getByRole('heading', { name: 'If restored now' }).waitFor();
      await page.getByText('Found: order 4711').first().waitFor();
      const roles = await page.locator('.messages > li > header strong').allTextContents();
      expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
      expect(await page.locator('.messages').getByText('look_up').count()).toBe(2);
      expect(await page.locator('.traces > li').count()).toBeGreaterThan(4);
    }));

  it('finds words in the past of an agent, and shows what stands around a result', () =>
    open('#/agents/support', async (page) => {
      const search = page.getByRole('region', { name: 'Search' });
      await search.getByRole('searchbox', { name: 'Words' }).fill('what about order');
      await page.keyboard.press('Enter');
      const result = search.locator('.results > li', { hasText: 'What about order 4711?' }).first();
      await result.getByText(/turn_0001 · .* · record \d+/).waitFor();
      await result.getByRole('button', { name: 'Show surrounding messages' }).focus();
      await page.keyboard.press('Enter');
      const around = result.getByRole('list', { name: 'Surrounding messages' });
      await around.getByText('Found: order 4711').waitFor();
      expect(await around.locator('.found pre').allTextContents()).toEqual(['What about order 4711?']);
      await page.keyboard.press('Enter');
      await around.waitFor({ state: 'detached' });
    }));

  it('says that nothing is found', () =>
    open('#/agents/support', async (page) => {
      const search = page.getByRole('region', { name: 'Search' });
      await search.getByRole('searchbox', { name: 'Words' }).fill('unicorn');
      await search.getByRole('button', { name: 'Search' }).click();
      await search
        .getByRole('status')
        .getByText(/^Nothing found in \d+ passages\.$/)
        .waitFor();
    }));

  it('shows an agent that begins while its page is open', async () => {
    const { page } = await stage.page(browser, '#/agents/live-one');
    await page.getByRole('alert').getByText('There is no agent "live-one" here.').waitFor();
    await stage.agent('live-one', 'order 1');
    await page.getByText('Found: order 1').first().waitFor();
    await page.close();
  });

  it('connects again by itself when the server comes back, and misses nothing', async () => {
    const other = await Stage.open();
    const shared = await other.release();
    const { page } = await other.page(browser, '#/sessions/release-42');
    await row(page, 'done').waitFor();
    await other.server.close();
    await page.getByText('connecting…').waitFor();
    for (let n = 0; n < 5; n += 1) await shared.increment('done', 1, { by: 'meanwhile' });
    const again = await startServer({ backend: other.backend, token: TOKEN, port: other.server.port });
    await row(page, 'done').getByText('meanwhile').waitFor();
    await expect.poll(() => row(page, 'done').locator('pre').textContent()).toBe('6');
    await again.close();
    await page.close();
    await other.close();
  });

  it('is used with the keyboard alone', () =>
    open('#/sessions', async (page) => {
      await page.getByRole('link', { name: 'release-42', exact: true }).waitFor();
      await page.locator('body').press('Tab');
      expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the content');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement?.id')).toBe('main');
      await page.getByRole('link', { name: 'release-42', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'History of plan' }).focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('History of plan');
    }));

  it.each(['light', 'dark'] as const)('can be read on 375 pixels, %s', (colorScheme) =>
    open('#/sessions/release-42', async (page) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 375, height: 800 });
      await page.getByRole('button', { name: 'History of plan' }).click();
      await page.getByText('From version').first().waitFor();
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(375);
      const styles = "['backgroundColor', 'color'].map((name) => getComputedStyle(document.body)[name])";
      const colors = (await page.evaluate(styles)) as string[];
      const [back, fore] = colors.map((color) => Number(/\d+/.exec(color)?.[0]));
      expect(Math.abs((back ?? 0) - (fore ?? 0))).toBeGreaterThan(150);
    }),
  );
});
