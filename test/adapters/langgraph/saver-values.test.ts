/** What a saver keeps of values, whatever a serializer makes of them. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { DeltaSnapshot, JsonPlusSerializer, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { type OpenedTarget, TARGETS } from '../targets.js';
import {
  blobsOf,
  checkpointOf,
  countIn,
  metadataOf,
  putValues,
  recordsOf,
  thread,
  valuesAt,
} from './saver-kit.js';

/** AES-256-GCM over LangGraph's own serializer, under a type of its own. */
function encrypting(key: Buffer): SerializerProtocol {
  const plain = new JsonPlusSerializer();
  return {
    dumpsTyped: async (value) => {
      const [type, bytes] = await plain.dumpsTyped(value);
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const sealed = [cipher.update(bytes), cipher.final()];
      return [`${type}+aes`, Buffer.concat([iv, ...sealed, cipher.getAuthTag()])];
    },
    loadsTyped: async (type, data) => {
      const bytes = Buffer.from(data as Uint8Array);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(-16));
      const opened = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
      return plain.loadsTyped(type.replace('+aes', ''), opened);
    },
  };
}

/** Bytes as they are, and a note of what it was given. */
function rawSerializer(): SerializerProtocol & { readonly loaded: [string, Uint8Array][] } {
  const loaded: [string, Uint8Array][] = [];
  return {
    loaded,
    dumpsTyped: async (value) => [
      'raw',
      value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value)),
    ],
    loadsTyped: async (type, data) => {
      loaded.push([type, data as Uint8Array]);
      return data;
    },
  };
}

describe.each(TARGETS)('values in the LangGraph saver on $name', (target) => {
  let opened: OpenedTarget;
  let storage: StorageBackend;
  let saver: RekindleSaver;

  const use = async (serde?: SerializerProtocol) => {
    await saver?.close();
    saver = new RekindleSaver({ storage, ...(serde ? { serde } : {}) });
  };

  beforeEach(async () => {
    opened = await target.open();
    storage = opened.storage;
    await use();
  });

  afterEach(async () => {
    await saver.close();
    await opened.destroy();
  });

  it('are whole when they are bytes: in a channel, inside a value, and in a pending write', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
    const config = await putValues(saver, thread('t'), { bytes, nested: { list: [bytes] } });
    await saver.putWrites(
      config,
      [
        ['bytes', bytes],
        ['nested', { bytes }],
      ],
      'task',
    );
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint.channel_values).toEqual({ bytes, nested: { list: [bytes] } });
    expect(tuple?.pendingWrites).toEqual([
      ['task', 'bytes', bytes],
      ['task', 'nested', { bytes }],
    ]);
  });

  it('go back to a serializer byte by byte, and with their type', async () => {
    const samples = {
      empty: new Uint8Array(0),
      text: Buffer.from('"é" 😀\u2028\n\t'),
      mark: Buffer.from('\ufefftext'),
      zeros: new Uint8Array(100),
      noText: Buffer.from([0xc3, 0x28, 0xff]),
      surrogate: Buffer.from([0xed, 0xa0, 0x80]),
      limit: new Uint8Array(64 * 1024).fill(97),
      large: new Uint8Array(64 * 1024 + 1).fill(98),
      random: randomBytes(300_000),
    };
    for (const [name, bytes] of Object.entries(samples)) {
      const serde = rawSerializer();
      await use(serde);
      await putValues(saver, thread(name), { bytes });
      await use(serde);
      await saver.getTuple(thread(name));
      const [type, loaded] = serde.loaded[0]!;
      expect([type, Buffer.from(loaded).equals(bytes)], name).toEqual(['raw', true]);
    }
  });

  it('are blobs when they are large, each content once', async () => {
    const large = 'x'.repeat(100_000);
    const config = await putValues(saver, thread('t'), { large, small: 'y' });
    await saver.putWrites(config, [['large', large]], 'task');
    expect(await blobsOf(storage, 't')).toHaveLength(1);
    expect(JSON.stringify(await recordsOf(storage, 't')).length).toBeLessThan(2_000);
    expect(await valuesAt(saver, config)).toEqual({ large, small: 'y' });
  });

  it('say that a blob is gone', async () => {
    const config = await putValues(saver, thread('t'), { large: 'x'.repeat(100_000) });
    const blobs = storage.blobs(['langgraph', 'threads', 't', 'values']);
    for await (const { digest } of blobs.list()) await blobs.delete(digest);
    await expect(saver.getTuple(config)).rejects.toMatchObject({ code: 'BLOB_DAMAGED' });
  });

  it('keep a BigInt wherever it is', async () => {
    const n = -(2n ** 80n);
    const inner = {
      list: [n, 1],
      map: new Map([['k', n]]),
      set: new Set([n]),
      delta: new DeltaSnapshot([n]),
    };
    const more = { date: new Date(0), undef: undefined, bytes: new Uint8Array([1]), text: 'bigint' };
    const config = await putValues(saver, thread('t'), { alone: n, inner: { ...inner, ...more } });
    await saver.putWrites(config, [['alone', { n }]], 'task');
    const tuple = await saver.getTuple(config);
    const read = { ...inner, ...more, date: '1970-01-01T00:00:00.000Z' };
    expect(tuple?.checkpoint.channel_values).toEqual({ alone: n, inner: read });
    expect(tuple?.pendingWrites).toEqual([['task', 'alone', { n }]]);
  });

  it('are refused when they cannot be serialised, and nothing is written', async () => {
    const bad = {
      toJSON() {
        throw new TypeError('no');
      },
    };
    const refused = { code: 'INVALID_ARGUMENT' };
    await expect(putValues(saver, thread('t'), { fine: 1, bad })).rejects.toMatchObject(refused);
    const config = { configurable: { thread_id: 't', checkpoint_id: 'c' } };
    await expect(
      saver.putWrites(
        config,
        [
          ['fine', 1],
          ['bad', { bad, n: 1n }],
        ],
        'task',
      ),
    ).rejects.toMatchObject(refused);
    await use({ dumpsTyped: async () => ['text', 'no bytes' as never], loadsTyped: async () => null });
    await expect(putValues(saver, thread('t'), { a: 1 })).rejects.toMatchObject(refused);
    expect(await recordsOf(storage, 't')).toEqual([]);
  });

  it('are never seen in the clear with a serializer that encrypts', async () => {
    const key = randomBytes(32);
    await use(encrypting(key));
    const secret = {
      text: 'top-secret',
      bytes: new Uint8Array([0, 255]),
      large: 'top-secret'.repeat(20_000),
    };
    const checkpoint = checkpointOf({ secret });
    const config = await saver.put(thread('t'), checkpoint, metadataOf(0, { note: 'top-secret' }), {
      secret: 1,
    });
    await saver.putWrites(config, [['secret', 'top-secret']], 'task');
    const next = await saver.put(config, checkpointOf({ secret }), metadataOf(1), {});
    await use(encrypting(key));
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint).toEqual(checkpoint);
    expect(tuple?.metadata).toEqual(metadataOf(0, { note: 'top-secret' }));
    expect(tuple?.pendingWrites).toEqual([['task', 'secret', 'top-secret']]);
    expect(await valuesAt(saver, next)).toEqual({ secret });
    expect(await countIn(storage, 't', 'top-secret')).toBe(0);
    for (const blob of await blobsOf(storage, 't'))
      expect(Buffer.from(blob).includes('top-secret')).toBe(false);
    await use(encrypting(randomBytes(32)));
    await expect(saver.getTuple(config)).rejects.toThrow();
  });

  it('are data to the saver, also where they look like an object to be made', async () => {
    const object = {
      lc: 1,
      type: 'constructor',
      id: ['langchain', 'Evil'],
      kwargs: { __proto__: null, a: 1 },
    };
    const asText: SerializerProtocol = {
      dumpsTyped: async (value) => ['json', Buffer.from(JSON.stringify(value))],
      loadsTyped: async (_, data) => JSON.parse(Buffer.from(data as Uint8Array).toString()) as unknown,
    };
    await use(asText);
    const config = await putValues(saver, thread('t'), {
      object,
      list: [object, { lc: 2, type: 'bigint', value: '1' }],
    });
    await use(asText);
    expect(await valuesAt(saver, config)).toEqual({
      object,
      list: [object, { lc: 2, type: 'bigint', value: '1' }],
    });
  });
});
