/** A channel that grows is stored as what each value adds to an earlier one, and is read as it was. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import { isJsonObject, type JsonObject } from '../../../src/core/json.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import {
  blobsOf,
  type Config,
  checkpointOf,
  folderOf,
  metadataOf,
  putValues,
  recordsOf,
  thread,
  valuesAt,
} from './saver-kit.js';

/** One kilobyte as JSON. */
function messageOf(n: number): JsonObject {
  const message = { type: n % 2 === 0 ? 'human' : 'ai', id: `message-${n}`, content: '' };
  const words = `Message ${n} is about the work of that day. `.repeat(30);
  return { ...message, content: words.slice(0, 1_024 - JSON.stringify(message).length) };
}

/** A conversation as LangGraph's loop stores it: the input, what the task wrote, and the checkpoint after it. */
class Conversation {
  messages: JsonObject[] = [];
  #saver: RekindleSaver;
  #config: Config;
  #versions: Record<string, number> = {};
  #version = 0;

  constructor(saver: RekindleSaver, config: Config) {
    this.#saver = saver;
    this.#config = config;
  }

  async step(): Promise<void> {
    const before = this.messages.length === 0 ? {} : { messages: this.messages };
    const message = messageOf(this.messages.length);
    await this.#put({ ...before, __start__: { n: this.messages.length } }, ['__start__']);
    await this.#saver.putWrites(this.#config, [['messages', message]], `task-${this.messages.length}`);
    this.messages = [...this.messages, message];
    await this.#put({ messages: this.messages }, ['messages', '__start__']);
  }

  async #put(values: Record<string, unknown>, changed: readonly string[]): Promise<void> {
    this.#version += 1;
    const newVersions = Object.fromEntries(changed.map((channel) => [channel, this.#version]));
    this.#versions = { ...this.#versions, ...newVersions };
    const checkpoint = checkpointOf(values, this.#versions);
    this.#config = await this.#saver.put(this.#config, checkpoint, metadataOf(this.#version), newVersions);
  }
}

async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await stat(path.join(folder, name));
    if (found.isFile()) size += found.size;
  }
  return size;
}

describe('a thread of messages on disk', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'rekindle-langgraph-'));
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  it('grows with its messages: 320 messages of one kilobyte take at most one megabyte', async () => {
    const storage = new FileStorage(root, { durability: 'relaxed' });
    const saver = new RekindleSaver({ storage });
    const conversation = new Conversation(saver, thread('t'));
    const sizes: number[] = [];
    for (const count of [40, 80, 160, 320]) {
      while (conversation.messages.length < count) await conversation.step();
      sizes.push(await sizeOf(root));
    }
    const messages = JSON.stringify(conversation.messages).length;
    expect(messages).toBeGreaterThanOrEqual(320 * 1_024);
    for (const [index, count] of [40, 80, 160, 320].entries())
      expect(sizes[index], `${count} messages: ${sizes.join(', ')}`).toBeLessThanOrEqual(
        (count / 320) * 1_000_000,
      );
    expect(await valuesAt(saver, thread('t'))).toEqual({ messages: conversation.messages });
    const other = new RekindleSaver({ storage });
    expect(await valuesAt(other, thread('t'))).toEqual({ messages: conversation.messages });
    for (const one of [saver, other, storage]) await one.close();
  });
});

describe('a channel that grows', () => {
  let storage: StorageBackend;
  let saver: RekindleSaver;

  beforeEach(() => {
    storage = new MemoryStorage();
    saver = new RekindleSaver({ storage });
  });

  afterEach(async () => {
    await saver.close();
    await storage.close();
  });

  /** A child of that checkpoint, whose value is in the version after its own. */
  async function put(config: Config, text: unknown, ns?: string): Promise<Config> {
    const tuple = ns === undefined ? await saver.getTuple(config) : undefined;
    const version = Number(tuple?.checkpoint.channel_versions['text'] ?? 0) + 1;
    const checkpoint = checkpointOf({ text }, { text: version });
    const at = ns === undefined ? config : thread('t', ns);
    return saver.put(at, checkpoint, metadataOf(version), { text: version });
  }

  /** What each checkpoint record has of the channel. */
  async function formsOf(threadId = 't'): Promise<unknown[]> {
    return (await recordsOf(storage, threadId)).flatMap(({ channels }) =>
      (channels as unknown[][]).map(([, , value]) => value),
    );
  }

  /** A thread with the records of another one, changed. */
  async function copied(to: string, change: (records: JsonObject[]) => JsonObject[]): Promise<void> {
    const journal = await storage.openJournal([...folderOf(to), 'checkpoints']);
    const records = structuredClone(await recordsOf(storage, 't'));
    await journal.append(
      change(records.map((record) => ('thread' in record ? { ...record, thread: to } : record))),
    );
    await journal.close();
  }

  function formIn(record: JsonObject): JsonObject {
    const [row] = record['channels'] as [[string, number, JsonObject]];
    return row[2];
  }

  it('is stored as what is added, with the base and the checksum of the whole', async () => {
    const base = 'a'.repeat(1_000);
    await put(await put(thread('t'), base), `${base}b`);
    expect(await formsOf()).toEqual([
      { type: 'json', text: JSON.stringify(base) },
      {
        type: 'json',
        delta: {
          base: 1,
          keep: 1_001,
          crc: expect.stringMatching(/^[0-9a-f]{8}$/),
          text: 'b"',
        },
      },
    ]);
  });

  it('has in a delta none of the forms that earlier releases read', async () => {
    const base = 'a'.repeat(1_000);
    await put(await put(thread('t'), base), `${base}b`);
    const delta = (await formsOf())[1];
    expect(Object.keys(delta as object)).toEqual(['type', 'delta']);
  });

  it('is stored whole where less than half or less than 512 bytes are the same, or the type is another one', async () => {
    const first = await put(thread('t'), 'a'.repeat(400));
    await put(first, 'a'.repeat(500));
    const second = await put(first, 'b'.repeat(1_000));
    await put(second, `${'b'.repeat(1_000)}${'c'.repeat(2_000)}`);
    await put(second, new Uint8Array(Buffer.from(JSON.stringify('b'.repeat(1_000)))));
    expect(
      (await formsOf()).filter((form) => isJsonObject(form as JsonObject) && 'delta' in (form as JsonObject)),
    ).toEqual([]);
  });

  it('is cut between characters, and is read as it was', async () => {
    const base = 'a'.repeat(1_000);
    const ends = ['é', 'è', '\u{1f600}', '\u{1f601}', '\u{1f600}\u{1f601}', '\u0001', '', 'ee\u2028'];
    const configs = [await put(thread('t'), `${base}é`)];
    for (const end of ends) configs.push(await put(configs[0]!, `${base}${end}`));
    const texts = JSON.stringify(await formsOf());
    expect(texts.split('"delta"')).toHaveLength(ends.length + 1);
    expect(texts).not.toContain('\ufffd');
    const second = new RekindleSaver({ storage });
    for (const [index, end] of ['é', ...ends].entries())
      for (const one of [saver, second])
        expect(await valuesAt(one, configs[index]!)).toEqual({ text: `${base}${end}` });
    await second.close();
  });

  it('is a delta also when it is large, and a blob when what is added is large', async () => {
    const base = 'a'.repeat(100_000);
    const first = await put(thread('t'), base);
    const second = await put(first, `${base}b`);
    expect(await blobsOf(storage, 't')).toHaveLength(1);
    const third = await put(second, `${base}${'c'.repeat(70_000)}`);
    expect(await blobsOf(storage, 't')).toHaveLength(2);
    const other = new RekindleSaver({ storage });
    expect(await valuesAt(other, second)).toEqual({ text: `${base}b` });
    expect(await valuesAt(other, third)).toEqual({ text: `${base}${'c'.repeat(70_000)}` });
    await other.close();
  });

  it('goes on in another namespace from where it was', async () => {
    const base = 'a'.repeat(10_000);
    await put(thread('t'), base);
    const inner = await put(thread('t'), `${base}b`, 'child:1');
    expect(JSON.stringify(await formsOf()).length).toBeLessThan(11_000);
    const other = new RekindleSaver({ storage });
    expect(await valuesAt(other, inner)).toEqual({ text: `${base}b` });
    await other.close();
  });

  it('is right in all forks that two savers store at once', async () => {
    const base = 'a'.repeat(1_000);
    const first = await put(thread('t'), base);
    const second = new RekindleSaver({ storage });
    const texts = Array.from({ length: 30 }, (_, n) => `${base}${'b'.repeat(n % 7)}${n}`);
    const putting = texts.map((text, n) =>
      [saver, second][n % 2]!.put(first, checkpointOf({ text }, { text: 2 }), metadataOf(2), { text: 2 }),
    );
    const third = new RekindleSaver({ storage });
    for (const [index, config] of (await Promise.all(putting)).entries())
      for (const one of [saver, second, third])
        expect(await valuesAt(one, config)).toEqual({ text: texts[index] });
    expect(JSON.stringify(await formsOf()).split('"delta"')).toHaveLength(texts.length + 1);
    await second.close();
    await third.close();
  });

  it('names the record that has the bytes, not one between that has none of them', async () => {
    const base = 'a'.repeat(1_000);
    let config = await put(thread('t'), base);
    for (const end of ['b', 'c', 'd', 'e']) config = await put(config, `${base}${end}`);
    const bases = (await recordsOf(storage, 't')).map(
      (record) => (formIn(record)['delta'] as JsonObject)?.['base'],
    );
    expect(bases).toEqual([undefined, 1, 1, 1, 1]);
  });

  it('is equal to a value that is stored in another form, and is not stored again', async () => {
    const base = 'a'.repeat(1_000);
    const first = await put(thread('t'), base);
    const second = await put(first, `${base}b`);
    const third = await put(first, `${base}b`);
    expect((await formsOf())[2]).toBe(2);
    expect(await valuesAt(saver, third)).toEqual(await valuesAt(saver, second));
  });

  it.each([
    ['another value in the base', (delta: JsonObject) => delta, 'x'],
    ['a base that is shorter', (delta: JsonObject) => delta, ''],
    ['a base that is not there', (delta: JsonObject) => ({ ...delta, base: 9 }), null],
    ['a base that is itself', (delta: JsonObject) => ({ ...delta, base: 2 }), null],
    ['more of the base', (delta: JsonObject) => ({ ...delta, keep: 1_002 }), null],
    ['other bytes', (delta: JsonObject) => ({ ...delta, text: 'c"' }), null],
  ])('is not read with %s, and a value after it is stored whole', async (_, change, letter) => {
    const base = 'a'.repeat(1_000);
    await put(await put(thread('t'), base), `${base}b`);
    await copied('u', ([first, second]) => {
      const form = formIn(first!);
      if (letter !== null) form['text'] = String(form['text']).replace('aa', letter);
      formIn(second!)['delta'] = change(formIn(second!)['delta'] as JsonObject);
      return [first!, second!];
    });
    await expect(saver.getTuple(thread('u'))).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
    const parent = (await recordsOf(storage, 'u'))[1]!['id'];
    const config = { configurable: { ...thread('u').configurable, checkpoint_id: parent } };
    const after = checkpointOf({ text: `${base}bc` }, { text: 3 });
    const made = await saver.put(config, after, metadataOf(3), { text: 3 });
    expect(await valuesAt(saver, made)).toEqual({ text: `${base}bc` });
    expect((await formsOf('u'))[2]).toEqual({ type: 'json', text: JSON.stringify(`${base}bc`) });
  });

  it.each([
    ['two contents', { base: 1, keep: 1, crc: '00000000', text: 'b', base64: 'Yg==' }],
    ['no content', { base: 1, keep: 1, crc: '00000000' }],
    ['no base', { keep: 1, crc: '00000000', text: 'b' }],
    ['a keep that is no count', { base: 1, keep: 1.5, crc: '00000000', text: '' }],
    ['no checksum', { base: 1, keep: 1, text: 'b' }],
  ])('refuses a delta that has %s as a record of a newer release', async (_, delta) => {
    await putValues(saver, thread('t'), { text: 'a' });
    await copied('u', ([first]) => {
      const row = ['text', 2, { type: 'json', delta }];
      return [first!, { ...first!, id: 'z', channels: [row] } as JsonObject];
    });
    await expect(saver.getTuple(thread('u'))).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
  });

  it('is not stored as a delta in metadata or in pending writes', async () => {
    const form = { type: 'json', delta: { base: 1, keep: 1, crc: '00000000', text: 'b' } };
    await putValues(saver, thread('t'), { text: 'a' });
    await copied('u', ([first]) => [{ ...first!, metadata: form }]);
    await expect(saver.getTuple(thread('u'))).rejects.toMatchObject({ code: 'UNSUPPORTED_VERSION' });
  });

  it('is stored whole again when 1024 records would be read for it', async () => {
    let text = 'a'.repeat(1_000);
    let config = thread('t');
    for (let n = 1; n <= 1_026; n += 1, text += 'b') {
      const checkpoint = checkpointOf({ text }, { text: n });
      config = await saver.put(config, checkpoint, metadataOf(n), { text: n });
    }
    const whole = (await formsOf()).flatMap((form, at) => ('delta' in (form as object) ? [] : [at + 1]));
    expect(whole).toEqual([1, 1_025]);
    const other = new RekindleSaver({ storage });
    expect(await valuesAt(other, config)).toEqual({ text: text.slice(0, -1) });
    const last = (await recordsOf(storage, 't'))[1_023]!['id'];
    const before = { configurable: { ...thread('t').configurable, checkpoint_id: last } };
    expect(await valuesAt(other, before)).toEqual({ text: text.slice(0, -3) });
    await other.close();
  });
});
