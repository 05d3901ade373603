import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import { tryParseJson } from '../../src/core/json.js';
import { parseJsonText } from '../../src/core/json-source.js';
import { runParameters } from '../property/seed.js';

async function placeOf(text: string, pointer: string): Promise<string> {
  const parsed = await parseJsonText(text);
  if (parsed.problem) return parsed.problem.message;
  const { line, column } = parsed.positionOf(pointer);
  return `${line}:${column}`;
}

async function problemOf(text: string): Promise<string> {
  const { problem } = await parseJsonText(text);
  return problem ? `${problem.line}:${problem.column} ${problem.message}` : 'none';
}

describe('a JSON text', () => {
  it.each([
    [
      'an object',
      '{\n  "a": 1,\n  "b": [\n    true\n  ]\n}',
      { '': '1:1', '/a': '2:8', '/b': '3:8', '/b/0': '4:5' },
    ],
    ['CRLF', '{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n', { '/a': '2:8', '/b': '3:8' }],
    ['lone CR', '{\r  "a": 1}', { '/a': '2:8' }],
    ['a byte-order mark', '\ufeff{"a":1}', { '': '1:1', '/a': '1:6' }],
    ['many bytes a character', '{"ä€": 1,\n"🙂": {"שלום": 2}}', { '/ä€': '1:8', '/🙂/שלום': '2:16' }],
    ['line separators in a text', '{"a": "\u2028\u2029", "b": 1}', { '/b': '1:18' }],
    [
      'escaped keys',
      '{"\\u0061\\n": {"a/b": 1, "~": 2, "": 3}}',
      { '/a\n/a~1b': '1:22', '/a\n/~0': '1:30', '/a\n/': '1:37' },
    ],
    [
      'keys as of a prototype',
      '{"__proto__": {"x": 1}, "constructor": 2}',
      { '/__proto__/x': '1:21', '/constructor': '1:40' },
    ],
    ['one value', '  "a"', { '': '1:3', '/0': '1:3' }],
  ])('with %s tells where each value stands', async (_, text, places) => {
    for (const [pointer, place] of Object.entries(places)) expect(await placeOf(text, pointer)).toBe(place);
  });

  it('tells the place of what holds it where a value is not there', async () => {
    const text = '{"a": [10, 20], "b": {}}';
    for (const pointer of ['/a/2', '/a/-', '/a/', '/a/01', '/a/1e0', '/a/ 1', '/a/0x1', '/a/-0', '/a/length'])
      expect(await placeOf(text, pointer)).toBe('1:7');
    expect(await placeOf(text, '/a/1/deeper')).toBe('1:12');
    for (const pointer of ['/b/toString', '/b/__proto__']) expect(await placeOf(text, pointer)).toBe('1:22');
    for (const pointer of ['/c', '/constructor']) expect(await placeOf(text, pointer)).toBe('1:1');
  });

  it.each([
    ['a comment', '{\n  // why\n}', /^2:3 /],
    ['a trailing comma', '{\n  "a": [1,]\n}', /^2:11 /],
    ['a trailing comma after a property', '{"a": 1,\n}', /^2:1 /],
    ['a missing comma', '{"a": 1\n"b": 2}', /^2:1 /],
    ['a missing colon', '{"a" 1}', /^1:6 /],
    ['an unknown word after CRLF', '{\r\n  "a": 1,\r\n  "b": nope\r\n}', /^3:8 /],
    ['an error after a byte-order mark', '\ufeff{"a" 1}', /^1:6 /],
    ['an error after many bytes a character', '{"🙂": nope}', /^1:8 /],
    ['a line break in a text', '{\n"a":"x\ny"}', /^2:7 .*control character/],
    ['a control character in a text', '{"a": "\u0001"}', /^1:8 .*control character/],
    ['a zero before a number', '[01]', /^1:[23] /],
    ['a wrong escape', '["\\x41"]', /^1:\d /],
    ['a second value', '{} {}', /^1:4 /],
    ['a second byte-order mark', '\ufeff\ufeff{}', /^1:1 /],
    ['single quotes', "{'a': 1}", /^1:2 /],
    ['NaN', '[NaN]', /^1:2 /],
    ['Infinity', '[-Infinity]', /^1:\d /],
    ['a no-break space', '[\u00a01]', /^1:2 /],
  ])('with %s is refused, with the place', async (_, text, problem) => {
    expect(await problemOf(text)).toMatch(problem);
    expect(await problemOf(text)).not.toMatch(/position \d|\(\d+:\d+\)/);
  });

  it.each([
    ['', '1:1'],
    [' \n ', '2:2'],
    ['{\n  "a": [', '2:9'],
    ['[1,\r\n2', '2:2'],
    ['[1,\r2,', '2:3'],
    ['{\n"a"', '2:4'],
    ['{\n"🙂":', '2:6'],
    ['{"a": {"b": 1}', '1:15'],
    ['["abc', '1:6'],
    ['["abc\\', '1:7'],
    ['["\\u12', '1:7'],
    ['[-', '1:3'],
    ['[1e', '1:4'],
    ['[tru', '1:5'],
    ['\ufeff[', '1:2'],
  ])('that ends too early as %j is refused at its end', async (text, place) => {
    expect(await problemOf(text)).toBe(`${place} The text ends too early.`);
  });

  it('with a key that stands twice is refused at the second place', async () => {
    expect(await problemOf('{\n  "a": 1,\n  "b": 2,\n  "a": 3\n}')).toBe(
      '4:3 The key "a" stands here a second time.',
    );
    expect(await problemOf('{"x": [{"a": 1, "\\u0061": 2}]}')).toMatch(/^1:17 /);
    expect(await problemOf('{"__proto__": 1, "__proto__": 2}')).toMatch(/^1:18 /);
    expect(await problemOf('[{"a": 1}, {"a": 1}]')).toBe('none');
    expect(await problemOf('{"a": {"a": 1}, "A": 1}')).toBe('none');
  });

  it('with several keys twice is refused at the first such place', async () => {
    expect(await problemOf('{"z": {"q": 1, "q": 2},\n"a": [{"b": 1, "b": 2}], "a": 2}')).toMatch(/^1:16 /);
    expect(await problemOf('{"a": 1, "b": {"c": 1, "c": 2}, "a": 2}')).toMatch(/^1:24 /);
  });

  it.each([
    ['lists', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['lists that do not end', '['.repeat(200_000)],
  ])('of %s nested very deep gives a value or a problem', async (_, text) => {
    const parsed = await parseJsonText(text);
    if (parsed.problem === null) expect(parsed.positionOf('/0').line).toBe(1);
    else expect(parsed.problem.message).not.toMatch(/stack/);
  });

  it('of a list or an object with very many parts is read', async () => {
    const list = `[${'0,'.repeat(150_000)}1]`;
    expect(await placeOf(list, '/150000')).toBe('1:300002');
    const object = `{${Array.from({ length: 5_000 }, (_, n) => `"${n}":0`).join(',\n')}}`;
    expect(await placeOf(object, '/4999')).toBe('5000:8');
  });

  it('is read as JSON.parse reads it, or refused where that refuses, for any text', async () => {
    const json = fc.json({ stringUnit: 'binary', maxDepth: 4 });
    const broken = fc
      .tuple(
        json,
        fc.nat(),
        fc.constantFrom('', ',', ']', '}', '"', '\\', '\n', '\u0000', '0', '-', '\ufeff', '\ud83d'),
      )
      .map(
        ([text, at, put]) =>
          text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1),
      );
    await fc.assert(
      fc.asyncProperty(fc.oneof(json, broken, fc.string()), async (text) => {
        const expected = tryParseJson(text.replace(/^\ufeff/, ''));
        const { value, problem } = await parseJsonText(text);
        if (problem?.message.includes('a second time')) return;
        expect(problem === null).toBe(expected !== undefined);
        if (problem === null) {
          expect(canonicalJson(value)).toBe(canonicalJson(expected!));
          return;
        }
        expect(problem.line).toBeGreaterThan(0);
        expect(problem.column).toBeGreaterThan(0);
        expect(problem.line).toBeLessThanOrEqual(text.split(/\r\n|\r|\n/).length);
      }),
      runParameters('a JSON text', 300),
    );
  });
});
