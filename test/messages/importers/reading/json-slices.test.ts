import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonValue } from '../../../../src/core/json.js';
import { parseJsonKeepingDigits } from '../../../../src/core/json-digits.js';
import {
  type JsonPath,
  type JsonSlice,
  type SliceChoice,
  sliceJson,
} from '../../../../src/messages/importers/reading/json-slices.js';
import { sourceOf } from '../../../../src/messages/importers/source.js';
import { runParameters } from '../../../property/seed.js';
import { jsonValue } from '../../arbitraries.js';

async function slicesOf(
  text: string,
  choose: (path: JsonPath) => SliceChoice,
  chunkBytes = 7,
  bytesMax?: number,
): Promise<JsonSlice[]> {
  const slices: JsonSlice[] = [];
  for await (const slice of sliceJson(sourceOf(text, 'text', chunkBytes).chunks(), choose, bytesMax))
    slices.push(slice);
  return slices;
}

/** Every scalar of a value with its path, as a walk over the parsed value gives them. */
function scalarsOf(value: JsonValue, path: (string | number)[] = []): [JsonPath, JsonValue][] {
  if (Array.isArray(value)) return value.flatMap((item, index) => scalarsOf(item, [...path, index]));
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, item]) => scalarsOf(item, [...path, key]));
  return [[path, value]];
}

/** As the reader gives it: integers that a number cannot hold are texts. */
const exact = (value: JsonValue) => parseJsonKeepingDigits(JSON.stringify(value));

const spacing = fc.constantFrom(undefined, 1, '\t');
const chunks = fc.constantFrom(1, 2, 3, 16, 1000);

describe('sliceJson', () => {
  it('takes a whole document as the parser does, wherever the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(jsonValue, spacing, chunks, async (value, space, size) => {
        const text = JSON.stringify(value, null, space);
        const [slice] = await slicesOf(text, () => 'take', size);
        expect(slice?.value).toStrictEqual(parseJsonKeepingDigits(text));
      }),
      runParameters('slices, whole', 300),
    );
  });

  it('gives every scalar with its path when everything is entered', async () => {
    await fc.assert(
      fc.asyncProperty(jsonValue.map(exact), spacing, chunks, async (value, space, size) => {
        const found = await slicesOf(JSON.stringify(value, null, space), () => 'enter', size);
        expect(found.map(({ path, value: scalar }) => [path, scalar])).toStrictEqual(scalarsOf(value));
      }),
      runParameters('slices, scalars', 300),
    );
  });

  it('passes over what is not wanted, wherever the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(jsonValue.map(exact), jsonValue.map(exact), chunks, async (skipped, wanted, size) => {
        const text = JSON.stringify({ skipped, wanted, last: [skipped, wanted] });
        const choose = (path: JsonPath): SliceChoice => {
          if (path.length === 0 || (path.length === 1 && path[0] === 'last')) return 'enter';
          return path[0] === 'skipped' || path[1] === 0 ? 'skip' : 'take';
        };
        const values = (await slicesOf(text, choose, size)).map(({ value }) => value);
        expect(values).toStrictEqual([wanted, wanted]);
      }),
      runParameters('slices, skipped', 300),
    );
  });

  it('leaves a list or an object, and goes on behind it, wherever the chunks are cut', async () => {
    const values = fc.array(jsonValue.map(exact), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        values,
        values,
        jsonValue.map(exact),
        spacing,
        chunks,
        async (kept, left, after, space, size) => {
          const list = JSON.stringify({ list: [...kept, ...left], after }, null, space);
          const fromList = await slicesOf(
            list,
            (path) =>
              path.length === 0 || (path.length === 1 && path[0] === 'list')
                ? 'enter'
                : typeof path[1] === 'number' && path[1] >= kept.length
                  ? 'leave'
                  : 'take',
            size,
          );
          expect(fromList.map(({ value }) => value)).toStrictEqual([...kept, after]);
          const fields = Object.fromEntries(left.map((value, index) => [`k${index}`, value]));
          const object = JSON.stringify({ object: { first: kept[0], ...fields }, after }, null, space);
          const fromObject = await slicesOf(
            object,
            (path) =>
              path.length === 0 || (path.length === 1 && path[0] === 'object')
                ? 'enter'
                : path[0] === 'after' || path[1] === 'first'
                  ? 'take'
                  : 'leave',
            size,
          );
          expect(fromObject.map(({ value }) => value)).toStrictEqual([kept[0], after]);
        },
      ),
      runParameters('json-slices-leave', 200),
    );
  });

  it('says where each value begins', async () => {
    const text = '{"a": 1, "b": [true]}';
    const found = await slicesOf(text, () => 'enter');
    expect(found.map(({ start }) => text.slice(start, start + 1))).toStrictEqual(['1', 't']);
  });

  it('passes over a byte order mark and keeps the digits of large integers', async () => {
    const [slice] = await slicesOf('\uFEFF [9007199254740993]', () => 'take');
    expect(slice?.value).toStrictEqual(['9007199254740993']);
  });

  it.each(['{"a": [1, 2', '{"a": "text', '[1, 2]]', '{"a" 1}', '{"a": nope}'])(
    'refuses %s with the place',
    async (text) => {
      await expect(slicesOf(text, (path) => (path.length === 0 ? 'enter' : 'take'))).rejects.toMatchObject({
        code: 'TRANSCRIPT_INVALID',
        details: { offset: expect.any(Number) },
      });
    },
  );

  it('refuses a value that is too large to hold', async () => {
    await expect(slicesOf(`["${'x'.repeat(5_000)}"]`, () => 'take', 100, 1_000)).rejects.toMatchObject({
      code: 'TRANSCRIPT_INVALID',
      details: { problem: 'too large' },
    });
  });
});
