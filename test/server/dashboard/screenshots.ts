/** Takes the pictures of `docs/images`: `npx tsx test/server/dashboard/screenshots.ts`. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, Stage } from './browser-kit.js';

const IMAGES = fileURLToPath(new URL('../../../docs/images', import.meta.url));

const [browser, stage] = await Promise.all([launch(), Stage.open()]);
try {
  const state = await stage.release();
  await stage.agent('order-desk', 'order 4711');
  await stage.workflow('late-orders');
  const { page } = await stage.page(browser, '#/sessions');
  await page.getByRole('link', { name: 'release-42-writer' }).waitFor();
  await page.screenshot({
    path: path.join(IMAGES, 'sessions.png'),
    clip: { x: 0, y: 0, width: 1_100, height: 320 },
  });
  await page.getByRole('link', { name: 'release-42', exact: true }).click();
  await page.getByRole('button', { name: 'History of plan' }).click();
  await page.getByText('From version 1 to 2').waitFor();
  await state.increment('done', 1, { by: 'release-42-writer' });
  await page.locator('tr.changed').waitFor();
  await page.screenshot({ path: path.join(IMAGES, 'state.png'), fullPage: true });
  await page.setViewportSize({ width: 375, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: path.join(IMAGES, 'state-narrow-dark.png') });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1_100, height: 900 });
  await page.getByRole('link', { name: 'Agents' }).click();
  await page.getByRole('link', { name: 'order-desk' }).click();
  await page.getByRole('heading', { name: 'If restored now' }).waitFor();
  await page.screenshot({ path: path.join(IMAGES, 'agent.png') });
  await page.getByRole('link', { name: 'Checkpoints' }).click();
  await page.getByRole('link', { name: 'late-orders' }).click();
  await page.getByRole('region', { name: 'Difference' }).getByText('/draft').waitFor();
  await page.screenshot({ path: path.join(IMAGES, 'checkpoints.png'), fullPage: true });
} finally {
  await browser.close();
  await stage.close();
}
