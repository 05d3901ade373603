import { describe, expect, it } from 'vitest';
import type { SnapshotFooter } from '../../../src/memory/store/snapshot-file.js';
import { decodeSnapshot, encodeSnapshot, encodeTail } from '../../../src/memory/store/snapshot-file.js';
import { WorkingContextSnapshotSerializer } from '../../../src/memory/working-context-snapshot-serializer.js';
import type { Message } from '../../../src/messages/message.js';
import { assistant, calls, result, user } from '../../messages/arbitraries.js';

const footer: SnapshotFooter = {
  epochId: 2,
  lastCompactionTs: 1738100000.5,
  coversSeq: 12,
  coversCrc: '1a2b3c4d',
  cursor: { segment: 1, offset: 345 },
  lastTurn: 3,
  turnId: 'turn_0003',
  turnSeq: 2,
  reader: 1,
  unknown: [],
  compactionFailures: 1,
};

const MESSAGES: readonly Message[] = [
  { role: 'system', content: 'Be kind.' },
  user('Zeile\nmit "Zeichen" \u2028 und 🙂'),
  calls('a'),
  result('a', { nested: [1, { deep: null }], text: '\n],"epoch_id":9' }),
  assistant('Done.'),
];

async function bytesOf(messages: readonly Message[] = MESSAGES, agentId = 'a'): Promise<Buffer> {
  return (await encodeSnapshot(agentId, messages, footer)).bytes;
}

describe('the snapshot file', () => {
  it('is one JSON document, one message a line, with what changes last', async () => {
    const lines = (await bytesOf()).toString('utf8').split('\n');
    expect(lines).toHaveLength(MESSAGES.length + 3);
    expect(lines[0]).toBe('{"schema_version":1,"agent_id":"a","messages":[');
    expect(lines[1]).toBe('{"role":"system","content":"Be kind."},');
    expect(lines.at(-2)).toMatch(
      /^\],"epoch_id":2,"last_compaction_ts":1738100000.5,"covers_seq":12,"covers_crc":"1a2b3c4d",.*"crc":"[0-9a-f]{8}"\}$/,
    );
  });

  it('is what the document form of the seed reads', async () => {
    const payload = JSON.parse((await bytesOf()).toString('utf8'));
    expect(WorkingContextSnapshotSerializer.validate(payload)).toBe(true);
    const { snapshot } = WorkingContextSnapshotSerializer.deserialize(payload);
    expect(snapshot.buildMessages()).toStrictEqual(MESSAGES);
    expect(snapshot).toMatchObject({ epochId: 2, lastCompactionTs: 1738100000.5 });
  });

  it.each([0, 1, MESSAGES.length])(
    'gives back %d messages, the footer and where the next one goes',
    async (count) => {
      const messages = MESSAGES.slice(0, count);
      const { bytes, body } = await encodeSnapshot('a', messages, footer);
      expect(await decodeSnapshot(bytes, 'a')).toStrictEqual({ status: 'valid', messages, footer, body });
    },
  );

  it('holds an agent id of any text', async () => {
    const agentId = 'a"\n],"x":🙂';
    const file = await decodeSnapshot(await bytesOf(MESSAGES, agentId), agentId);
    expect(file.status).toBe('valid');
  });

  it('grows in place: the tail over the old footer gives the bytes of the whole', async () => {
    for (let old = 0; old < MESSAGES.length; old += 1) {
      const before = await encodeSnapshot('a', MESSAGES.slice(0, old), { ...footer, coversSeq: 1 });
      const tail = encodeTail(before.body, MESSAGES, footer);
      const grown = Buffer.concat([before.bytes.subarray(0, before.body.bytes), tail.bytes]);
      const whole = await encodeSnapshot('a', MESSAGES, footer);
      expect(grown.equals(whole.bytes)).toBe(true);
      expect(tail.body).toStrictEqual(whole.body);
    }
  });

  it('writes in a tail only what is new', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => user(`message ${index}`));
    const { body } = await encodeSnapshot('a', many, footer);
    const tail = encodeTail(body, [...many, user('one more')], footer);
    expect(tail.bytes.length).toBeLessThan(400);
  });

  it('is written and read in slices when it is long', async () => {
    const long = Array.from({ length: 40 }, (_, index) => user(`${index} ${'ä'.repeat(60_000)}`));
    const bytes = await bytesOf(long);
    const file = await decodeSnapshot(bytes, 'a');
    expect(file).toMatchObject({ status: 'valid' });
    if (file.status === 'valid') expect(file.messages).toStrictEqual(long);
  });
});

describe('a snapshot file with a fault', () => {
  it('is found damaged for every single bit that flips, or says the same', async () => {
    const bytes = await bytesOf();
    const right = await decodeSnapshot(bytes, 'a');
    const outcomes = new Set<string>();
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      const file = await decodeSnapshot(flipped, 'a');
      outcomes.add(file.status);
      if (file.status === 'valid') expect(file).toStrictEqual(right);
    }
    expect([...outcomes]).toStrictEqual(['damaged']);
  });

  it('is found damaged wherever the last write was torn', async () => {
    const before = await encodeSnapshot('a', MESSAGES.slice(0, 2), { ...footer, coversSeq: 4 });
    const { bytes: tail } = encodeTail(before.body, MESSAGES, footer);
    for (let written = 0; written <= tail.length; written += 1) {
      const torn = Buffer.concat([
        before.bytes,
        Buffer.alloc(Math.max(0, before.body.bytes + written - before.bytes.length)),
      ]);
      tail.copy(torn, before.body.bytes, 0, written);
      const file = await decodeSnapshot(torn, 'a');
      if (file.status !== 'valid') expect(file.status).toBe('damaged');
      else expect([4, 12]).toContain(file.footer.coversSeq);
      if (written === tail.length) expect(file.status).toBe('valid');
      else if (written > 3) expect(file.status, `torn at ${written}`).not.toBe('valid');
    }
  });

  it('is found damaged at every length that it is cut to', async () => {
    const bytes = await bytesOf();
    for (let length = 0; length < bytes.length; length += 1) {
      const file = await decodeSnapshot(bytes.subarray(0, length), 'a');
      // Without its last newline it is still the whole document, but nothing vouches for it.
      expect(file.status, `cut to ${length}`).toBe('damaged');
    }
  });

  it('is found damaged when zeros follow, and when two are joined', async () => {
    const bytes = await bytesOf();
    expect((await decodeSnapshot(Buffer.concat([bytes, Buffer.alloc(512)]), 'a')).status).toBe('damaged');
    expect((await decodeSnapshot(Buffer.concat([bytes, bytes]), 'a')).status).toBe('damaged');
  });
});

describe('a snapshot file that is not ours', () => {
  const plain = { schema_version: 1, agent_id: 'a', epoch_id: 1, last_compaction_ts: null, messages: [] };
  const decode = (value: unknown, agentId: string | null = 'a') =>
    decodeSnapshot(Buffer.from(JSON.stringify(value)), agentId);

  it('of another agent is foreign', async () => {
    expect((await decodeSnapshot(await bytesOf(MESSAGES, 'b'), 'a')).status).toBe('foreign');
    expect((await decode({ ...plain, agent_id: 'b' })).status).toBe('foreign');
    expect((await decode({ ...plain, agent_id: 'b' }, null)).status).toBe('plain');
  });

  it('of the seed is plain, whatever its spacing, with a byte order mark or without', async () => {
    expect(await decode(plain)).toStrictEqual({ status: 'plain', payload: plain });
    const edited = `\ufeff${JSON.stringify(plain, null, 1).replaceAll('\n', '\r\n')}\r\n`;
    expect(await decodeSnapshot(Buffer.from(edited), 'a')).toStrictEqual({ status: 'plain', payload: plain });
  });

  it('with odd messages is plain: the restore reads them, and reports those that it cannot read', async () => {
    expect((await decode({ ...plain, messages: [{ role: 'user', content: 7 }] })).status).toBe('plain');
  });

  it.each([2, 4, 999_999])('of version %d is newer', async (version) => {
    expect((await decode({ ...plain, schema_version: version })).status).toBe('newer');
  });

  it.each([
    ['a text as its version', { ...plain, schema_version: '1' }],
    ['a fraction as its version', { ...plain, schema_version: 1.5 }],
    ['no version', {}],
    ['a list as the document', []],
    ['messages that are no list', { ...plain, messages: { role: 'user', content: 'Hi' } }],
  ])('with %s is damaged', async (_, value) => {
    expect((await decode(value)).status).toBe('damaged');
  });

  it('that claims to cover traces but has no checksum is damaged', async () => {
    expect((await decode({ ...plain, covers_seq: 3 })).status).toBe('damaged');
  });

  it.each(['', '{', 'null', '\u0000\u0000\u0000', 'PK\u0003\u0004'])(
    'with the bytes %j is damaged',
    async (text) => {
      expect((await decodeSnapshot(Buffer.from(text), 'a')).status).toBe('damaged');
    },
  );
});
