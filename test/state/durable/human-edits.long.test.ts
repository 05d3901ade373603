import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { EditMerge, RefusedEdit } from '../../../src/state/durable/state-document.js';
import type { StateEvent } from '../../../src/state/durable/state-event.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import type { OpenFile, OpenMode } from '../../../src/storage/file-system.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { errorOf, Place, until } from './state-kit.js';

async function newest(state: { history(options: { limit: number }): AsyncIterable<StateEvent> }) {
  for await (const event of state.history({ limit: 1 })) return event;
  return null;
}

describe("a person's valid edit", () => {
  it('is adopted as an event by human, with last_human_touch, at the next load', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    await place.edit((document) => (document['next_action'] = 'Look at the logs.'));
    const { value, version, by } = await state.load();
    expect([value.next_action, version, by]).toEqual(['Look at the logs.', 2, 'human']);
    expect(Math.abs(Date.parse(value.last_human_touch!) - Date.now())).toBeLessThan(5_000);
    expect((await place.json())['last_human_touch']).toBe(value.last_human_touch);
    expect(await newest(state)).toMatchObject({ event: 'human_edit', by: 'human', version: 2 });
  });

  it('is noticed by itself while it is watched', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const seen: string[] = [];
    state.events.on('changed', ({ by, value }) => seen.push(`${by}: ${value.next_action}`));
    const stop = await state.watch();
    await place.edit((document) => (document['next_action'] = 'Look.'));
    await until(() => seen.length > 0);
    await stop();
    expect(seen).toEqual(['human: Look.']);
  });

  it('holds agents off for five seconds, with the time left, and then no more', async () => {
    const place = await Place.make();
    const state = await place.agentState({ humanHoldMs: 400 });
    await place.edit((document) => (document['next_action'] = 'Mine.'));
    const error = await errorOf(
      state.update((draft) => void (draft.next_action = 'Theirs.'), { by: 'builder' }),
    );
    expect(error).toMatchObject({ code: 'HUMAN_EDIT', details: { name: 'agent_state', reason: 'recent' } });
    const left = error.details['remainingMs'] as number;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(400);
    expect((await state.load()).value.next_action).toBe('Mine.');
    await sleep(left + 5);
    expect((await state.update((draft) => void draft.blockers.push('x'))).value.next_action).toBe('Mine.');
  });

  it('holds off for five seconds when nothing else is said, also in a process that starts after it', async () => {
    const place = await Place.make();
    await (await place.agentState()).close();
    await place.edit((document) => (document['next_action'] = 'Mine.'));
    const other = await place.agentState();
    const error = await errorOf(other.update((draft) => void draft.blockers.push('x')));
    expect(error.details['remainingMs']).toBeGreaterThan(3_000);
    expect(error.details['remainingMs']).toBeLessThanOrEqual(5_000);
  });

  it('does not hold a person off', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    await place.edit((document) => (document['next_action'] = 'Mine.'));
    await state.update((draft) => void draft.blockers.push('x'), { by: 'human' });
    expect((await state.load()).value).toMatchObject({ next_action: 'Mine.', blockers: ['x'] });
  });

  it('is not lost to an update that comes before anyone noticed it', async () => {
    const place = await Place.make();
    const state = await place.agentState({ humanHoldMs: 0 });
    await place.edit((document) => (document['blockers'] = ['by hand']));
    const { value } = await state.update((draft) => void draft.blockers.push('by agent'));
    expect(value.blockers).toEqual(['by hand', 'by agent']);
  });

  it('that only changes white space is no edit, and the file stays as it was formatted', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const text = JSON.stringify(await place.json());
    await place.put(text);
    expect((await state.load()).version).toBe(1);
    expect(await place.text()).toBe(text);
  });

  it('that takes the last change back is an edit, also when no process was there', async () => {
    const place = await Place.make();
    const state = await place.agentState({ humanHoldMs: 0 });
    await state.update((draft) => void draft.blockers.push('x'));
    await state.close();
    await place.edit((document) => (document['blockers'] = []));
    const { value, by } = await (await place.agentState()).load();
    expect([value.blockers, by]).toEqual([[], 'human']);
  });

  it('of two processes that both see it makes one event', async () => {
    const place = await Place.make();
    const [one, two] = [await place.agentState(), await place.agentState()];
    const stops = [await one.watch(), await two.watch()];
    await place.edit((document) => (document['next_action'] = 'Once.'));
    const [a, b] = await Promise.all([one.load(), two.load()]);
    await sleep(200);
    for (const stop of stops) await stop();
    expect([a.version, b.version]).toEqual([2, 2]);
    expect((await one.load()).version).toBe(2);
  });
});

/** The store, with a disk that lets nobody replace the documents while it is told so. */
function stubborn(place: Place): { readonly backend: StorageBackend; refuse: boolean } {
  const { documents } = place.storage;
  const disk = { backend: place.storage as StorageBackend, refuse: false };
  const writeBytes: typeof documents.writeBytes = async (...args) => {
    if (disk.refuse) throw new RekindleError('STORAGE_FAILED', 'Somebody holds it.');
    return documents.writeBytes(...args);
  };
  // Private fields are the original's: methods are called on it.
  const proxy = new Proxy(documents, {
    get: (target, key) => {
      const value: unknown = key === 'writeBytes' ? writeBytes : Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  disk.backend = new Proxy(place.storage, {
    get: (target, key) => {
      const value: unknown = key === 'documents' ? proxy : Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return disk;
}

describe("a file that is older than the journal through no person's doing", () => {
  it('is brought up to date: it could not be replaced, or a crash came between', async () => {
    const place = await Place.make();
    const disk = stubborn(place);
    const state = await place.agentState({ backend: disk.backend });
    await sleep(20);
    disk.refuse = true;
    const failed: string[] = [];
    state.events.on('file_failed', ({ error }) => failed.push(error.code));
    await state.update((draft) => void draft.blockers.push('x'));
    expect((await place.json())['blockers']).toEqual([]);
    expect((await state.load()).value.blockers).toEqual(['x']);
    expect(failed).toContain('STORAGE_FAILED');
    expect(await (await place.agentState()).load()).toMatchObject({ version: 2, by: 'agent' });
    expect((await place.json())['blockers']).toEqual(['x']);
  });

  it('is no edit, however many versions it is behind', async () => {
    const place = await Place.make();
    const disk = stubborn(place);
    const state = await place.agentState({ backend: disk.backend });
    await sleep(20);
    disk.refuse = true;
    for (let n = 0; n < 120; n += 1) await state.update((draft) => void (draft.next_action = `step ${n}`));
    disk.refuse = false;
    expect(await state.load()).toMatchObject({
      version: 121,
      by: 'agent',
      value: { next_action: 'step 119' },
    });
    expect((await place.json())['next_action']).toBe('step 119');
  });
});

describe('an adopted edit whose file cannot be brought up to date', () => {
  it('is adopted once', async () => {
    const place = await Place.make();
    const disk = stubborn(place);
    const state = await place.agentState({ backend: disk.backend, humanHoldMs: 0 });
    await place.edit((document) => (document['next_action'] = 'Mine.'));
    disk.refuse = true;
    for (let n = 0; n < 4; n += 1) expect((await state.load()).version).toBe(2);
    await state.update((draft) => void draft.blockers.push('x'));
    expect(await state.load()).toMatchObject({
      version: 3,
      value: { next_action: 'Mine.', blockers: ['x'] },
    });
    disk.refuse = false;
    expect(await state.load()).toMatchObject({ version: 3, by: 'agent' });
    expect((await place.json())['blockers']).toEqual(['x']);
  });
});

describe('a save while Rekindle writes', () => {
  it('is not overwritten: the file is looked at again after the new one is synced', async () => {
    const place = await Place.make();
    const folder = path.join(place.root, 'state');
    class Saving extends NodeFileSystem {
      armed = false;
      override async open(file: string, mode: OpenMode): Promise<OpenFile> {
        const opened = await super.open(file, mode);
        if (!this.armed || !file.includes('.tmp-') || !file.startsWith(folder)) return opened;
        const datasync = opened.datasync.bind(opened);
        opened.datasync = async () => {
          await datasync();
          this.armed = false;
          await place.edit((document) => (document['next_action'] = 'Saved meanwhile.'));
        };
        return opened;
      }
    }
    const fileSystem = new Saving();
    const state = await place.agentState({
      backend: new FileStorage(place.root, { fileSystem }),
      humanHoldMs: 0,
    });
    fileSystem.armed = true;
    await state.update((draft) => void draft.blockers.push('x'));
    expect((await place.json())['next_action']).toBe('Saved meanwhile.');
    expect(await state.load()).toMatchObject({ by: 'human', value: { next_action: 'Saved meanwhile.' } });
  });
});

describe('a file that a person put in its place', () => {
  it.each([true, false])(
    'is no edit when it is an older copy, whatever its times say (kept: %s)',
    async (preserveTimestamps) => {
      const place = await Place.make();
      const state = await place.agentState({ humanHoldMs: 0 });
      await fs.cp(place.file(), place.file('../old.json'), { preserveTimestamps });
      await sleep(15);
      await state.update((draft) => void draft.blockers.push('x'));
      await fs.cp(place.file('../old.json'), place.file(), { preserveTimestamps });
      expect(await state.load()).toMatchObject({ version: 2, by: 'agent', value: { blockers: ['x'] } });
      expect(await place.json()).toMatchObject({ blockers: ['x'] });
    },
  );

  it('of another document is refused, with what to do, and stays as it is', async () => {
    const [place, other] = [await Place.make(), await Place.make()];
    const state = await place.agentState({ humanHoldMs: 0 });
    const foreign = await other.agentState({
      initial: { ...(await state.load()).value, next_action: 'Other.' },
    });
    await foreign.update((draft) => void draft.blockers.push('theirs'));
    await state.update((draft) => void draft.blockers.push('ours'));
    const text = await other.text();
    await place.put(text);
    await state.load();
    expect(state.refusedEdit?.problems[0]).toMatchObject({ path: '/_shows', rule: 'version', line: 11 });
    expect(await place.text()).toBe(text);
    await place.put(text.replace(/,\n {2}"_shows": .*/, ''));
    expect((await state.load()).value.blockers).toEqual(['theirs']);
  });

  it('in another encoding is refused, and stays byte for byte', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const bytes = Buffer.from(
      (await place.text()).replace('"next_action": ""', '"next_action": "Pr\u00fcfen"'),
      'latin1',
    );
    await sleep(12);
    await fs.writeFile(place.file(), bytes);
    await state.load();
    expect(state.refusedEdit?.problems[0]).toMatchObject({ rule: 'encoding', line: 7, column: 21 });
    expect(await fs.readFile(place.file())).toEqual(bytes);
  });
});

describe("a person's edit that is not valid", () => {
  const wrong = '{\n  "schema_version": 1,\n  "blockers": "none"\n}\n';

  it('is refused with line, column, path and rule; the file stays, and agents read the last good state', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const refused: RefusedEdit[] = [];
    state.events.on('edit_refused', (edit) => refused.push(edit));
    await place.put(wrong);
    expect((await state.load()).value.blockers).toEqual([]);
    expect(refused[0]?.problems).toContainEqual(
      expect.objectContaining({ line: 3, column: 15, path: '/blockers', rule: 'type', value: 'none' }),
    );
    expect(state.refusedEdit).toEqual(refused[0]);
    expect(await place.text()).toBe(wrong);
  });

  it.each([
    ['a comma at the end', '{\n  "schema_version": 1,\n}', 3, 1],
    ['a comment', '{ // mine\n}', 1, 3],
    ['a line break in a text', '{"next_action": "a\nb"}', 1, 19],
    ['half of it', '{"schema_version": 1', 1, 21],
    ['nothing', '', 1, 1],
    ['a key twice', '{"a": 1,\n "a": 2}', 2, 2],
    ['a newer version', '{\n"schema_version": 2}', 1, 1],
  ])('%s: told at its place', async (_, text, line, column) => {
    const place = await Place.make();
    const state = await place.agentState();
    await place.put(text);
    await state.load();
    expect(state.refusedEdit?.problems[0]).toMatchObject({ line, column });
    expect(await place.text()).toBe(text);
  });

  it('stops agents from writing over it, with what is wrong, until it is mended', async () => {
    const place = await Place.make();
    const state = await place.agentState({ humanHoldMs: 0 });
    const good = await place.json();
    const wrong = JSON.stringify({ ...good, blockers: 'none' }, null, 2);
    await place.put(wrong);
    const error = await errorOf(state.update((draft) => void draft.blockers.push('x')));
    expect(error).toMatchObject({ code: 'HUMAN_EDIT', details: { reason: 'refused' } });
    expect(error.message).toMatch(/line 6, column 15: \/blockers must be array/);
    expect(await place.text()).toBe(wrong);
    await place.put(JSON.stringify({ ...good, blockers: ['none'] }));
    expect((await state.update((draft) => void draft.blockers.push('x'))).value.blockers).toEqual([
      'none',
      'x',
    ]);
  });

  it('is moved aside on request, and the file is the newest version again', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const good = await place.text();
    await place.put(wrong);
    const aside = (await state.discardEdit())!;
    expect(await place.text(aside)).toBe(wrong);
    expect(await place.text()).toBe(good);
    expect(state.refusedEdit).toBeNull();
    expect(await state.discardEdit()).toBeNull();
  });

  it('is told once while it is watched', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    let told = 0;
    state.events.on('edit_refused', () => told++);
    const stop = await state.watch();
    await place.put(wrong);
    await until(() => told > 0);
    await state.load();
    await sleep(200);
    await stop();
    expect(told).toBe(1);
  });
});

describe('a watcher', () => {
  it("is not woken into a loop by Rekindle's own writes", async () => {
    const place = await Place.make();
    const state = await place.agentState();
    const versions: number[] = [];
    state.events.on('changed', ({ version }) => versions.push(version));
    const stop = await state.watch();
    for (let n = 0; n < 3; n += 1) await state.update((draft) => void draft.blockers.push(`${n}`));
    await sleep(300);
    const stat = await fs.stat(place.file());
    await sleep(200);
    expect((await fs.stat(place.file())).mtimeMs).toBe(stat.mtimeMs);
    await stop();
    expect(versions).toEqual([2, 3, 4]);
  });

  it('tells of what another process changed', async () => {
    const place = await Place.make();
    const [one, two] = [await place.agentState(), await new Place(place.root).agentState()];
    const seen: string[] = [];
    one.events.on('changed', ({ by }) => seen.push(by));
    const stop = await one.watch();
    await two.update((draft) => void draft.blockers.push('x'), { by: 'reviewer' });
    await until(() => seen.length > 0);
    await stop();
    expect(seen).toEqual(['reviewer']);
  });
});

describe('a copy of the folder, made while the file could not be brought up to date', () => {
  it('opens with what was acknowledged, not with the older file', async () => {
    const place = await Place.make();
    const disk = stubborn(place);
    const state = await place.agentState({ backend: disk.backend });
    disk.refuse = true;
    await state.update((draft) => void draft.blockers.push('x'));
    const copy = await Place.make();
    await fs.cp(place.root, copy.root, { recursive: true }); // with new times, as many tools leave them
    expect(await (await copy.agentState()).load()).toMatchObject({ by: 'agent', value: { blockers: ['x'] } });
  });
});

describe('an edit of an older version', () => {
  /** A person opens version 1; agents go on; the person saves. */
  async function savedLate(
    agents: (draft: { blockers: string[]; next_action: string; assumptions: string[] }) => void,
    person: (document: JsonObject) => void,
  ) {
    const place = await Place.make();
    const state = await place.agentState({ humanHoldMs: 0 });
    await state.update((draft) => {
      draft.blockers.push('first', 'second');
    });
    const opened = JSON.parse(await place.text()) as JsonObject;
    await state.update((draft) => void agents(draft));
    const merges: EditMerge[] = [];
    state.events.on('edit_merged', (merge) => merges.push(merge));
    person(opened);
    await place.put(JSON.stringify(opened, null, 2));
    return { place, state, merges };
  }

  it('keeps what agents acknowledged since then', async () => {
    const { place, state, merges } = await savedLate(
      (draft) => {
        draft.blockers.push('by agent');
        draft.assumptions.push('a');
      },
      (document) => {
        document['next_action'] = 'Mine.';
        document['blockers'] = ['second', 'by hand'];
      },
    );
    const { value, version, by, why } = await state.load();
    expect(value).toMatchObject({
      next_action: 'Mine.',
      blockers: ['second', 'by agent', 'by hand'],
      assumptions: ['a'],
    });
    expect([version, by, why]).toEqual([4, 'human', 'an edit of version 2, merged into version 3']);
    expect(merges).toEqual([{ opened: 2, into: 3, conflicts: [], backup: null }]);
    expect(await place.json()).toEqual(value);
  });

  it('reports what both changed: the newer value stays, and the file is kept as it was saved', async () => {
    const { place, state, merges } = await savedLate(
      (draft) => void (draft.next_action = 'Agent.'),
      (document) => (document['next_action'] = 'Mine.'),
    );
    const { value, why } = await state.load();
    expect(value.next_action).toBe('Agent.');
    expect(why).toMatch(/the newer value stays at \/next_action; the file as it was saved is backups\//);
    const { conflicts, backup } = merges[0]!;
    expect(conflicts).toEqual([{ path: '/next_action', edited: 'Mine.', kept: 'Agent.' }]);
    expect((await place.json(`backups/${backup}`))['next_action']).toBe('Mine.');
    expect((await state.load()).version).toBe(4); // once
  });

  it('that changes nothing is no edit', async () => {
    const { state, merges } = await savedLate(
      (draft) => void draft.blockers.push('by agent'),
      () => {},
    );
    expect(await state.load()).toMatchObject({ version: 3, by: 'agent' });
    expect(merges).toEqual([]);
  });

  it('is adopted once, also when the file cannot be brought up to date and agents write on', async () => {
    const place = await Place.make();
    const disk = stubborn(place);
    const state = await place.agentState({ backend: disk.backend, humanHoldMs: 0 });
    await place.edit((document) => (document['next_action'] = 'Mine.'));
    disk.refuse = true;
    await state.load();
    await state.update((draft) => void (draft.next_action = 'Agent.'));
    for (let n = 0; n < 3; n += 1)
      expect(await state.load()).toMatchObject({ version: 3, value: { next_action: 'Agent.' } });
  });
});

describe('the folder of documents', () => {
  it('keeps the mode that a person gave a file, and loses what killed processes left', async () => {
    const place = await Place.make();
    const state = await place.agentState();
    await fs.chmod(place.file(), 0o640);
    const [left, young] = ['.tmp-1073741824-aabbccddeeff', `.tmp-${process.pid}-aabbccddeeff`];
    for (const name of [left, young]) await fs.writeFile(place.file(name), '{');
    await (await place.agentState()).update((draft) => void draft.blockers.push('x'));
    expect((await fs.stat(place.file())).mode & 0o777).toBe(0o640);
    const names = await fs.readdir(path.join(place.root, 'state'));
    expect(names).not.toContain(left);
    expect(names).toContain(young); // somebody may be writing it
    await state.close();
  });
});
