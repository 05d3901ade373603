import { describe, expect, it } from 'vitest';
import { LossAccount } from '../../../../src/messages/importers/loss-account.js';
import { readJsonLines } from '../../../../src/messages/importers/reading/json-lines.js';
import { sourceOf } from '../../../../src/messages/importers/source.js';

async function linesOf(text: string, chunkBytes = 5) {
  const losses = new LossAccount();
  const lines: { value: unknown; line: number; text: string }[] = [];
  const bytes = Buffer.from(text);
  for await (const { value, line, start, end } of readJsonLines(
    sourceOf(text, 'text', chunkBytes).chunks(),
    losses,
  ))
    lines.push({ value, line, text: bytes.toString('utf8', start, end) });
  return { lines, dropped: losses.report().dropped };
}

describe('readJsonLines', () => {
  it('reads one object a line, with the range of its bytes, wherever the chunks are cut', async () => {
    for (const size of [1, 3, 1000]) {
      const { lines } = await linesOf('{"a":"ä"}\n{"b":2}', size);
      expect(lines).toStrictEqual([
        { value: { a: 'ä' }, line: 1, text: '{"a":"ä"}' },
        { value: { b: 2 }, line: 2, text: '{"b":2}' },
      ]);
    }
  });

  it('reads two records that were joined on one line', async () => {
    const { lines, dropped } = await linesOf('{"a":{"x":"}{"}}{"b":2}\n');
    expect(lines.map(({ value, line }) => [value, line])).toStrictEqual([
      [{ a: { x: '}{' } }, 1],
      [{ b: 2 }, 1],
    ]);
    expect(dropped).toStrictEqual([]);
  });

  it('ends a line at 0x0A only, and passes over a byte order mark, carriage returns and empty lines', async () => {
    const { lines } = await linesOf('\uFEFF{"a":"x\u2028y"}\r\n\r\n{"b":2}\r\n');
    expect(lines.map(({ value }) => value)).toStrictEqual([{ a: 'x\u2028y' }, { b: 2 }]);
  });

  it('tells the place of what is no JSON object and goes on', async () => {
    const { lines, dropped } = await linesOf('{"a":1}\n{"torn": "te\n[1]\n{"b":2}\n');
    expect(lines.map(({ value }) => value)).toStrictEqual([{ a: 1 }, { b: 2 }]);
    expect(dropped.flatMap(({ places }) => places)).toStrictEqual(['line 2', 'line 3']);
  });

  it('takes no object out of the middle of a torn record', async () => {
    const { lines } = await linesOf('{"message": "cut {"a":1}\n');
    expect(lines).toStrictEqual([]);
  });
});
