import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { SnapshotFooter } from '../../../src/memory/store/snapshot-file.js';
import {
  SNAPSHOT_FILE,
  WorkingContextSnapshotStore,
} from '../../../src/memory/store/working-context-snapshot-store.js';
import { WorkingContextSnapshot } from '../../../src/memory/working-context-snapshot.js';
import { WorkingContextSnapshotSerializer } from '../../../src/memory/working-context-snapshot-serializer.js';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import { FaultyFileSystem } from '../../../src/storage/simulated/faulty-file-system.js';
import { calls, result, user } from '../../messages/arbitraries.js';
import { AGENT, type FilePlace, filePlace, PLACES } from '../memory-kit.js';

const plain = { schema_version: 1, agent_id: AGENT, epoch_id: 1, last_compaction_ts: null, messages: [] };

function footer(coversSeq: number): SnapshotFooter {
  return {
    epochId: 1,
    lastCompactionTs: null,
    coversSeq,
    coversCrc: null,
    cursor: null,
    lastTurn: 1,
    turnId: 'turn_0001',
    turnSeq: 1,
    reader: 1,
    unknown: [],
    compactionFailures: 0,
  };
}

describe.each(PLACES)('the snapshot store over $name', ({ make }) => {
  it('tells of an absent file, and reads what was written in the form of the seed', async () => {
    const store = new WorkingContextSnapshotStore((await make()).storage(), AGENT);
    expect(await store.exists()).toBe(false);
    expect(await store.read()).toBeNull();
    expect(await store.load()).toBeNull();
    await store.write(AGENT, plain);
    expect(await store.exists()).toBe(true);
    expect(await store.read()).toStrictEqual(plain);
    expect(await store.load()).toMatchObject({ status: 'plain' });
  });

  it('keeps all metadata of a document, and moves it aside whole at the next save', async () => {
    const backend = (await make()).storage();
    const store = new WorkingContextSnapshotStore(backend, AGENT);
    const metadata = { agent_id: AGENT, host: { tags: ['a', null], share: 0.25 } };
    const snapshot = new WorkingContextSnapshot([user('1')]);
    const payload: Record<string, unknown> = WorkingContextSnapshotSerializer.serialize(snapshot, metadata);
    await store.write(AGENT, payload);
    const read = (await store.read())!;
    expect(WorkingContextSnapshotSerializer.validate(read)).toBe(true);
    expect(WorkingContextSnapshotSerializer.deserialize(read).metadata).toMatchObject(metadata);
    const { setAside } = await store.save(snapshot, footer(1));
    const aside = await backend.documents.read(['agents', AGENT, setAside!]);
    expect(aside?.value).toStrictEqual(payload);
    expect(await store.load()).toMatchObject({ status: 'valid', messages: [user('1')] });
    snapshot.appendUser('2');
    expect((await store.save(snapshot, footer(2))).whole).toBe(false);
    expect(await store.read()).not.toHaveProperty('host');
  });

  it('writes the whole file first, and then only what is new', async () => {
    const backend = (await make()).storage();
    const store = new WorkingContextSnapshotStore(backend, AGENT);
    const snapshot = new WorkingContextSnapshot(Array.from({ length: 50 }, (_, n) => user(`message ${n}`)));
    expect(await store.save(snapshot, footer(1))).toMatchObject({ whole: true, setAside: null });
    snapshot.appendUser('one more');
    const second = await store.save(snapshot, footer(2));
    expect(second.whole).toBe(false);
    expect(second.bytesWritten).toBeLessThan(300);
    const loaded = await new WorkingContextSnapshotStore(backend, AGENT).load();
    expect(loaded).toMatchObject({ status: 'valid', footer: { coversSeq: 2 } });
    if (loaded?.status === 'valid') expect(loaded.messages).toStrictEqual(snapshot.buildMessages());
  });

  it('goes on in place after it was opened anew', async () => {
    const backend = (await make()).storage();
    const snapshot = new WorkingContextSnapshot([user('1')]);
    await new WorkingContextSnapshotStore(backend, AGENT).save(snapshot, footer(1));
    const store = new WorkingContextSnapshotStore(backend, AGENT);
    await store.load();
    snapshot.appendUser('2');
    expect((await store.save(snapshot, footer(2))).whole).toBe(false);
  });

  it('writes the whole file when an older message changed', async () => {
    const backend = (await make()).storage();
    const store = new WorkingContextSnapshotStore(backend, AGENT);
    const snapshot = new WorkingContextSnapshot([user('1'), calls('a'), user('2')]);
    await store.save(snapshot, footer(1));
    snapshot.placeToolResult(result('a'));
    expect((await store.save(snapshot, footer(2))).whole).toBe(true);
    expect(await new WorkingContextSnapshotStore(backend, AGENT).load()).toMatchObject({ status: 'valid' });
  });

  it('makes the file shorter when the list became shorter', async () => {
    const backend = (await make()).storage();
    const store = new WorkingContextSnapshotStore(backend, AGENT);
    const snapshot = new WorkingContextSnapshot([user('1'), user('a long message '.repeat(100))]);
    await store.save(snapshot, footer(1));
    snapshot.replaceAll(snapshot.messages.slice(0, 1));
    await store.save(snapshot, footer(2));
    const loaded = await new WorkingContextSnapshotStore(backend, AGENT).load();
    expect(loaded).toMatchObject({ status: 'valid', messages: [user('1')] });
  });
});

describe('a file that is not ours', () => {
  async function storeOver(
    content: string,
  ): Promise<{ place: FilePlace; store: WorkingContextSnapshotStore }> {
    const place = await filePlace();
    await place.put(SNAPSHOT_FILE, content);
    const store = new WorkingContextSnapshotStore(place.storage(), AGENT);
    await store.load();
    return { place, store };
  }

  it.each([
    ['damaged', '{"schema_version":1,"agen'],
    ['of another agent', JSON.stringify({ ...plain, agent_id: 'someone else' })],
    ['of the original project', JSON.stringify(plain)],
  ])('and is %s is moved aside before the first save, byte for byte', async (_, content) => {
    const { place, store } = await storeOver(content);
    const saved = await store.save(new WorkingContextSnapshot([user('1')]), footer(1));
    expect(saved.setAside).toMatch(/^working_context_snapshot\.json\.set-aside-[0-9a-f]+$/);
    expect(await place.names()).toStrictEqual([SNAPSHOT_FILE, saved.setAside]);
    expect(await place.text(saved.setAside!)).toBe(content);
    expect((await store.save(new WorkingContextSnapshot([user('1')]), footer(1))).setAside).toBeNull();
  });

  it('and is damaged again and again is kept three times, the newest ones', async () => {
    const { place, store } = await storeOver('damaged 1');
    for (let time = 2; time <= 6; time += 1) {
      await store.save(new WorkingContextSnapshot([user('1')]), footer(1));
      await place.put(SNAPSHOT_FILE, `damaged ${time}`);
      await fs.utimes(place.file(SNAPSHOT_FILE), time, time);
      await store.load();
    }
    await store.save(new WorkingContextSnapshot([user('1')]), footer(1));
    const aside = (await place.names()).filter((name) => name !== SNAPSHOT_FILE);
    const texts = await Promise.all(aside.map((name) => place.text(name)));
    expect(texts.sort()).toStrictEqual(['damaged 4', 'damaged 5', 'damaged 6']);
  });

  it('and was written by a newer release is never touched', async () => {
    const content = JSON.stringify({ ...plain, schema_version: 7 });
    const { place, store } = await storeOver(content);
    const before = await fs.stat(place.file(SNAPSHOT_FILE));
    for (let tries = 0; tries < 2; tries += 1) {
      await expect(store.save(new WorkingContextSnapshot([user('1')]), footer(1))).rejects.toMatchObject({
        code: 'UNSUPPORTED_VERSION',
      });
    }
    expect(await place.text(SNAPSHOT_FILE)).toBe(content);
    expect((await fs.stat(place.file(SNAPSHOT_FILE))).mtimeMs).toBe(before.mtimeMs);
    expect(await place.names()).toStrictEqual([SNAPSHOT_FILE]);
  });

  it('because it is of another line of history is moved aside', async () => {
    const place = await filePlace();
    await new WorkingContextSnapshotStore(place.storage(), AGENT).save(
      new WorkingContextSnapshot([user('old')]),
      footer(9),
    );
    const store = new WorkingContextSnapshotStore(place.storage(), AGENT);
    await store.load();
    store.disown();
    const { setAside } = await store.save(new WorkingContextSnapshot([user('1')]), footer(1));
    expect(await place.text(setAside!)).toContain('"content":"old"');
  });
});

describe('a save that fails', () => {
  it('rejects, and the next one writes the whole file', async () => {
    const place = await filePlace();
    const disk = new FaultyFileSystem(new NodeFileSystem());
    const store = new WorkingContextSnapshotStore(place.storage({ fileSystem: disk }), AGENT);
    const snapshot = new WorkingContextSnapshot([user('1')]);
    await store.save(snapshot, footer(1));
    snapshot.appendUser('2');
    disk.setFault({ at: 1, kind: 'ENOSPC', effect: 'half', only: (call) => call === 'file.write' });
    await expect(store.save(snapshot, footer(2))).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    disk.setFault(null);
    snapshot.appendUser('3');
    expect(await store.save(snapshot, footer(3))).toMatchObject({ whole: true, setAside: null });
    expect(await new WorkingContextSnapshotStore(place.storage(), AGENT).load()).toMatchObject({
      status: 'valid',
      messages: [user('1'), user('2'), user('3')],
    });
  });

  it('is made up for also after another look at the file, which is still the old one', async () => {
    const place = await filePlace();
    const disk = new FaultyFileSystem(new NodeFileSystem());
    const store = new WorkingContextSnapshotStore(place.storage({ fileSystem: disk }), AGENT);
    const snapshot = new WorkingContextSnapshot([user('1'), user('2')]);
    await store.save(snapshot, footer(1));
    snapshot.replaceAll([user('changed'), user('2')]);
    disk.setFault({ at: 1, kind: 'ENOSPC', effect: 'half', only: (call) => call === 'file.write' });
    await expect(store.save(snapshot, footer(2))).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    disk.setFault(null);
    expect(await store.load()).toMatchObject({ messages: [user('1'), user('2')] });
    await store.save(snapshot, footer(2));
    expect(await store.load()).toMatchObject({ messages: [user('changed'), user('2')] });
  });
});
