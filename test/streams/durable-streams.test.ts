/** Durable streams on every kind of store: what is acknowledged is stored, in order, once, at positions that stay. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkSharedJournals, repairNamedJournal } from '../../src/cli/shared-journals.js';
import { ManualClock } from '../../src/core/clock.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import type { CreateRequest } from '../../src/streams/create-decision.js';
import {
  DurableStreams,
  type DurableStreamsOptions,
  type StreamChunk,
} from '../../src/streams/durable-streams.js';
import { streamPaths } from '../../src/streams/stream-name.js';
import { TARGETS } from '../adapters/targets.js';

const JSON_TYPE = 'application/json';
const TEXT = 'text/plain';
const never = new AbortController().signal;

const bytes = (text: string) => Buffer.from(text);
const settings: CreateRequest = {
  ...{ type: TEXT, ttlSeconds: null, expiresMs: null, closes: false, body: new Uint8Array(), fork: null },
};
const forkOf = (source: string, at: number | null = null, sub = 0): CreateRequest => ({
  ...settings,
  type: null,
  fork: { path: source, at, sub },
});

interface Store {
  readonly backend: StorageBackend;
  /** The same store, as another process opens it. */
  other(): StorageBackend;
}

async function storeIn(urlIn: (folder: string) => string): Promise<Store> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-streams-'));
  const opened: StorageBackend[] = [];
  const other = () => {
    const backend = openStorage(urlIn(folder));
    opened.push(backend);
    return backend;
  };
  onTestFinished(async () => {
    for (const backend of opened) await backend.close();
    await fs.rm(folder, { recursive: true, force: true });
  });
  return { backend: other(), other };
}

const STORES: Record<string, () => Promise<Store>> = {
  files: () => storeIn((folder) => `file:${folder}`),
  SQLite: () => storeIn((folder) => `sqlite:${path.join(folder, 'store.db')}`),
  objects: () => storeIn((folder) => `objects:${folder}`),
};
for (const { name, open } of TARGETS.filter((target) => target.name === 'PostgresStorage'))
  STORES[name] = async () => {
    const { storage, destroy } = await open();
    onTestFinished(destroy);
    return { backend: storage, other: () => storage };
  };

function streamsOn(backend: StorageBackend, options: DurableStreamsOptions = {}): DurableStreams {
  const streams = new DurableStreams(backend, options);
  onTestFinished(() => streams.close());
  return streams;
}

async function add(streams: DurableStreams, name: string, text: string, type = TEXT): Promise<number> {
  const outcome = await streams.append(name, { type, body: bytes(text) });
  if (outcome.kind !== 'appended') throw new Error(outcome.kind);
  return outcome.next;
}

async function chunk(streams: DurableStreams, name: string, from = 0): Promise<StreamChunk> {
  const read = await streams.read(name, from);
  if (read.kind !== 'chunk') throw new Error(read.kind);
  return read;
}

function textOf({ payload }: StreamChunk): string {
  return payload.kind === 'bytes' ? Buffer.from(payload.bytes).toString() : JSON.stringify(payload.messages);
}

async function readAll(streams: DurableStreams, name: string, from = 0): Promise<string> {
  let text = '';
  for (let at = from; ; ) {
    const part = await chunk(streams, name, at);
    text += textOf(part);
    at = part.end;
    if (part.isUpToDate) return text;
  }
}

describe.each(Object.entries(STORES))('a stream on %s', (_, open) => {
  it('has what was acknowledged when it is opened again, at the same positions', async () => {
    const { backend, other } = await open();
    const first = streamsOn(backend);
    await first.create('answers/1', { ...settings, body: bytes('Good ') });
    const middle = await add(first, 'answers/1', 'morn');
    const binary = new Uint8Array([0, 255, 128]);
    await first.append('answers/1', { type: TEXT, body: binary, closes: true });
    await first.close();

    const second = streamsOn(other());
    const whole = await chunk(second, 'answers/1');
    expect(whole.payload).toEqual({ kind: 'bytes', bytes: Buffer.concat([bytes('Good morn'), binary]) });
    expect(whole).toMatchObject({
      start: 0,
      end: 12,
      isUpToDate: true,
      info: { isClosed: true, type: TEXT },
    });
    expect((await chunk(second, 'answers/1', middle)).start).toBe(9);
    expect(textOf(await chunk(second, 'answers/1', 3)).slice(0, 4)).toBe('d mo');
  });

  it('stores a repeated request of a producer once, also in the next process', async () => {
    const { backend, other } = await open();
    const request = { type: TEXT, body: bytes('once'), producer: { id: 'p', epoch: 0, seq: 0 } };
    const first = streamsOn(backend);
    await first.create('s', settings);
    expect(await first.append('s', request)).toMatchObject({ kind: 'appended', next: 4 });
    await first.close();
    const second = streamsOn(other());
    expect(await second.append('s', request)).toMatchObject({ kind: 'repeated', next: 4 });
    const later = { ...request, producer: { id: 'p', epoch: 0, seq: 2 } };
    expect(await second.append('s', later)).toEqual({ kind: 'gap', expected: 1, received: 2 });
    expect(await second.append('s', { ...later, producer: { id: 'p', epoch: 1, seq: 0 } })).toMatchObject({
      next: 8,
    });
    expect(await second.append('s', request)).toEqual({ kind: 'stale', epoch: 1 });
    expect(await readAll(second, 's')).toBe('onceonce');
  });

  it('keeps every append of two processes, in one order', async () => {
    const { backend, other } = await open();
    const [one, two] = [streamsOn(backend), streamsOn(other())];
    await one.create('s', { ...settings, type: JSON_TYPE });
    const write = async (streams: DurableStreams, who: string) => {
      for (let n = 0; n < 8; n += 1) await add(streams, 's', JSON.stringify(`${who}${n}`), JSON_TYPE);
    };
    await Promise.all([write(one, 'a'), write(two, 'b')]);
    const [seen, again] = [await readAll(one, 's'), await readAll(two, 's')];
    expect(again).toBe(seen);
    const messages = JSON.parse(seen) as string[];
    const of = (who: string) => messages.filter((message) => message.startsWith(who));
    expect(of('a')).toEqual(Array.from({ length: 8 }, (__, n) => `a${n}`));
    expect(of('b')).toEqual(Array.from({ length: 8 }, (__, n) => `b${n}`));
  });

  it('wakes a reader in another process', async () => {
    const { backend, other } = await open();
    const [writer, reader] = [streamsOn(backend), streamsOn(other())];
    await writer.create('s', settings);
    const { info } = await chunk(reader, 's');
    const begun = performance.now();
    const waiting = reader.wait('s', info, 0, { ms: 20_000, signal: never });
    await add(writer, 's', 'news');
    await waiting;
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(await readAll(reader, 's')).toBe('news');
  });

  it('gives a fork what its source had, also after the source was deleted, and keeps nothing without it', async () => {
    const { backend } = await open();
    const streams = streamsOn(backend);
    await streams.create('source', { ...settings, body: bytes('hello') });
    await add(streams, 'source', ' world');
    expect(await streams.create('fork', forkOf('source', 5, 3))).toMatchObject({ kind: 'created' });
    await add(streams, 'source', ' again');
    expect(await streams.delete('source')).toEqual({ kind: 'deleted' });
    expect(await streams.read('source', 0)).toEqual({ kind: 'gone' });
    await add(streams, 'fork', 'w?');
    expect(await readAll(streams, 'fork')).toBe('hello wow?');
    expect(await readAll(streams, 'fork', 7)).toBe('ow?');
    await streams.delete('fork');
    expect(await streams.info('source')).toEqual({ kind: 'missing' });
    await streams.close();
    const places = [];
    for await (const place of backend.places(['streams'])) places.push(place.place);
    expect(places).toEqual([]);
  });

  it('expires when nobody reads it, and its content is removed', async () => {
    const { backend, other } = await open();
    const clock = new ManualClock();
    const [one, two] = [streamsOn(backend, { clock }), streamsOn(other(), { clock })];
    await one.create('kept', { ...settings, ttlSeconds: 100, body: bytes('kept') });
    await one.create('left', { ...settings, ttlSeconds: 100, body: bytes('left') });
    clock.advance(90_000);
    expect(await readAll(two, 'kept')).toBe('kept');
    clock.advance(90_000);
    expect(await one.info('kept')).toMatchObject({ tail: 4 });
    expect(await one.removeExpired()).toBe(1);
    expect(await two.info('left')).toEqual({ kind: 'missing' });
    expect(await streamPaths(backend)).toEqual(['kept']);
  });
});

describe('a stream', () => {
  it('reads in parts, and from positions that are no longer at hand', async () => {
    const { backend } = await STORES['files']!();
    const streams = streamsOn(backend, { chunkBytes: 10_000 });
    await streams.create('s', settings);
    const parts = Array.from({ length: 30 }, (_, n) => String(n % 10).repeat(9_000));
    await Promise.all(parts.map((part) => add(streams, 's', part)));
    const part = await chunk(streams, 's', 9_000 * 10 + 5);
    expect(textOf(part)).toBe('0'.repeat(8_995) + '1'.repeat(9_000));
    expect(part.isUpToDate).toBe(false);
    expect(await readAll(streams, 's')).toBe(parts.join(''));
    expect(await streams.read('s', 9_000 * 30 + 1)).toEqual({ kind: 'beyond' });
  });

  it('writes appends that wait in one record, and answers each with its own position', async () => {
    const { backend } = await STORES['files']!();
    const streams = streamsOn(backend);
    await streams.create('s', settings);
    const ends = await Promise.all(['a', 'bb', 'ccc'].map((text) => add(streams, 's', text)));
    expect(ends).toEqual([1, 3, 6]);
    const journal = await backend.openJournal(['streams', 's', 'log'], { readOnly: true });
    expect((await journal.head()).seq).toBe(2);
    await journal.close();
  });

  it('refuses a number that JSON would round, a body that is no JSON, and a path that goes up', async () => {
    const { backend } = await STORES['files']!();
    const streams = streamsOn(backend);
    await streams.create('s', { ...settings, type: JSON_TYPE });
    for (const body of ['[12345678901234567890]', '{"a":', '[]'])
      await expect(add(streams, 's', body, JSON_TYPE)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    for (const name of ['../s', 'a//b', '', 'a/./b'])
      await expect(streams.create(name, settings)).rejects.toMatchObject({ code: 'INVALID_NAME' });
    expect(await chunk(streams, 's')).toMatchObject({ end: 0 });
  });

  it('takes an append only at the end that the writer knows, if it names one', async () => {
    const { backend } = await STORES['files']!();
    const streams = streamsOn(backend);
    await streams.create('s', { ...settings, body: bytes('abc') });
    const at = (expected: number) => streams.append('s', { type: TEXT, body: bytes('d'), expected });
    expect(await at(2)).toEqual({ kind: 'conflict', why: 'position', next: 3 });
    expect(await at(3)).toMatchObject({ kind: 'appended', next: 4 });
  });

  it('says that content is lost when a record is damaged, and uses no position twice', async () => {
    const { backend, other } = await STORES['files']!();
    const streams = streamsOn(backend);
    await streams.create('s', settings);
    for (const text of ['first', 'SECOND', 'third']) await add(streams, 's', text);
    await streams.close();
    const [file] = (await fs.readdir(backend.place, { recursive: true })).filter((name) =>
      name.endsWith('log.jsonl'),
    );
    const log = path.join(backend.place, file!);
    const damaged = (await fs.readFile(log, 'utf8')).replace('SECOND', 'SECONX');
    await fs.writeFile(log, damaged);

    const after = streamsOn(other());
    await expect(chunk(after, 's')).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
    expect(await readAll(after, 's', 11)).toBe('third');
    expect(await add(after, 's', '!')).toBe(17);
    await after.close();

    const last = other();
    const name = 'streams/s/log';
    expect(await checkSharedJournals(last)).toMatchObject([{ name, ok: false, records: 4 }]);
    await repairNamedJournal(last, name);
    expect(await checkSharedJournals(last)).toMatchObject([{ name, ok: true, records: 4 }]);
    const repaired = streamsOn(last);
    await expect(chunk(repaired, 's')).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
    expect(await readAll(repaired, 's', 11)).toBe('third!');
  });

  it('loses no position when the last record is damaged', async () => {
    const { backend, other } = await STORES['files']!();
    const streams = streamsOn(backend);
    await streams.create('s', settings);
    for (const text of ['first', 'second']) await add(streams, 's', text);
    await streams.close();
    const [file] = (await fs.readdir(backend.place, { recursive: true })).filter((name) =>
      name.endsWith('log.jsonl'),
    );
    const log = path.join(backend.place, file!);
    await fs.writeFile(log, (await fs.readFile(log, 'utf8')).replace('second', 'SECOND'));

    const after = streamsOn(other());
    expect(await add(after, 's', 'third')).toBeGreaterThanOrEqual(16);
    await expect(chunk(after, 's', 5)).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
  });

  it('is another one when it is created again', async () => {
    const { backend, other } = await STORES['files']!();
    const [one, two] = [streamsOn(backend), streamsOn(other())];
    await one.create('s', { ...settings, body: bytes('old content') });
    const { info } = await chunk(two, 's');
    await one.delete('s');
    await one.create('s', { ...settings, body: bytes('new') });
    const again = await chunk(two, 's');
    expect(textOf(again)).toBe('new');
    expect(again.info.id).not.toBe(info.id);
    await two.wait('s', info, 11, { ms: 60_000, signal: never }); // a reader of the old one does not wait
  });
});
