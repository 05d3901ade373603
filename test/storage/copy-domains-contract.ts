/** What is built on a store reads the same in a copy of it, and goes on there. */
import { describe, expect, it } from 'vitest';
import { copyStorage } from '../../src/storage/copy-storage.js';
import type { StorageTarget } from '../../src/storage/testing/index.js';
import { checkpoints, durableState, sharedState, workspace } from './copy-domains-kit.js';
import { openStore } from './copy-kit.js';

const DOMAINS = [durableState, sharedState, workspace, checkpoints(false), checkpoints(true)];

export function describeDomains(targets: readonly (readonly [StorageTarget, StorageTarget])[]): void {
  const pairs = targets.map(([from, to]) => ({ title: `${from.name} to ${to.name}`, from, to }));
  describe.each(DOMAINS)('$name', ({ fill, read, goOn }) => {
    it.each(pairs)('from $title reads the same, and goes on with the same numbers', async ({ from, to }) => {
      const [source, target] = [await openStore(from), await openStore(to)];
      await fill(source);
      const before = await read(source);
      await copyStorage(source, target);
      expect(await read(target)).toStrictEqual(before);
      const next = await goOn(target);
      expect(await read(source)).toStrictEqual(before);
      expect(next).toStrictEqual(await goOn(source));
    });
  });
}
