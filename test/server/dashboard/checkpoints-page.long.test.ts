/** The checkpoints of the page in a real browser. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { FileStorage } from '../../../src/index.js';
import { EnvironmentKeys } from '../../../src/storage/sealing/environment-keys.js';
import { hasBrowser, launch, Stage } from './browser-kit.js';

const SESSION = 'late-orders';

describe.skipIf(!hasBrowser)('the checkpoints on the page', () => {
  let browser: Browser;
  let stage: Stage;
  let page: Page;
  let trouble: string[];
  let ids: string[];

  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), Stage.open()]);
    await further(stage);
    ids = await stage.workflow(SESSION);
    await stage.checkpoints.save({ sessionId: 'small', context: { n: 1 } });
    ({ page, trouble } = await stage.page(browser, '#/sessions'));
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await stage.close();
  });

  /** All tests share one page: each begins at another view. */
  async function open(fragment: string, look: (page: Page) => Promise<void>): Promise<void> {
    await page.setViewportSize({ width: 1_100, height: 800 });
    await page.evaluate("location.hash = '#/sessions'");
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
    trouble.length = 0;
    await look(page);
    expect(trouble).toEqual([]);
  }

  const row = (page: Page, name: string) =>
    page.locator('tbody tr', { has: page.getByRole('rowheader', { name }) });
  const cell = (page: Page, name: string, label: string) =>
    row(page, name).locator(`[data-label="${label}"]`).textContent();
  const heads = (page: Page) => page.getByRole('rowheader').allTextContents();
  const difference = (page: Page) => page.getByRole('region', { name: 'Difference' });

  it('are a tab that lists sessions with their sizes, the one that was used last first', () =>
    open('#/sessions', async (page) => {
      const tab = page.getByRole('link', { name: 'Checkpoints' });
      await tab.click();
      await page.getByRole('link', { name: SESSION }).waitFor();
      expect(await tab.getAttribute('aria-current')).toBe('page');
      expect(await heads(page)).toEqual(['small', SESSION, 'many', 'locked encrypted']);
      const { totalSizeBytes: small } = await stage.checkpoints.session('small');
      const { totalSizeBytes } = await stage.checkpoints.session(SESSION);
      expect(await cell(page, 'small', 'Size')).toBe(`${small} B`);
      expect(await cell(page, SESSION, 'Size')).toMatch(/^\d(\.\d)? kB$/);
      expect(await cell(page, SESSION, 'Checkpoints')).toBe('4');
      expect(await cell(page, SESSION, 'Tags')).toBe('report, reviewed');
      const share = page.getByRole('meter', { name: `Share of ${SESSION}` });
      expect(await share.getAttribute('value')).toBe(String(totalSizeBytes));
      await page.getByText(/^4 sessions, \d+(\.\d)? kB of 1\.1 GB/).waitFor();
    }));

  it('of one session are shown newest first, with what each of them added', () =>
    open(`#/checkpoints/${SESSION}`, async (page) => {
      await page.getByRole('heading', { name: `Checkpoints of ${SESSION}` }).waitFor();
      await page.getByText('4 checkpoints').waitFor();
      const [first, second, third, fourth] = ids as [string, string, string, string];
      expect(await heads(page)).toEqual([fourth, `${third} critical`, second, first]);
      expect(await cell(page, third, 'Name')).toBe('compared report, reviewed');
      expect(await cell(page, fourth, 'Layers')).toBe('critical 1, important 3, useful 1');
      for (const id of ids) {
        const { storedBytes } = await stage.checkpoints.metadata({ checkpointId: id });
        expect(storedBytes).toBeLessThan(1_000);
        expect(await cell(page, id, 'Added')).toBe(`${storedBytes} B`);
        expect(await cell(page, id, 'Context')).toMatch(/^(\d{3} B|\d(\.\d)? kB)$/);
        const meter = page.getByRole('meter', { name: `Bytes added by ${id}` });
        expect(await meter.getAttribute('value')).toBe(String(storedBytes));
      }
    }));

  it('are each shown with their session, their status and their context', () =>
    open('#/checkpoints/small', async (page) => {
      await stage.checkpoints.save({ sessionId: 'aside', context: { note: 'put aside' } });
      await stage.checkpoints.save({ sessionId: 'aside', context: { note: 'in use' } });
      await stage.checkpoints.archive('aside@1');
      await page.evaluate("location.hash = '#/checkpoints/aside'");
      await page.getByRole('heading', { name: 'Checkpoints of aside' }).waitFor();
      expect(await heads(page)).toEqual(['aside@2', 'aside@1 archived']);
      await page.getByRole('link', { name: 'aside@1' }).click();
      await page.getByRole('heading', { name: 'Checkpoint aside@1' }).waitFor();
      await page.getByRole('region', { name: 'Context' }).getByText('put aside').waitFor();
      await page.getByText('archived', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Session aside' }).click();
      await page.getByRole('heading', { name: 'Checkpoints of aside' }).waitFor();
    }));

  it('show what changed between the newest two, and between any two that are chosen', () =>
    open(`#/checkpoints/${SESSION}`, async (page) => {
      const [first, , third, fourth] = ids as [string, string, string, string];
      await difference(page).getByText('/draft').waitFor();
      await difference(page)
        .getByRole('heading', { name: `From ${third} to ${fourth}` })
        .waitFor();
      const lines = () => difference(page).locator('li > code').allTextContents();
      expect((await lines()).sort()).toEqual([
        '+ /draft',
        '- /plan/1',
        '- /scratch',
        '~ /plan/0',
        '~ /status',
      ]);
      await page.getByRole('radio', { name: `Compare from ${fourth}` }).check();
      await difference(page).waitFor({ state: 'detached' });
      await page.getByRole('radio', { name: `Compare to ${first}` }).check();
      await difference(page)
        .getByRole('heading', { name: `From ${fourth} to ${first}` })
        .waitFor();
      await difference(page).getByText('+ /scratch').waitFor();
      expect(await lines()).toContain('- /draft');
    }));

  it('show one that was saved meanwhile when they are loaded again', () =>
    open('#/checkpoints/small', async (page) => {
      await page.getByText('1 checkpoint', { exact: false }).waitFor();
      expect(await difference(page).count()).toBe(0);
      const { checkpointId } = await stage.checkpoints.save({ sessionId: 'small', context: { n: 2 } });
      await page.getByRole('button', { name: 'Reload' }).click();
      await row(page, checkpointId).waitFor();
      await difference(page).getByText('~ /n').waitFor();
    }));

  it('are used with the keyboard alone', () =>
    open('#/checkpoints', async (page) => {
      const [first, second] = ids as [string, string];
      await page.getByRole('link', { name: SESSION }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('radio', { name: `Compare to ${second}` }).focus();
      await page.keyboard.press('Space');
      await difference(page)
        .getByRole('heading', { name: `to ${second}` })
        .waitFor();
      await page.getByRole('radio', { name: `Compare from ${second}` }).focus();
      await page.keyboard.press('ArrowDown');
      await difference(page)
        .getByRole('heading', { name: `From ${first} to ${second}` })
        .waitFor();
      const focused = 'document.activeElement?.ariaLabel';
      expect(await page.evaluate(focused)).toBe(`Compare from ${first}`);
    }));

  it.each(['#/checkpoints', `#/checkpoints/${SESSION}`])('can be read on 375 pixels: %s', (fragment) =>
    open(fragment, async (page) => {
      await page.setViewportSize({ width: 375, height: 800 });
      await page.getByRole('rowheader').first().waitFor();
      if (fragment.includes(SESSION)) await difference(page).getByText('/draft').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
    }),
  );

  it('that are hostile text are text: no tag of them is one, and no sequence of a terminal is taken away', () => {
    const image = '<img src=x onerror="window.__ran=1">';
    const script = '</td><script>window.__ran=1</script>';
    const ansi = '\u001b[31mred\u001b[0m';
    return open('#/checkpoints', async (page) => {
      const about = { sessionId: image, metadata: { name: script, tags: [`${script} tag`] } };
      await stage.checkpoints.save({ ...about, context: { a: 1 } });
      await stage.checkpoints.save({ ...about, context: { a: 1, [`${script}${ansi}`]: [script, ansi] } });
      await page.reload();
      await page.getByRole('link', { name: image }).waitFor();
      expect(await cell(page, image, 'Tags')).toBe(`${script} tag`);
      await page.getByRole('link', { name: image }).click();
      await difference(page).locator('li').waitFor();
      expect(await cell(page, `${image}@2`, 'Name')).toBe(`${script} ${script} tag`);
      const shown = (await difference(page).textContent()) ?? '';
      expect(shown).toContain(`+ /${script.replaceAll('/', '~1')}${ansi}`);
      expect(shown).toContain(JSON.stringify([script, ansi], null, 2));
      expect(await page.locator('main script, main img').count()).toBe(0);
      expect(await page.evaluate('window.__ran')).toBeUndefined();
    });
  });

  it('of a session that is not there, or whose key is not, say so', () =>
    open('#/checkpoints/nobody', async (page) => {
      const alert = page.getByRole('alert');
      await alert.getByText('There is no session "nobody" with checkpoints.').waitFor();
      await page.evaluate("location.hash = '#/checkpoints/locked'");
      await alert.getByText('master key').waitFor();
      expect(await heads(page)).toEqual(['locked@2 encrypted', 'locked@1 encrypted']);
      expect(trouble.splice(0)).toEqual(
        [404, 503].map((status) => expect.stringContaining(`status of ${status}`)),
      );
    }));

  it('come by pages when they are many', () =>
    open('#/checkpoints/many', async (page) => {
      await page.getByText('101 checkpoints').waitFor();
      expect(await page.getByRole('button', { name: 'Newer' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Older' }).click();
      await row(page, 'many@101').waitFor({ state: 'detached' });
      expect(await heads(page)).toEqual(['many@1']);
      expect(await page.getByRole('button', { name: 'Older' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Newer' }).click();
      await row(page, 'many@101').waitFor();
    }));
});

/** A session whose key the server does not have, and one with more checkpoints than a page shows. */
async function further({ dir }: Stage): Promise<void> {
  const folder = path.join(dir, 'checkpoints', 'config');
  await fs.mkdir(folder, { recursive: true });
  const keyFile = path.join(dir, 'no-keys.json');
  await fs.writeFile(
    path.join(folder, 'checkpoints.json'),
    JSON.stringify({ encryption: { enabled: false, keyFile } }),
  );
  const backend = new FileStorage(dir, { durability: 'relaxed' });
  const masterKeys = new EnvironmentKeys({ REKINDLE_MASTER_KEY: '11'.repeat(32) });
  const config = { encryption: { enabled: true } };
  const locked = new CheckpointService({ backend, masterKeys, config });
  for (const n of [1, 2]) await locked.save({ sessionId: 'locked', context: { n } });
  await locked.close();
  const many = new CheckpointService({ backend, config: { storage: { maxCheckpoints: 200 } } });
  for (let n = 1; n <= 101; n += 1) await many.save({ sessionId: 'many', context: { n } });
  await many.close();
  await backend.close();
}
