/** Everything that agents wrote is shown as text: nothing of it runs, and nothing is asked from elsewhere. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launch, Stage } from './browser-kit.js';

const RUN = 'window.__ran=1';
/** Each would run, load or break out somewhere if it were taken for markup, a link, an attribute, a style or a script. */
const PAYLOADS = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<svg/onload=${RUN}>`,
  `"><svg><script>${RUN}</script></svg>`,
  `' onmouseover='${RUN}' autofocus onfocus='${RUN}' x='`,
  `javascript:${RUN}`,
  `</pre><iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `</script><script>${RUN}</script>`,
  `<details open ontoggle=${RUN}>`,
  `<math><mi//xlink:href="data:x,<script>${RUN}</script>">`,
  `<a href="javascript:${RUN}">click</a>`,
  `<style>@import url(http://127.0.0.1:9/x)</style>`,
  `<base href="http://127.0.0.1:9/">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`,
  `<template><img src=x onerror=${RUN}></template>`,
  `<!--><img src=x onerror=${RUN}>-->`,
  `\${${RUN}}`,
  `{{constructor.constructor('${RUN}')()}}`,
  `\u202e<img src=x onerror=${RUN}>`,
  `<img src=x:x onerror\u2028=${RUN}>`,
  '__proto__',
];
const ALL = PAYLOADS.join(' ');

describe.skipIf(!hasBrowser)('hostile text on the page', () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    [browser, stage] = await Promise.all([launch(), Stage.open()]);
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await stage.close();
  });

  async function expectText(
    fragment: string,
    texts: readonly string[],
    act?: string,
    seen = 'main',
  ): Promise<void> {
    const { page, trouble } = await stage.page(browser, fragment);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(stage.server.url)) asked.push(request.url());
    });
    await page.locator('main h1').waitFor();
    await page.getByText('Comparing…').waitFor({ state: 'detached' });
    if (act) await page.getByRole('button', { name: act }).first().click();
    await page.locator(seen).first().waitFor();
    await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
    const more = page.getByRole('button', { name: /^Show all/ });
    while ((await more.count()) > 0) await more.first().click();
    const shown = (await page.textContent('main')) ?? '';
    for (const text of texts) expect(shown).toContain(text);
    await page.mouse.move(300, 300);
    await page.waitForTimeout(100);
    expect(await page.evaluate('window.__ran')).toBeUndefined();
    expect(
      await page
        .locator('main script, main iframe, main img, main svg:not(.parts-bar, .swatch), main style')
        .count(),
    ).toBe(0);
    expect([...trouble, ...asked]).toEqual([]);
    await page.close();
  }

  it('in keys, values and names of sessions is text, in the table, in the history and in both diffs', async () => {
    const root = await stage.shared.tree.create({ id: 'hostile-root' });
    const state = await stage.shared.stateOf(root.id);
    for (const payload of PAYLOADS)
      await state.set(payload, { [payload]: [payload] }, { by: payload.slice(0, 100) });
    const values = PAYLOADS.map((payload) => JSON.stringify(payload));
    await expectText('#/sessions/hostile-root', [...PAYLOADS, ...values], 'History of <script>');
    await expectText(
      '#/sessions/hostile-root',
      [...PAYLOADS, ...values],
      'Compare versions',
      '.differences .diff',
    );
  });

  it('in ids, agents and reasons of the session tree is text', async () => {
    const ids = PAYLOADS.map((payload) => payload.slice(0, 120));
    await stage.shared.tree.create({ id: 'above' });
    for (const id of ids) {
      const session = await stage.shared.tree.create({ id, parent: 'above', agent: id, status: 'running' });
      await stage.shared.tree.setStatus(session.id, 'failed', { why: ALL });
    }
    await expectText('#/sessions', [...ids, ALL]);
  });

  it('in what an agent was told, said, called and got is text', async () => {
    await stage.agent('hostile', ALL);
    await expectText('#/agents/hostile', [`What about ${ALL}?`, `Found: ${ALL}`, JSON.stringify(ALL)]);
  });

  it('in what a search finds, and what stands around it, is text', async () => {
    await stage.agent('hostile-past', ALL);
    const { page, trouble } = await stage.page(browser, '#/agents/hostile-past');
    await page.getByRole('searchbox', { name: 'Words' }).fill('what about script');
    await page.keyboard.press('Enter');
    await page.locator('.results > li').first().waitFor();
    await page.getByRole('button', { name: 'Show surrounding messages' }).first().click();
    await page.locator('.around > li').first().waitFor();
    const more = page.locator('ol.results').getByRole('button', { name: /^Show all/ });
    while ((await more.count()) > 0) await more.first().click();
    expect(await page.locator('ol.results').textContent()).toContain(PAYLOADS[0]);
    expect(await page.evaluate('window.__ran')).toBeUndefined();
    expect(
      await page
        .locator('main script, main iframe, main img, main svg:not(.parts-bar, .swatch), main style')
        .count(),
    ).toBe(0);
    expect(trouble).toEqual([]);
    await page.close();
  });

  it('in what a checkpoint is named, tagged and holds is text, in the lists and in the difference', async () => {
    const ids = PAYLOADS.filter((payload) => !payload.includes('/')); // those can be names
    const tags = PAYLOADS.map((payload) => payload.slice(0, 100));
    for (const sessionId of ids) {
      const about = { sessionId, metadata: { name: sessionId, tags } };
      const contexts = [{ a: 1 }, { ...Object.fromEntries(PAYLOADS.map((payload) => [payload, [payload]])) }];
      for (const context of contexts) await stage.checkpoints.save({ ...about, context });
    }
    await expectText('#/checkpoints', [...ids, ...tags]);
    const paths = PAYLOADS.map((payload) => `+ /${payload.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    const values = PAYLOADS.map((payload) => JSON.stringify(payload));
    for (const id of ids.slice(0, 2))
      await expectText(`#/checkpoints/${encodeURIComponent(id)}`, [id, ...tags, ...paths, ...values]);
  });

  it('in the id of an agent is text', async () => {
    const id = `<img src=x onerror="${RUN}">`;
    await stage.agent(id, 'nothing');
    await expectText('#/agents', [id]);
    await expectText(`#/agents/${encodeURIComponent(id)}`, [id]);
  });

  it('in the address is text', async () => {
    const { page } = await stage.page(browser, `#/sessions/${encodeURIComponent(PAYLOADS[1]!)}%`);
    await page.getByRole('alert').waitFor();
    expect(await page.evaluate('window.__ran')).toBeUndefined();
    await page.close();
  });
});
