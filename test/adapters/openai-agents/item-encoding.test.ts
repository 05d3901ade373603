import { describe, expect, it } from 'vitest';
import { decodeItem, encodeItem, encodeItems } from '../../../src/adapters/openai-agents/item-encoding.js';
import { JSON_DEPTH_MAX } from '../../../src/core/limits.js';

/** Through the text that storage keeps. */
function stored(item: object): unknown {
  return decodeItem(JSON.parse(JSON.stringify(encodeItem(item, 'item'))));
}

describe('the items of a session', () => {
  it('come back as they were', () => {
    const items = [
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'Grüße \u0000\ud800 \u{1f600}' }],
      },
      {
        type: 'function_call',
        callId: 'c',
        name: 'f',
        arguments: '{"a":1}',
        providerData: { deep: [[null]] },
      },
      { numbers: [0, -1.5, 1e300, 5e-324], empty: {}, none: [] },
    ];
    for (const item of items) expect(stored(item)).toEqual(item);
  });

  it('keep bytes', () => {
    const data = Uint8Array.from([0, 255, 128, 1]).subarray(1);
    expect(stored({ output: { type: 'file', file: { data } } })).toEqual({
      output: { type: 'file', file: { data: Uint8Array.from([255, 128, 1]) } },
    });
  });

  it('keep what looks like the form of bytes, and what looks like the mark for that', () => {
    const bytes = { $bytes: 'AAAA' };
    for (const value of [
      bytes,
      { $bytes: 1 },
      { $plain: bytes },
      { $plain: { $plain: 1 } },
      { ...bytes, a: 1 },
    ])
      expect(stored({ value, list: [value] })).toEqual({ value, list: [value] });
    expect(stored(bytes)).toEqual(bytes);
    expect(stored({ value: { ...bytes, gone: undefined } })).toEqual({ value: bytes });
  });

  it('keep a key that is named as a prototype', () => {
    const item: unknown = JSON.parse('{"__proto__":{"a":1}}');
    expect(JSON.stringify(stored(item as object))).toBe('{"__proto__":{"a":1}}');
  });

  it('leave out what is undefined', () => {
    expect(Object.keys(stored({ id: undefined, role: 'user' }) as object)).toEqual(['role']);
  });

  it('are refused where JSON has no form for them, with the place', () => {
    const refusals: [unknown, string][] = [
      [Number.NaN, 'NaN'],
      [10n, 'bigint'],
      [() => 1, 'function'],
      [new Date(0), 'Date'],
      [new Map(), 'Map'],
      [new Float32Array(1), 'Float32Array'],
      [[undefined], 'undefined'],
    ];
    for (const [value, kind] of refusals) {
      const problem = expect.stringContaining(kind);
      expect(() => encodeItems([{}, { content: value }], 'items')).toThrow(
        expect.objectContaining({
          code: 'INVALID_ARGUMENT',
          details: { argument: expect.stringContaining('items[1].content'), problem },
        }),
      );
    }
  });

  it('are refused where they are no objects, never end, or are nested too deep', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    let deep: unknown = 1;
    for (let level = 0; level <= JSON_DEPTH_MAX; level += 1) deep = [deep];
    for (const items of ['text', null, ['text'], [null], [[]], [cycle], [{ deep }]])
      expect(() => encodeItems(items, 'items')).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      );
  });
});
