import { describe, expect, it } from 'vitest';
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
