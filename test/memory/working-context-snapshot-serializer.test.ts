import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { encodeSnapshot } from '../../src/memory/store/snapshot-file.js';
import { WorkingContextSnapshot } from '../../src/memory/working-context-snapshot.js';
import { WorkingContextSnapshotSerializer as Serializer } from '../../src/memory/working-context-snapshot-serializer.js';
import { calls, result, user } from '../messages/arbitraries.js';

const document = {
  schema_version: 1,
  agent_id: 'a',
  epoch_id: 4,
  last_compaction_ts: 1738100000,
  messages: [],
};

describe('the snapshot document', () => {
  it('has the shape of the seed', () => {
    const snapshot = new WorkingContextSnapshot([{ role: 'system', content: 'Be kind.' }, user('Hi')]);
    expect(Serializer.serialize(snapshot, { agent_id: 'agent_123' })).toStrictEqual({
      schema_version: 1,
      agent_id: 'agent_123',
      epoch_id: 1,
      last_compaction_ts: null,
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hi' },
      ],
    });
  });

  it('gives the snapshot back, with its epoch, its time and its metadata', () => {
    const snapshot = new WorkingContextSnapshot([user('Go'), calls('a'), result('a')]);
    snapshot.reset(snapshot.messages, 1738100000.25);
    const payload = Serializer.serialize(snapshot, { agent_id: 'a' });
    const read = Serializer.deserialize(payload);
    expect(read.snapshot.buildMessages()).toStrictEqual(snapshot.buildMessages());
    expect(read.snapshot).toMatchObject({ epochId: 2, lastCompactionTs: 1738100000.25, hasOpenCalls: false });
    expect(read.metadata).toStrictEqual({
      schema_version: 1,
      agent_id: 'a',
      epoch_id: 2,
      last_compaction_ts: 1738100000.25,
    });
  });

  it('gives defaults for what is not there', () => {
    expect(Serializer.deserialize({}).snapshot).toMatchObject({
      epochId: 1,
      lastCompactionTs: null,
      length: 0,
    });
  });

  it.each([1, 3])('of version %d is valid', (version) => {
    expect(Serializer.validate({ ...document, schema_version: version })).toBe(true);
  });

  it.each([
    ['of a version that this release does not know', { ...document, schema_version: 2 }],
    ['of a version far ahead', { ...document, schema_version: 999_999 }],
    ['whose version is a text', { ...document, schema_version: '1' }],
    ['whose version is a fraction', { ...document, schema_version: 1.5 }],
    ['of version 0', { ...document, schema_version: 0 }],
    ['of version -1', { ...document, schema_version: -1 }],
    ['of version true', { ...document, schema_version: true }],
    ['of version null', { ...document, schema_version: null }],
    ['without a version', { agent_id: 'a', messages: [] }],
    ['without an agent', { ...document, agent_id: null }],
    ['without messages', { schema_version: 1, agent_id: 'a' }],
    ['with a message of the wrong shape', { ...document, messages: [{ role: 'narrator' }] }],
    ['that is nothing', null],
    ['that is a list', []],
    ['that is empty', {}],
  ])('%s is not valid', (_, payload) => {
    expect(Serializer.validate(payload)).toBe(false);
  });
});

describe('the metadata of a snapshot', () => {
  const others = {
    host: { name: 'desk', tags: ['a', { deep: null }], share: 0.25 },
    note: 'Zeile\n🙂',
    done: false,
    toString: 'a text',
    ['__proto__']: 1,
  };
  const refused = (field: string) => expect.objectContaining({ code: 'MESSAGE_INVALID', details: { field } });
  const serialize = (metadata: Record<string, unknown>) =>
    Serializer.serialize(new WorkingContextSnapshot([user('Hi')]), metadata);
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;

  /** The names of a cache file with every field that it can have. */
  async function namesOfCache(): Promise<{ cache: JsonObject; names: string[] }> {
    const { bytes } = await encodeSnapshot('a', [user('Hi')], {
      epochId: 1,
      lastCompactionTs: null,
      coversSeq: 12,
      coversCrc: '1a2b3c4d',
      cursor: { segment: 1, offset: 345 },
      lastTurn: 3,
      turnId: 'turn_0003',
      turnSeq: 2,
      reader: 1,
      unknown: [{ type: 'x', seq: 3, count: 1 }],
      compactionFailures: 0,
    });
    const cache = JSON.parse(bytes.toString('utf8')) as JsonObject;
    return { cache, names: Object.keys(cache) };
  }

  it('keeps any other JSON value through the document and its text', () => {
    const payload = serialize({ agent_id: 'a', ...others, left: undefined });
    const read = JSON.parse(JSON.stringify(payload)) as JsonObject;
    expect(read).toStrictEqual(payload);
    expect(Serializer.validate(read)).toBe(true);
    const { metadata, snapshot } = Serializer.deserialize(read);
    expect(metadata).toStrictEqual({
      schema_version: 1,
      agent_id: 'a',
      epoch_id: 1,
      last_compaction_ts: null,
      ...others,
    });
    expect(Serializer.serialize(snapshot, metadata)).toStrictEqual(payload);
  });

  it('goes in and comes out as a record of unknown values, as the seed has it', () => {
    const given: Record<string, unknown> = { agent_id: 'a', ...others };
    const payload: Record<string, unknown> = serialize(given);
    const { metadata }: { metadata: Record<string, unknown> } = Serializer.deserialize(payload);
    expect(metadata).toMatchObject(given);
  });

  it.each([
    ['a BigInt', 1n],
    ['a cycle', cycle],
    ['a map', new Map()],
    ['a function', () => 1],
    ['a date', new Date(0)],
    ['a number that JSON lacks', Number.NaN],
  ])('is refused with %s, which no document may hold', (_, value) => {
    const error = expect.objectContaining({ code: 'MESSAGE_INVALID' });
    expect(() => serialize({ agent_id: 'a', host: value })).toThrow(error);
    expect(() => Serializer.deserialize({ ...document, host: value })).toThrow(error);
    expect(Serializer.validate({ ...document, host: value })).toBe(false);
  });

  it.each([
    ['as a member', { toJSON: () => ({ agent_id: 'b' }) }, '/toJSON'],
    ['that gives the same object', { host: { toJSON: (): unknown => ({ a: 1 }), a: 1 } }, '/host/toJSON'],
    ['far below', { host: [{ 'a/b~': { toJSON: () => 1 } }] }, '/host/0/a~1b~0/toJSON'],
    ['of a class', { host: new URL('https://example.com') }, '/host/toJSON'],
  ])('is refused with a function toJSON %s, which JSON.stringify would call', (_, others, field) => {
    const error = expect.objectContaining({
      code: 'MESSAGE_INVALID',
      details: { field, kind: 'function-or-symbol' },
    });
    expect(() => serialize({ agent_id: 'a', ...others })).toThrow(error);
    expect(() => Serializer.deserialize({ ...document, ...others })).toThrow(error);
    expect(Serializer.validate({ ...document, ...others })).toBe(false);
  });

  it('keeps a member toJSON that is a JSON value', () => {
    const payload = serialize({ agent_id: 'a', toJSON: 'a text', host: { toJSON: null } });
    expect(JSON.parse(JSON.stringify(payload))).toStrictEqual(payload);
    expect(Serializer.deserialize(payload).metadata).toMatchObject({
      toJSON: 'a text',
      host: { toJSON: null },
    });
  });

  it.each([
    ['schema_version', '1'],
    ['agent_id', 5],
    ['epoch_id', 1.5],
    ['last_compaction_ts', 'now'],
  ])('is refused with a known field of another type: %s', (name, value) => {
    expect(() => serialize({ agent_id: 'a', [name]: value })).toThrow(refused(`/${name}`));
  });

  it('is refused under each name that a cache file uses itself', async () => {
    const known = ['schema_version', 'agent_id', 'epoch_id', 'last_compaction_ts'];
    const own = (await namesOfCache()).names.filter((name) => !known.includes(name));
    expect(own).toHaveLength(11);
    for (const name of own)
      expect(() => serialize({ agent_id: 'a', [name]: 1 })).toThrow(refused(`/${name}`));
  });

  it('of a cache file is without its footer, so that it makes a plain document again', async () => {
    const { metadata, snapshot } = Serializer.deserialize((await namesOfCache()).cache);
    expect(Serializer.serialize(snapshot, metadata)).toStrictEqual({
      schema_version: 1,
      agent_id: 'a',
      epoch_id: 1,
      last_compaction_ts: null,
      messages: [{ role: 'user', content: 'Hi' }],
    });
  });
});
