import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RekindleSessionStore, SessionKey } from '../../../src/adapters/claude-agent/index.js';
import { erase, resumeErasures } from '../../../src/agent/erasure/erase.js';
import { ManualClock } from '../../../src/core/clock.js';
import { writeMarker } from '../../../src/storage/erasure/erasure-marker.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { withRedaction } from '../../../src/storage/redacted-storage.js';
import { EnvironmentKeys } from '../../../src/storage/sealing/environment-keys.js';
import { withSealing } from '../../../src/storage/sealing/sealed-storage.js';
import { withTenant } from '../../../src/storage/tenants/tenant-storage.js';
import { AGENT_1, AGENT_2, entry, fold, MAIN, OpenStores } from './store-kit.js';

const { projectKey, sessionId } = MAIN;
const KEYS = new EnvironmentKeys({ REKINDLE_MASTER_KEY: 'ab'.repeat(32) });
const SECRET = `ghp_${'a1B2'.repeat(9)}`;

/** Nothing here loses power. */
const RELAXED = { durability: 'relaxed' } as const;

const stores = new OpenStores();
let root: string;
let storage: StorageBackend;
let store: RekindleSessionStore;
beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'rekindle-claude-agent-'));
  storage = new FileStorage(path.join(root, 'store'), RELAXED);
  store = stores.over(storage);
});
afterEach(async () => {
  await stores.closeAll();
  await storage.close();
  await rm(root, { recursive: true, force: true });
});

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
}

async function bytesBelow(folder: string): Promise<string> {
  return (await Promise.all((await filesBelow(folder)).map((file) => readFile(file, 'latin1')))).join('\n');
}

async function nextProcess(options = {}): Promise<RekindleSessionStore> {
  await stores.closeAll();
  await storage.close();
  storage = new FileStorage(path.join(root, 'store'), RELAXED);
  return stores.over(storage, options);
}

const uuids = async (of = store, key = MAIN) => (await of.load(key))?.map(({ uuid }) => uuid);

describe('the entries of a transcript', () => {
  it('are exact in the next process, whatever they contain', async () => {
    const odd = entry({
      texts: ['\ud800', '\u0000', '\u2028', 'e\u0301', ''],
      numbers: [0.1, 1e300, 5e-324, 2 ** 53, -1],
      nested: { __proto__: null, _seq: 1, _crc: 'x', a: [[], {}, null, true], op: 'append' },
      uuid: 7,
    } as Record<string, unknown>);
    const own = JSON.parse('{"type":"x","__proto__":{"a":1},"constructor":1}');
    await store.append(MAIN, [odd, own]);
    store = await nextProcess();
    const [first, second] = (await store.load(MAIN)) ?? [];
    expect(JSON.stringify(first)).toBe(JSON.stringify(odd));
    expect(JSON.stringify(second)).toBe(JSON.stringify(own));
  });

  it('are copies', async () => {
    const mine = entry({ n: 1 });
    const appending = store.append(MAIN, [mine]);
    mine['n'] = 2;
    await appending;
    (await store.load(MAIN))![0]!['n'] = 3;
    expect(await store.load(MAIN)).toEqual([entry({ n: 1 })]);
  });

  it('with a uuid are stored once: in a batch, in a retry, and in the next process', async () => {
    await store.append(MAIN, [entry({ uuid: 'a' }), entry({ uuid: 'b' }), entry({ uuid: 'a', again: true })]);
    await store.append(MAIN, [entry({ uuid: 'b' }), entry({ uuid: 'c' })]);
    store = await nextProcess();
    await store.append(MAIN, [entry({ uuid: 'a' }), entry({ uuid: 'b' }), entry({ uuid: 'c' })]);
    expect(await uuids()).toEqual(['a', 'b', 'c']);
    expect((await store.load(MAIN))?.[0]).toEqual(entry({ uuid: 'a' }));
  });

  it('with the uuid of another transcript are stored', async () => {
    for (const key of [MAIN, AGENT_1, AGENT_2]) await store.append(key, [entry({ uuid: 'a' })]);
    for (const key of [MAIN, AGENT_1, AGENT_2]) expect(await uuids(store, key)).toEqual(['a']);
  });

  it('without a uuid are stored each time', async () => {
    for (const uuid of [undefined, '']) await store.append(MAIN, [entry({ uuid }), entry({ uuid })]);
    expect(await uuids()).toEqual([undefined, undefined, '', '']);
  });

  it('are refused, all of them, if one is not JSON', async () => {
    const circle: Record<string, unknown> = {};
    circle['of'] = circle;
    for (const bad of [Number.NaN, 1n, new Date(0), new Map(), () => 1, circle])
      await expect(store.append(MAIN, [entry({ n: 1 }), entry({ bad })])).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^entries\[1\]\.bad/),
      });
    await expect(store.append(MAIN, 'x' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await store.load(MAIN)).toBeNull();
    expect(await storage.listNames([])).toEqual([]);
  });

  it('keep the order of calls that do not wait for each other', async () => {
    const batches = Array.from({ length: 20 }, (_, n) => [
      entry({ uuid: `${n}a` }),
      entry({ uuid: `${n}b` }),
    ]);
    await Promise.all(batches.map((batch) => store.append(MAIN, batch)));
    expect(await uuids()).toEqual(batches.flat().map(({ uuid }) => uuid));
  });
});

describe('keys', () => {
  const texts = ['a', 'A', 'a/b', 'a:b', 'a\\b', '../a', '..', '/etc/passwd', '~a', '~a/b', 'é', 'e\u0301'];
  const hostile = [
    ...texts,
    '\ud800',
    '\ud801',
    'n\0',
    ' ',
    '.',
    'con',
    'x'.repeat(5000),
    '\u202e',
    '%2e%2e',
  ];

  it.each([
    ['project', (text: string): SessionKey => ({ projectKey: text, sessionId: 's' })],
    ['session', (text: string): SessionKey => ({ projectKey: 'p', sessionId: text })],
    ['subpath', (text: string): SessionKey => ({ ...MAIN, subpath: text })],
  ])('stay apart and inside the store, whatever the text of the %s is', async (_, keyOf) => {
    for (const text of hostile) await store.append(keyOf(text), [entry({ text })]);
    store = await nextProcess();
    for (const text of hostile) expect(await store.load(keyOf(text))).toEqual([entry({ text })]);
    expect(await readdir(root)).toEqual(['store']);
    expect(await readdir(path.join(root, 'store'))).toEqual(['claude-agent']);
    for (const file of await filesBelow(root)) expect(path.basename(file).length).toBeLessThan(210);
    const { subpath } = keyOf('a');
    if (subpath === undefined) expect(await store.listSubkeys(keyOf('a'))).toEqual([]);
    else expect((await store.listSubkeys(MAIN)).sort()).toEqual([...hostile].sort());
    if (keyOf('a').projectKey === 'p')
      expect((await store.listSessions('p')).map((one) => one.sessionId).sort()).toEqual([...hostile].sort());
  });

  it('that are no texts are refused', async () => {
    for (const key of [
      {},
      null,
      { projectKey, sessionId: '' },
      { projectKey: 1, sessionId },
      { ...MAIN, subpath: '' },
    ])
      for (const call of [
        () => store.append(key as never, [entry({})]),
        () => store.load(key as never),
        () => store.delete(key as never),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(store.listSessions('')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await storage.listNames([])).toEqual([]);
  });
});

describe('the time and the summary of a session', () => {
  it('are those of the last append, and never go back with the clock', async () => {
    const clock = new ManualClock(Date.parse('2026-03-01T10:00:00Z'));
    const folding = stores.over(storage, { clock, foldSessionSummary: fold });
    const mtimes = async () => [
      (await folding.listSessions(projectKey))[0]?.mtime,
      (await folding.listSessionSummaries?.(projectKey))?.[0]?.mtime,
    ];
    await folding.append(MAIN, [entry({})]);
    const first = clock.nowMs();
    expect(await mtimes()).toEqual([first, first]);
    clock.advance(-5000);
    await folding.append(MAIN, [entry({})]);
    expect(await mtimes()).toEqual([first, first]);
    clock.advance(9000);
    await folding.append(AGENT_1, [entry({})]);
    expect(await mtimes()).toEqual([first, first]);
    await folding.append(MAIN, [entry({})]);
    expect(await mtimes()).toEqual([first + 4000, first + 4000]);
  });

  it('include entries that a process without the fold appended', async () => {
    expect(store.listSessionSummaries).toBeUndefined();
    await store.append(MAIN, [entry({ prompt: 'first' })]);
    let folding = await nextProcess({ foldSessionSummary: fold });
    expect(await folding.listSessionSummaries?.(projectKey)).toEqual([]);
    await folding.append(MAIN, [entry({})]);
    await stores.over(storage).append(MAIN, [entry({ customTitle: 'last' })]);
    folding = await nextProcess({ foldSessionSummary: fold });
    await folding.append(MAIN, [entry({})]);
    expect(await folding.listSessionSummaries?.(projectKey)).toMatchObject([
      { sessionId, data: { count: 4, prompt: 'first', title: 'last' } },
    ]);
  });
});

describe('a deleted session', () => {
  it.each(['file', 'sqlite'])('leaves no byte of its entries (%s)', async (kind) => {
    const folder = path.join(root, kind);
    const url = kind === 'file' ? `file:${folder}` : `sqlite:${path.join(folder, 'store.db')}`;
    const own = openStorage(url);
    const one = stores.over(own, { foldSessionSummary: fold });
    await one.append({ projectKey, sessionId: 'kept' }, [entry({ text: 'stays here' })]);
    for (const key of [MAIN, AGENT_1, AGENT_2])
      for (let n = 0; n < 5; n += 1)
        await one.append(key, [entry({ customTitle: `canary ${n}`, text: 'canary' })]);
    await one.delete(AGENT_2);
    expect(await one.load(AGENT_1)).toHaveLength(5);
    await one.delete(MAIN);
    const bytes = await bytesBelow(folder);
    await stores.closeAll();
    await own.close();
    for (const text of [bytes, await bytesBelow(folder)]) {
      expect(text).not.toContain('canary');
      expect(text).toContain('stays here');
    }
  });

  it('is gone for every process, and can be written again', async () => {
    const other = stores.over(storage);
    await other.append(MAIN, [entry({ uuid: 'a' })]);
    await other.append(AGENT_1, [entry({ uuid: 'a' })]);
    expect(await uuids()).toEqual(['a']);
    await store.delete(MAIN);
    expect(await other.load(MAIN)).toBeNull();
    await other.append(MAIN, [entry({ uuid: 'a', again: true })]);
    expect(await store.load(MAIN)).toEqual([entry({ uuid: 'a', again: true })]);
    expect(await store.load(AGENT_1)).toBeNull();
  });

  it('waits for appends in progress, and later ones begin again', async () => {
    const before = [MAIN, AGENT_1].map((key) => store.append(key, [entry({ uuid: 'before' })]));
    const deleting = store.delete(MAIN);
    const after = [MAIN, AGENT_1].map((key) => store.append(key, [entry({ uuid: 'after' })]));
    await Promise.all([...before, deleting, ...after]);
    expect([await uuids(), await uuids(store, AGENT_1)]).toEqual([['after'], ['after']]);
  });

  it('is refused until an interrupted deletion is finished, by the same call', async () => {
    await store.append(MAIN, [entry({})]);
    await interruptedDeletion();
    const refused = { code: 'ERASURE_UNFINISHED' };
    await expect(store.load(MAIN)).rejects.toMatchObject(refused);
    await expect(stores.over(storage).append(MAIN, [entry({})])).rejects.toMatchObject(refused);
    await store.delete(MAIN);
    expect(await store.load(MAIN)).toBeNull();
  });

  it('is finished by `resumeErasures`, which erases no session of another project', async () => {
    const other = { projectKey: 'other', sessionId };
    for (const key of [MAIN, other]) await store.append(key, [entry({})]);
    await interruptedDeletion();
    await stores.closeAll();
    expect(await resumeErasures(storage)).toMatchObject([{ resumed: true }]);
    store = stores.over(storage);
    expect(await store.load(MAIN)).toBeNull();
    expect(await store.load(other)).toHaveLength(1);
  });

  /** The marker is written first. */
  function interruptedDeletion(): Promise<void> {
    const trees = [['claude-agent', projectKey, sessionId]];
    return writeMarker(storage, {
      target: { thread: `claude-agent/${projectKey}/${sessionId}` },
      trees,
      places: [],
    });
  }

  it('is erased as a thread of its id, in every project', async () => {
    const kept = { projectKey, sessionId: 'kept' };
    for (const key of [MAIN, AGENT_1, { projectKey: 'other', sessionId }, kept])
      await store.append(key, [entry({})]);
    await stores.closeAll();
    await erase(storage, { thread: sessionId });
    store = stores.over(storage);
    for (const key of [MAIN, AGENT_1, { projectKey: 'other', sessionId }])
      expect(await store.load(key)).toBeNull();
    expect(await store.load(kept)).toHaveLength(1);
  });
});

describe('a damaged transcript', () => {
  async function damage(text: string): Promise<void> {
    for (const file of (await filesBelow(root)).filter((name) => name.endsWith('.jsonl')))
      await writeFile(file, (await readFile(file, 'utf8')).replace(text, text.toUpperCase()));
  }

  it.each(['first', 'second', 'third'])(
    'is neither loaded nor written without its %s record',
    async (text) => {
      for (const uuid of ['first', 'second', 'third']) await store.append(MAIN, [entry({ uuid })]);
      await stores.closeAll();
      await damage(text);
      store = stores.over(storage);
      await expect(store.load(MAIN)).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
      await expect(store.append(MAIN, [entry({})])).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
      expect((await store.listSessions(projectKey)).map((one) => one.sessionId)).toEqual([sessionId]);
      await store.delete(MAIN);
      expect(await store.load(MAIN)).toBeNull();
    },
  );

  it('is listed if no record of it can be read', async () => {
    await store.append(MAIN, [entry({ uuid: 'only' })]);
    await stores.closeAll();
    await damage('only');
    expect(await stores.over(storage).listSessions(projectKey)).toEqual([{ sessionId, mtime: 0 }]);
  });

  it('is whole without the record that a crash left unfinished', async () => {
    await store.append(MAIN, [entry({ uuid: 'a' })]);
    await stores.closeAll();
    const [file = ''] = (await filesBelow(root)).filter((name) => name.endsWith('.jsonl'));
    await appendFile(file, '{"op":"append","entr');
    store = await nextProcess();
    expect(await uuids()).toEqual(['a']);
    await store.append(MAIN, [entry({ uuid: 'b' })]);
    expect(await uuids()).toEqual(['a', 'b']);
  });

  it('is refused if a newer release wrote it', async () => {
    const lease = await storage.leases.acquire(['claude-agent', projectKey, sessionId, 'lease']);
    const journal = await storage.openJournal(['claude-agent', projectKey, sessionId, 'transcript'], {
      lease,
    });
    await journal.append([{ op: 'fold' }]);
    await journal.close();
    await lease.release();
    await expect(store.load(MAIN)).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
    await expect(store.append(MAIN, [entry({})])).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
  });
});

describe('a store over a wrapped storage', () => {
  it('has no text in the files of a sealed store', async () => {
    const sealed = withSealing(storage, KEYS);
    await stores.over(sealed).append(MAIN, [entry({ text: 'canary' })]);
    expect(await stores.over(withSealing(storage, KEYS)).load(MAIN)).toEqual([entry({ text: 'canary' })]);
    expect(await bytesBelow(root)).not.toContain('canary');
  });

  it('stores and shows no secret, and a retry is still known', async () => {
    const redacting = withRedaction(storage);
    const batch = [entry({ uuid: MAIN.sessionId, text: `key ${SECRET}`, customTitle: SECRET })];
    const one = stores.over(redacting, { foldSessionSummary: fold });
    for (let n = 0; n < 2; n += 1) await one.append(MAIN, batch);
    expect(await one.load(MAIN)).toMatchObject([
      { uuid: MAIN.sessionId, text: 'key [redacted:github-token]' },
    ]);
    expect(await bytesBelow(root)).not.toContain(SECRET);
  });

  it('reaches no session of another tenant', async () => {
    const [acme, other] = ['acme', 'other'].map((name) => stores.over(withTenant(storage, name)));
    await acme!.append(MAIN, [entry({})]);
    expect(await other!.load(MAIN)).toBeNull();
    expect(await other!.listSessions(projectKey)).toEqual([]);
    await other!.delete(MAIN);
    expect(await acme!.load(MAIN)).toHaveLength(1);
  });
});

it('refuses calls once it is closed, and leaves the storage open', async () => {
  await store.append(MAIN, [entry({})]);
  await store.close();
  const closed = { code: 'JOURNAL_CLOSED' };
  for (const entries of [[], [entry({})]])
    await expect(store.append(MAIN, entries)).rejects.toMatchObject(closed);
  for (const call of [() => store.load(MAIN), () => store.delete(MAIN), () => store.listSubkeys(MAIN)])
    await expect(call()).rejects.toMatchObject(closed);
  await expect(store.listSessions(projectKey)).rejects.toMatchObject(closed);
  expect(await stores.over(storage).load(MAIN)).toHaveLength(1);
});
