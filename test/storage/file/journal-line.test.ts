import { describe, expect, it } from 'vitest';
import { crc32, crcHex } from '../../../src/core/crc32.js';
import type { JsonObject } from '../../../src/core/json.js';
import { decodeLine, encodeHeader } from '../../../src/storage/file/journal-line.js';
import { decodeLineParts } from '../../../src/storage/file/journal-salvage.js';
import { encodeLineEnd, encodeRecord } from '../../../src/storage/record-encoding.js';

function lineOf(record: JsonObject, seq: number): string {
  const encoded = encodeRecord(record);
  return encoded.body.toString('utf8') + encodeLineEnd(encoded, seq).text.slice(0, -1);
}

const decode = (line: string) => decodeLine(Buffer.from(line));
const parts = (line: string) =>
  decodeLineParts(Buffer.from(line)).map(({ start, end, decoded }) => [start, end, decoded.kind]);

describe('a journal line', () => {
  it('has the record first, then its number, then the checksum of all bytes before it', () => {
    const line = lineOf({ role: 'user', content: 'Hi' }, 12);
    const body = '{"role":"user","content":"Hi","_seq":12';
    expect(line).toBe(`${body},"_crc":"${crcHex(crc32(body))}"}`);
  });

  it('is valid JSON also for an empty record', () => {
    expect(JSON.parse(lineOf({}, 1))).toEqual({ _seq: 1, _crc: expect.stringMatching(/^[0-9a-f]{8}$/) });
    expect(decode(lineOf({}, 1))).toMatchObject({ kind: 'record', record: {}, seq: 1 });
  });

  it('never has a line break inside', () => {
    expect(lineOf({ text: '\n\r\u2028\u2029\u0000' }, 1)).not.toMatch(/[\n\r\u0000]/);
  });

  it('decodes to its record, number and checksum', () => {
    const record = { text: '"_seq":99,"_crc":"00000000"}', inner: { _seq: 5, _crc: 'x' } };
    const line = lineOf(record, 7);
    expect(decode(line)).toEqual({ kind: 'record', record, seq: 7, crc: line.slice(-10, -2) });
  });

  it('is damaged when any one byte differs', () => {
    const line = Buffer.from(lineOf({ role: 'user', content: 'Grüße' }, 3));
    for (let index = 0; index < line.length; index += 1) {
      for (const bit of [0x01, 0x08, 0x20, 0x80]) {
        const flipped = Buffer.from(line);
        flipped[index]! ^= bit;
        expect(decodeLine(flipped).kind, `byte ${index} bit ${bit}`).toBe('damage');
      }
    }
  });

  it('is damaged when it is cut anywhere', () => {
    const line = lineOf({ role: 'user', content: [{ type: 'text', text: 'Hi' }] }, 3);
    for (let length = 0; length < line.length; length += 1) {
      expect(decode(line.slice(0, length)).kind, `${length} bytes`).toBe('damage');
    }
  });

  it('of another tool, without number and checksum, is accepted as unverified', () => {
    expect(decode('{"role":"user"}')).toEqual({
      kind: 'record',
      record: { role: 'user' },
      seq: null,
      crc: null,
    });
  });

  it('is damaged when it has only a part of number and checksum', () => {
    for (const line of ['{"a":1,"_seq":1}', '{"a":1,"_crc":"00000000"}', '{"_seq":1}', '{"_segment":2}']) {
      expect(decode(line), line).toEqual({ kind: 'damage', reason: 'checksum' });
    }
  });

  it('is damaged when it is no JSON object', () => {
    for (const line of ['', 'text', '1', 'null', '[1]', '"x"', '{"a":', '{"a":1}}']) {
      expect(decode(line), line).toEqual({ kind: 'damage', reason: 'not-json' });
    }
  });

  it('survives hostile keys without touching any prototype', () => {
    const decoded = decode(lineOf(JSON.parse('{"__proto__":{"x":1}}'), 1));
    expect(decoded.kind === 'record' && Object.hasOwn(decoded.record, '__proto__')).toBe(true);
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});

describe('a segment header', () => {
  const header = { segment: 3, prevLength: 4_096, prevSeq: 17, fence: 5 };

  it('decodes to what was encoded', () => {
    const line = encodeHeader(header);
    expect(line.at(-1)).toBe(0x0a);
    expect(decodeLine(line.subarray(0, -1))).toEqual({ kind: 'header', header });
  });

  it('is damaged when any one bit differs', () => {
    const line = encodeHeader(header).subarray(0, -1);
    for (let bit = 0; bit < line.length * 8; bit += 1) {
      const flipped = Buffer.from(line);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodeLine(flipped).kind, `bit ${bit}`).toBe('damage');
    }
  });
});

describe('a line that is no single record', () => {
  const one = lineOf({ n: 1 }, 1);
  const two = lineOf({ n: 2 }, 2);

  it('gives both of two records that were joined', () => {
    expect(parts(one + two)).toEqual([
      [0, one.length, 'record'],
      [one.length, one.length + two.length, 'record'],
    ]);
  });

  it('gives the whole record behind a torn one, and the torn bytes as damage', () => {
    for (let cut = 1; cut < one.length; cut += 1) {
      expect(parts(one.slice(0, cut) + two), `${cut} bytes`).toEqual([
        [0, cut, 'damage'],
        [cut, cut + two.length, 'record'],
      ]);
    }
  });

  it('gives the records of another tool that were joined', () => {
    expect(parts('{"a":1}{"b":2}')).toEqual([
      [0, 7, 'record'],
      [7, 14, 'record'],
    ]);
  });

  it('never takes an object inside a damaged record for a record', () => {
    const line = lineOf({ list: [{ a: 1 }, { b: 2 }], inner: { c: 3 } }, 1);
    const broken = line.replace('"list"', '"lost"');
    expect(parts(broken)).toEqual([[0, broken.length, 'damage']]);
  });

  it('is given up after many candidates, not after a time that grows with their square', () => {
    const line = Buffer.from(`[${'{"'.repeat(200_000)}`);
    const start = performance.now();
    expect(decodeLineParts(line)).toHaveLength(1);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
