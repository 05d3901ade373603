import { expect, it } from 'vitest';
import { RekindleError } from '../../../src/core/errors.js';
import { SharedState } from '../../../src/state/shared/shared-state.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { faultyStorage } from '../../../src/storage/testing/index.js';
import { ROOT } from './shared-kit.js';

it('a change is told when its record is durable: not where the append fails', async () => {
  const error = new RekindleError('STORAGE_FULL', 'planted');
  const storage = faultyStorage(new MemoryStorage(), ({ operation }) =>
    operation === 'journal.append' ? { kind: 'fail', error } : null,
  );
  const state = new SharedState(storage, { root: ROOT });
  const asked = await Promise.allSettled([state.set('a', 1), state.increment('b')]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect((await state.getAll()).keys).toEqual([]);
  await state.close();
});

it('a refusal waits until the data that it depends on is durable', async () => {
  const error = new RekindleError('STORAGE_FULL', 'planted');
  const storage = faultyStorage(new MemoryStorage(), ({ operation }) =>
    operation === 'journal.secure' ? { kind: 'fail', error } : null,
  );
  const state = new SharedState(storage, { root: ROOT });
  await state.set('a', 1);
  await expect(state.set('a', 2, { ifVersion: 7 })).rejects.toMatchObject({ code: 'STORAGE_FULL' });
  await state.close();
});
