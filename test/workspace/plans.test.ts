import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { Plans } from '../../src/workspace/plans.js';
import { fileShop, SHOPS, type Shop } from './workspace-kit.js';

const plansOf = (shop: Shop) => new Plans(shop.backend, ['workspace'], shop.clock);

describe.each(SHOPS)('plans over $name', ({ make }) => {
  it('are none at first', async () => {
    const plans = plansOf(await make());
    expect(await plans.current()).toBeNull();
    expect(await plans.archived()).toEqual([]);
    expect(await plans.archive('done')).toBeNull();
    expect(await plans.read('nothing.md')).toBeNull();
  });

  it('go to the archive when another one takes their place', async () => {
    const shop = await make();
    const plans = plansOf(shop);
    expect(await plans.write('# One\n')).toBeNull();
    const name = await plans.write('# Two 🙂\n');
    expect(name).toBe('2023-11-14T22-13-20_plan.md');
    expect(await plansOf(shop).current()).toBe('# Two 🙂\n');
    expect(await plans.archived()).toEqual([name]);
    expect(await plans.read(name!)).toBe('# One\n');
  });

  it.each(['the same', 'a lone \ud800 surrogate', ''])('stay when %j is written again', async (text) => {
    const plans = plansOf(await make());
    await plans.write(text);
    expect(await plans.write(text)).toBeNull();
    expect(await plans.archived()).toEqual([]);
  });

  it('are archived with what they were about', async () => {
    const plans = plansOf(await make());
    await plans.write('one');
    expect(await plans.archive('Find the Größe 2')).toBe('2023-11-14T22-13-20_Find_the_Größe_2.md');
    expect(await plans.current()).toBeNull();
    expect(await plans.archive('again')).toBeNull();
  });

  it('are listed oldest first, also those of one second', async () => {
    const shop = await make();
    const plans = plansOf(shop);
    const names: (string | null)[] = [];
    for (let n = 1; n <= 12; n += 1) {
      await plans.write(`${n}`);
      names.push(await plans.archive(n % 3 === 0 ? 'a plan' : 'plan-2'));
      if (n === 11) shop.clock.advance(1_000);
    }
    expect(await plans.archived()).toEqual(names);
    expect(await Promise.all(names.map((name) => plans.read(name!)))).toEqual(
      names.map((_, index) => `${index + 1}`),
    );
  });

  it.each(['', '../x', 'a/b', 'a\\b', 'a.b', 'a\n', '🙂', 'x'.repeat(81), '\ud800', '\0'])(
    'are not archived as %j',
    async (label) => {
      const plans = plansOf(await make());
      await expect(plans.archive(label)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      await plans.write('one');
      await expect(plans.archive(label)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      expect(await plans.current()).toBe('one');
      expect(await plans.archived()).toEqual([]);
    },
  );

  it('stay when their label makes too long a name', async () => {
    const plans = plansOf(await make());
    await plans.write('one');
    await expect(plans.archive('計'.repeat(80))).rejects.toMatchObject({ code: 'INVALID_NAME' });
    expect(await plans.current()).toBe('one');
  });

  it.each(['../current_plan.md', '..', '', 'a/b', '\0'])('are not read by the name %j', async (name) => {
    const plans = plansOf(await make());
    await plans.write('one');
    await expect(plans.read(name)).rejects.toMatchObject({ code: 'INVALID_NAME' });
  });

  it('are all kept when several are written at the same time', async () => {
    const shop = await make();
    const other = shop.root === '' ? shop : { ...shop, backend: new FileStorage(shop.root) };
    const writers = [plansOf(shop), plansOf(other), plansOf(shop)];
    const texts = Array.from({ length: 12 }, (_, n) => `plan ${n}`);
    await Promise.all(texts.map((text, n) => writers[n % 3]!.write(text)));
    const [plans] = writers as [Plans];
    const archived = await Promise.all((await plans.archived()).map((name) => plans.read(name)));
    expect([...archived, await plans.current()].sort()).toEqual(texts.sort());
  });
});

describe('a plan that a person wrote', () => {
  it('goes to the archive byte for byte', async () => {
    const shop = await fileShop();
    const folder = path.join(shop.root, 'workspace/plans');
    await fs.mkdir(folder, { recursive: true });
    const bytes = Buffer.from('\ufeffGr\xfc\xdfe\r\n', 'latin1');
    await fs.writeFile(path.join(folder, 'current_plan.md'), bytes);
    const name = await plansOf(shop).write('new');
    expect(await fs.readFile(path.join(folder, 'archive', name!.replace('T', '%54')))).toEqual(bytes);
  });

  it('is never overwritten in the archive', async () => {
    const shop = await fileShop();
    const plans = plansOf(shop);
    await plans.write('one');
    await shop.backend.documents.writeBytes(
      ['workspace', 'plans', 'archive', '2023-11-14T22-13-20_done.md'],
      Buffer.from('mine'),
    );
    const name = await plans.archive('done');
    expect(await plans.read('2023-11-14T22-13-20_done.md')).toBe('mine');
    expect(await plans.read(name!)).toBe('one');
  });
});
