import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkingContext } from '../../../src/agent/context/open-working-context.js';
import { erase } from '../../../src/agent/erasure/erase.js';
import type { JsonObject } from '../../../src/core/json.js';
import { agentState } from '../../../src/state/durable/documents/agent-state.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { SharedState } from '../../../src/state/shared/shared-state.js';
import { copyStorage } from '../../../src/storage/copy-storage.js';
import { LocalObjects } from '../../../src/storage/objects/local-objects.js';
import { withObjects } from '../../../src/storage/objects/object-backend.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { JournalEntry, StorageBackend } from '../../../src/storage/ports.js';
import { withRedaction } from '../../../src/storage/redacted-storage.js';
import { EnvironmentKeys } from '../../../src/storage/sealing/environment-keys.js';
import { KeyFile } from '../../../src/storage/sealing/key-file.js';
import type { KeyProvider } from '../../../src/storage/sealing/key-provider.js';
import { withSealing } from '../../../src/storage/sealing/sealed-storage.js';
import { StoredKeys } from '../../../src/storage/sealing/stored-keys.js';
import { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { withTenant } from '../../../src/storage/tenants/tenant-storage.js';

const K1 = 'ab'.repeat(32);
const K2 = 'cd'.repeat(32);
const CANARY = 'kingfisher-4417';
const SEED = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
/** What a sealed store with the agent `desk` needs to be read. */
const KEY_DOCUMENTS = [
  ['sealing', 'store.json'],
  ['sealing', 'keys-2', 'agents', 'desk', 'key.json'],
] as const;

let folder: string;
const opened: StorageBackend[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rekindle-sealed-'));
});
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

function keep<S extends StorageBackend>(storage: S): S {
  opened.push(storage);
  return storage;
}

const plainStore = () => keep(openStorage(`file:${join(folder, 'store')}`));
const sealedStore = (key = K1, previous = '') =>
  keep(
    withSealing(
      openStorage(`file:${join(folder, 'store')}`),
      new EnvironmentKeys({ REKINDLE_MASTER_KEY: key, REKINDLE_MASTER_KEY_PREVIOUS: previous }),
    ),
  );

function filesWith(text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => readFileSync(join(folder, name), 'latin1').includes(text));
}

async function talk(storage: StorageBackend, agentId: string): Promise<JsonObject[]> {
  const ctx = await openWorkingContext({ agentId, system: `You guard ${CANARY}.`, storage });
  await ctx.beginTurn(`Say ${CANARY}.`);
  await ctx.endTurn([{ role: 'assistant', content: `It is ${CANARY}.` }]);
  await ctx.beginTurn('Again.');
  await ctx.endTurn([{ role: 'assistant', content: `Still ${CANARY}.` }]);
  const messages = ctx.messages.map((message) => ({ ...message })) as unknown as JsonObject[];
  await ctx.close();
  return messages;
}

async function restored(storage: StorageBackend, agentId: string) {
  const ctx = await openWorkingContext({ agentId, system: `You guard ${CANARY}.`, storage });
  const messages = ctx.messages.map((message) => ({ ...message }));
  const { report } = ctx;
  await ctx.close();
  return { messages, report };
}

async function entries(
  storage: StorageBackend,
  name: readonly string[],
): Promise<JournalEntry<JsonObject>[]> {
  const journal = await storage.openJournal<JsonObject>(name, { readOnly: true });
  const found = [];
  for await (const entry of journal.read()) found.push(entry);
  await journal.close();
  return found;
}

describe('a sealed store', () => {
  it('has no text of an agent, a state or a shared state in any file, and restores the same context', async () => {
    const storage = sealedStore();
    const live = await talk(storage, 'desk');
    const initial = { ...(agentState.initial as JsonObject), next_action: CANARY };
    const states = await StateManager.open({ ...agentState, initial, backend: storage });
    await states.update((draft) => {
      draft.next_action = `${CANARY}!`;
    });
    expect((await states.load()).value).toMatchObject({ next_action: `${CANARY}!` });
    await states.close();
    const file = (await storage.documents.read(['state', `${agentState.name}.json`]))?.value;
    expect(file).toMatchObject({ next_action: `${CANARY}!` });
    const shared = new SharedState(storage, { root: 'r' });
    await shared.set('bird', CANARY);
    await shared.close();
    await storage.blobs(['agents', 'desk', 'artifacts']).put(Buffer.from(CANARY));
    expect(filesWith(CANARY)).toEqual([]);
    const again = await restored(sealedStore(), 'desk');
    expect(again.messages).toEqual(live);
    expect(again.report.source).toBe('cache');
    expect(again.report.repairs).toEqual([]);
  });

  it('is refused without keys, for reading and for writing', async () => {
    await talk(sealedStore(), 'desk');
    const plain = plainStore();
    await expect(plain.listNames(['agents'])).rejects.toMatchObject({ code: 'STORE_SEALED' });
    await expect(openWorkingContext({ agentId: 'new', storage: plain })).rejects.toMatchObject({
      code: 'STORE_SEALED',
    });
    const database = `sqlite:${join(folder, 'store.db')}`;
    await talk(keep(openStorage(`${database}?seal=${join(folder, 'master.key')}`)), 'desk');
    await expect(
      openWorkingContext({ agentId: 'new', storage: keep(openStorage(database)) }),
    ).rejects.toMatchObject({
      code: 'STORE_SEALED',
    });
  });

  it('is refused with another master key, before anything is written', async () => {
    await talk(sealedStore(), 'desk');
    await expect(openWorkingContext({ agentId: 'other', storage: sealedStore(K2) })).rejects.toMatchObject({
      code: 'KEY_UNAVAILABLE',
    });
    expect(await sealedStore().listNames(['agents'])).toEqual(['desk']);
  });

  it('refuses to begin where plain data is', async () => {
    await talk(plainStore(), 'desk');
    await expect(sealedStore().listNames(['agents'])).rejects.toMatchObject({ code: 'STORE_NOT_SEALED' });
    await expect(openWorkingContext({ agentId: 'new', storage: sealedStore() })).rejects.toMatchObject({
      code: 'STORE_NOT_SEALED',
      details: { name: expect.arrayContaining(['agents']) },
    });
  });

  it('takes a copy of a plain store, and gives a plain copy back', async () => {
    const live = await talk(plainStore(), 'desk');
    const sealed = keep(openStorage(`file:${join(folder, 'sealed')}?seal=${join(folder, 'master.key')}`));
    await copyStorage(plainStore(), sealed);
    const back = keep(openStorage(`file:${join(folder, 'back')}`));
    await copyStorage(sealed, back);
    expect((await restored(sealed, 'desk')).messages).toEqual(live);
    expect((await restored(back, 'desk')).messages).toEqual(live);
    expect(filesWith(CANARY).every((name) => !name.startsWith('sealed'))).toBe(true);
  });

  it('reports a record that was edited, moved or added as damage, and keeps the others', async () => {
    const storage = sealedStore();
    const journal = await storage.openJournal<JsonObject>(['agents', 'desk', 'notes']);
    for (const n of [1, 2, 3, 4]) await journal.append([{ n }]);
    await journal.close();
    const plain = keep(openStorage('memory:'));
    const inner = await entriesBelow(storage);
    const written = await plain.openJournal<JsonObject>(['agents', 'desk', 'notes']);
    // The second is moved to the third place, and a plain record is added.
    await written.append([inner[0]!, inner[1]!, inner[1]!, inner[3]!, { n: 5 }]);
    await written.close();
    for (const name of KEY_DOCUMENTS) await plain.documents.write(name, await document(name));
    const read = await entries(withSealing(plain, new EnvironmentKeys({ REKINDLE_MASTER_KEY: K1 })), [
      ...['agents', 'desk', 'notes'],
    ]);
    expect(read.map((entry) => (entry.kind === 'record' ? entry.record : entry.reason))).toEqual([
      { n: 1 },
      { n: 2 },
      'seal',
      { n: 4 },
      'seal',
    ]);
  });

  it('does not read a document under the name of another', async () => {
    const storage = sealedStore();
    await storage.documents.write(['agents', 'desk', 'a.json'], { n: 1 });
    await storage.documents.write(['agents', 'desk', 'b.json'], { n: 2 });
    const of = (name: string) => join(folder, 'store', 'agents', 'desk', name);
    copyFileSync(of('a.json'), of('b.json'));
    await expect(storage.documents.read(['agents', 'desk', 'b.json'])).rejects.toMatchObject({
      code: 'DOCUMENT_DAMAGED',
    });
  });

  it('reads a document that was set aside', async () => {
    const storage = sealedStore();
    await storage.documents.write(['agents', 'desk', 'a.json'], { n: 1 });
    const aside = await storage.documents.setAside(['agents', 'desk', 'a.json'], 'set-aside');
    expect((await storage.documents.read(['agents', 'desk', aside!]))?.value).toEqual({ n: 1 });
  });

  it('rebuilds the context from the traces when the cache was changed', async () => {
    const live = await talk(sealedStore(), 'desk');
    const file = join(folder, 'store', 'agents', 'desk', 'working_context_snapshot.json');
    const text = readFileSync(file, 'utf8');
    const at = text.indexOf('"', text.indexOf('"blocks"') + 10) + 40;
    writeFileSync(file, text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1));
    const { messages, report } = await restored(sealedStore(), 'desk');
    expect(messages).toEqual(live);
    expect(report.source).toBe('rebuilt');
  });

  it('detects every one of 300 random changes of stored bytes', { timeout: 60_000 }, async () => {
    const storage = sealedStore();
    const name = ['agents', 'desk', 'a.bin'];
    // No block ends with padding, so every character of the base64 counts.
    await storage.documents.writeBytes(name, Buffer.alloc(40_001, 'text '));
    const file = join(folder, 'store', ...name);
    const good = readFileSync(file);
    console.log(`sealing: REKINDLE_SEED=${SEED}`);
    const random = new SeededRandom(SEED);
    for (let change = 0; change < 300; change += 1) {
      const bytes = Buffer.from(good);
      const at = random.below(bytes.length);
      bytes[at] = bytes[at] === 0x41 ? 0x42 : 0x41;
      writeFileSync(file, bytes);
      await expect(storage.documents.readBytes(name)).rejects.toMatchObject({
        code: expect.stringMatching(/DOCUMENT_DAMAGED|KEY_UNAVAILABLE/),
      });
    }
  });

  it('hides the digests of blobs, and gives them back', async () => {
    const storage = sealedStore();
    const blobs = storage.blobs(['agents', 'desk', 'artifacts']);
    const { digest } = await blobs.put(Buffer.from(CANARY));
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(names.some((name) => name.includes(digest))).toBe(false);
    const listed = [];
    for await (const blob of blobs.list()) listed.push(blob.digest);
    expect(listed).toEqual([digest]);
  });

  it('gives every agent its own key, and erasing an agent destroys it', async () => {
    const storage = sealedStore();
    await talk(storage, 'desk');
    await talk(storage, 'shop');
    const keysOf = async () => (await storage.dataKeys()).map(({ scope }) => scope.join('/'));
    expect(await keysOf()).toEqual(expect.arrayContaining(['agents/desk', 'agents/shop']));
    await erase(storage, { agent: 'desk' });
    expect(await keysOf()).not.toContain('agents/desk');
    expect((await restored(storage, 'shop')).messages).toHaveLength(5);
    await talk(storage, 'desk'); // the name is free again, with a new key
    expect((await restored(sealedStore(), 'desk')).messages).toHaveLength(5);
  });

  it('is readable with the new master key alone after a rotation', async () => {
    const live = await talk(sealedStore(), 'desk');
    const rotation = await sealedStore(K2, K1).rotateKeys();
    expect(rotation.rewrapped).toBe(rotation.keys);
    expect((await restored(sealedStore(K2), 'desk')).messages).toEqual(live);
    await expect(restored(sealedStore(K1), 'desk')).rejects.toMatchObject({ code: 'KEY_UNAVAILABLE' });
  });

  it('makes, rotates and forgets the master keys of a key file', async () => {
    const keys = new StoredKeys(new KeyFile(join(folder, 'master.key')));
    const storage = keep(withSealing(openStorage(`file:${join(folder, 'store')}`), keys));
    const live = await talk(storage, 'desk');
    const before = (await storage.dataKeys())[0]!.master;
    await storage.rotateKeys({ forgetOld: true });
    expect((await storage.dataKeys()).some(({ master }) => master === before)).toBe(false);
    expect(await keys.find(before)).toBeNull();
    expect((await restored(storage, 'desk')).messages).toEqual(live);
  });

  it('works with a key service, which never gives its master key away', async () => {
    const service = keyService();
    const open = () => keep(withSealing(openStorage(`file:${join(folder, 'store')}`), service));
    const live = await talk(open(), 'desk');
    expect((await restored(open(), 'desk')).messages).toEqual(live);
    service.isDown = true;
    await expect(restored(open(), 'desk')).rejects.toThrow('The service is down.');
  });

  it('masks credentials before they are sealed', async () => {
    const storage = withRedaction(sealedStore());
    const ctx = await openWorkingContext({ agentId: 'desk', storage });
    await ctx.beginTurn('password=hunter2hunter2');
    await ctx.endTurn([{ role: 'assistant', content: 'Noted.' }]);
    await ctx.close();
    const texts = JSON.stringify((await restored(sealedStore(), 'desk')).messages);
    expect(texts).toContain('[redacted:');
    expect(texts).not.toContain('hunter2');
  });
});

describe('a journal of a sealed store', () => {
  it('refuses a record after its close, and never stores it plain', async () => {
    const journal = await sealedStore().openJournal<JsonObject>(['agents', 'desk', 'notes']);
    await journal.append([{ n: 1 }]);
    const closed = journal.close();
    await expect(journal.append([{ said: CANARY }])).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
    await closed;
    expect(filesWith(CANARY)).toEqual([]);
  });

  it('reports a record under another key as damage', async () => {
    const storage = sealedStore();
    const journal = await storage.openJournal<JsonObject>(['agents', 'desk', 'notes']);
    await journal.append([{ n: 1 }]);
    await journal.close();
    const [record] = await entriesBelow(storage);
    const other = keep(openStorage('memory:'));
    const written = await other.openJournal<JsonObject>(['agents', 'desk', 'notes']);
    await written.append([{ sealed: `0000000000000000${String(record!['sealed']).slice(16)}` }]);
    await written.close();
    for (const name of KEY_DOCUMENTS) await other.documents.write(name, await document(name));
    const keys = new EnvironmentKeys({ REKINDLE_MASTER_KEY: K1 });
    expect(await entries(withSealing(other, keys), ['agents', 'desk', 'notes'])).toMatchObject([
      { kind: 'damage', reason: 'seal' },
    ]);
  });
});

describe('the end of a sealed document', () => {
  it('is replaced rightly after another process rewrote it, and after it was written as JSON', async () => {
    const [one, two] = [sealedStore(), sealedStore()];
    const name = ['agents', 'desk', 'cache'];
    const text = async () => Buffer.from((await one.documents.readBytes(name))!).toString();
    await one.documents.writeBytes(name, Buffer.from('first'));
    await two.documents.writeBytes(name, Buffer.from('second '));
    expect(await text()).toBe('second ');
    await one.documents.overwriteTail(name, 7, Buffer.from('third'));
    expect(await text()).toBe('second third');
    await one.documents.write(name, ['a']);
    await one.documents.readBytes(name);
    await one.documents.overwriteTail(name, 0, Buffer.from('fourth'));
    expect(await text()).toBe('fourth');
    await one.documents.writeBytes(name, Buffer.alloc(4070, 'x'));
    await one.documents.overwriteTail(name, 4070, Buffer.from('y'));
    await one.documents.overwriteTail(name, 4070, Buffer.alloc(0));
    await one.documents.overwriteTail(name, 4070, Buffer.from('z'));
    expect(await text()).toBe(`${'x'.repeat(4070)}z`);
  });
});

describe('a rotation', () => {
  it('finds the key of every agent, also of one whose name looks like an archive', async () => {
    const storage = sealedStore();
    await talk(storage, 'desk');
    await talk(storage, 'x.archive');
    const scopes = (await storage.dataKeys()).map(({ scope }) => scope.join('/'));
    expect(scopes).toContain('agents/x.archive');
  });

  it('stops a process with only the old master key from making data keys', async () => {
    const old = sealedStore(K1);
    await talk(old, 'desk');
    await sealedStore(K2, K1).rotateKeys();
    await expect(talk(old, 'new')).rejects.toMatchObject({ code: 'KEY_UNAVAILABLE' });
  });
});

describe('wrappers in an order that would leave data plain', () => {
  it('are refused', async () => {
    const keys = new EnvironmentKeys({ REKINDLE_MASTER_KEY: K1 });
    expect(() => withSealing(withRedaction(plainStore()), keys)).toThrow(/Seal the whole store first/);
    expect(() => withSealing(withTenant(plainStore(), 'acme'), keys)).toThrow(/Seal the whole store first/);
    const objects = new LocalObjects(join(folder, 'objects'));
    expect(() => withObjects(sealedStore(), objects)).toThrow(/unsealed/);
    expect(() => openStorage(`${folder}?seal=environment`)).toThrow(/needs file:/);
  });
});

describe('the names of keys in an address', () => {
  it('are environment, keychain or a file; others are refused', () => {
    expect(() => openStorage(`file:${folder}?seal=secret`)).toThrow(/environment, keychain, or the path/);
  });
});

/** The stored records of the journal, as somebody without the key sees them. */
async function entriesBelow(storage: StorageBackend): Promise<JsonObject[]> {
  await storage.close();
  const file = join(folder, 'store', 'agents', 'desk', 'notes.jsonl');
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => ({ sealed: (JSON.parse(line) as JsonObject)['sealed']! }));
}

async function document(name: readonly string[]) {
  return JSON.parse(readFileSync(join(folder, 'store', ...name), 'utf8')) as JsonObject;
}

function keyService(): KeyProvider & { isDown: boolean } {
  const held = new Map<string, { readonly key: Uint8Array; readonly bound: string }>();
  const service = {
    place: 'a key service',
    isDown: false,
    wrap: async (key: Uint8Array, bound: string) => {
      const id = String(held.size);
      held.set(id, { key: Buffer.from(key), bound });
      return { master: 'service', wrapped: Buffer.from(id) };
    },
    unwrap: async ({ wrapped }: { readonly wrapped: Uint8Array }, bound: string) => {
      const found = held.get(Buffer.from(wrapped).toString());
      if (service.isDown || found?.bound !== bound) throw new Error('The service is down.');
      return found.key;
    },
  };
  return service;
}
