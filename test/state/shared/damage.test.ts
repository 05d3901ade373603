import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import { recoverSharedState, type SharedState } from '../../../src/state/shared/shared-state.js';
import { repairSharedJournal } from '../../../src/storage/journal-check.js';
import { errorOf } from '../durable/state-kit.js';
import { Den, JOURNAL, ROOT, valuesOf } from './shared-kit.js';

const recover = (den: Den) => recoverSharedState(den.storage(), { root: ROOT });
const repair = (den: Den) => repairSharedJournal(den.storage(), JOURNAL);

/** Three records: a value, fifty increments in one, and something else. */
async function counted(): Promise<{ readonly den: Den; readonly version: number; readonly global: number }> {
  const den = await Den.files();
  const state = den.state();
  await state.set('n', 0);
  await state.batch(Array.from({ length: 50 }, () => ({ op: 'increment' as const, key: 'n' })));
  await state.set('other', 'x');
  await state.close();
  return { den, version: 51, global: 52 };
}

/** A change of a key has a version that no change before it had. */
async function expectNewVersions(state: SharedState, version: number, global: number): Promise<void> {
  const next = await state.set('n', 'after');
  expect(next.version).toBeGreaterThan(version);
  expect(next.globalVersion).toBeGreaterThan(global);
}

describe('a damaged journal', () => {
  it.each([0, 1])(
    'is JOURNAL_DAMAGED for every read and change, and is not touched (line %d)',
    async (line) => {
      const { den } = await counted();
      await den.damageLine(line);
      const before = await fs.readFile((await den.segments())[0]!);
      const state = den.state();
      const calls = [state.get('n'), state.getAll(), state.set('n', 1), state.history('n'), state.at(0)];
      for (const error of await Promise.all(calls.map(errorOf)))
        expect(error).toMatchObject({ code: 'JOURNAL_DAMAGED', details: { name: JOURNAL.journal } });
      expect(await fs.readFile((await den.segments())[0]!)).toEqual(before);
    },
  );

  it('is noticed by an instance that has been idle', async () => {
    const den = await Den.files();
    const [idle, other] = [den.state(), den.state()];
    await other.set('a', 1);
    expect(await idle.get('a')).toMatchObject({ value: 1 });
    for (const value of [2, 3]) await other.set('a', value);
    await other.close();
    await den.damageLine(1);
    expect((await errorOf(idle.get('a'))).code).toBe('JOURNAL_DAMAGED');
    expect((await errorOf(idle.set('a', 4))).code).toBe('JOURNAL_DAMAGED');
  });

  it('is noticed by an idle instance also where the last change is damaged', async () => {
    const den = await Den.files();
    const [idle, other] = [den.state(), den.state()];
    await other.set('a', 1);
    await idle.get('a');
    const acknowledged = await other.set('a', 2);
    await other.close();
    await den.damageLine(1);
    const outcome = await idle.set('a', 3).catch((thrown: { code: string }) => thrown);
    if ('code' in outcome) expect(outcome.code).toBe('JOURNAL_DAMAGED');
    else expect(outcome.version).toBeGreaterThan(acknowledged.version);
  });

  it('is not what a torn last record is: that was never acknowledged', async () => {
    const { den, version, global } = await counted();
    const [file] = await den.segments();
    await fs.appendFile(file!, '{"first":53,"at":"2026');
    expect(await valuesOf(den.state())).toEqual({ n: 50, other: 'x' });
    expect(await den.state().set('n', 0)).toMatchObject({ version: version + 1, globalVersion: global + 1 });
  });

  it('is not what a power cut leaves of a last record whose end reached the disk before its start', async () => {
    const { den } = await counted();
    const state = den.state();
    await state.set('large', 'x'.repeat(1_000));
    await state.close();
    const [file] = await den.segments();
    const bytes = await fs.readFile(file!);
    const start = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
    await fs.writeFile(file!, bytes.fill(0, start, start + 512));
    expect(await valuesOf(den.state())).toEqual({ n: 50, other: 'x' });
  });
});

describe('recovering', () => {
  it('does nothing where nothing is wrong, or nothing is there', async () => {
    const den = await Den.files();
    expect(await recover(den)).toBe(0);
    expect(await fs.readdir(den.root)).toEqual([]);
    await den.state().set('a', 1);
    expect(await recover(den)).toBe(0);
    expect(await den.state().getAll()).toMatchObject({ globalVersion: 1, keys: [{ version: 1 }] });
  });

  it.each([0, 1, 2])('goes on with what can be read, and uses no version twice (line %d)', async (line) => {
    const { den, version, global } = await counted();
    await den.damageLine(line);
    expect(await recover(den)).toBeGreaterThan(0);
    expect(await recover(den)).toBe(0);
    const state = den.state();
    const values = await valuesOf(state);
    expect(values).toEqual([{ n: 50, other: 'x' }, { n: 0, other: 'x' }, { n: 50 }][line]);
    await expectNewVersions(state, version, global);
  });

  it.each([1, 2])('uses no version twice, also when a repair follows (line %d)', async (line) => {
    const { den, version, global } = await counted();
    await den.damageLine(line);
    expect(await recover(den)).toBeGreaterThan(0);
    expect(await repair(den)).toHaveLength(1);
    await expectNewVersions(den.state(), version, global);
  });

  it('uses no version twice after a file was lost', async () => {
    const den = await Den.files(2_000);
    const state = den.state();
    const filler = async () => {
      for (let n = 0; n < 30; n += 1) await state.set(`k${n}`, 'x'.repeat(200));
    };
    await filler();
    for (let n = 0; n < 8; n += 1) await state.increment('n');
    await filler();
    const { version, globalVersion } = (await state.get('n'))!;
    await state.close();
    for (const file of await den.segments())
      if ((await fs.readFile(file, 'utf8')).includes('"increment"')) await fs.unlink(file);
    expect((await errorOf(den.state().get('n'))).code).toBe('JOURNAL_DAMAGED');
    await recover(den);
    await expectNewVersions(den.state(), version, globalVersion);
  });

  it('tells those who have the state open, and they go on', async () => {
    const { den } = await counted();
    const idle = den.state();
    await idle.getAll();
    const reloaded: number[] = [];
    idle.events.on('reloaded', ({ globalVersion }) => reloaded.push(globalVersion));
    await den.damageLine(1);
    await recover(den);
    const { globalVersion } = await den.state().getAll();
    expect(await idle.globalVersion()).toBe(globalVersion);
    expect(reloaded).toEqual([globalVersion]);
    expect(await idle.set('n', 1)).toMatchObject({ globalVersion: globalVersion + 1 });
  });

  it('is dated by the clock that it is given', async () => {
    const { den } = await counted();
    await den.damageLine(0);
    const clock = new ManualClock(1_700_000_000_000);
    await recoverSharedState(den.storage(), { root: ROOT, clock });
    const text = await fs.readFile((await den.segments()).at(-1)!, 'utf8');
    expect(text).toContain(`"at":"${new Date(clock.nowMs()).toISOString()}"`);
  });

  it.each([1, 2])('leaves a history that says how far back it goes (line %d)', async (line) => {
    const { den } = await counted();
    await den.damageLine(line);
    await recover(den);
    const state = den.state();
    const current = await state.globalVersion();
    const oldest = await state.oldestVersion();
    expect((await state.history('n')).complete).toBe(false);
    await state.increment('other2');
    expect((await state.changesSince(current)).map(({ key }) => key)).toEqual(['other2']);
    for (let version = oldest; version <= current; version += 1)
      expect((await state.at(version)).globalVersion).toBeLessThanOrEqual(version);
    if (oldest > 0) expect((await errorOf(state.changesSince(0))).code).toBe('HISTORY_GONE');
    else expect(await state.changesSince(0)).not.toEqual([]);
  });

  it('leaves a history from the recovery on where the first record was damaged', async () => {
    const { den } = await counted();
    await den.damageLine(0);
    await recover(den);
    const state = den.state();
    const current = await state.globalVersion();
    expect(await state.oldestVersion()).toBe(current);
    expect(await state.history('n')).toEqual({ changes: [], complete: false, hasMore: false });
    expect((await errorOf(state.changesSince(0))).code).toBe('HISTORY_GONE');
    await state.set('n', 'after');
    expect((await state.history('n')).changes).toHaveLength(1);
    expect((await state.at(current)).keys.map(({ key }) => key)).toEqual(['n', 'other']);
  });
});
