import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { compileSchema } from '../../src/core/schema-check.js';
import { openJsonDocument, parseChecked } from '../../src/storage/json-document.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { Documents } from '../../src/storage/ports.js';

interface Settings {
  names: string[];
  limit?: number;
}

const check = compileSchema({
  type: 'object',
  properties: {
    names: { type: 'array', items: { type: 'string' } },
    limit: { type: 'integer' },
    'a/b~': { type: 'integer' },
  },
  required: ['names'],
  additionalProperties: false,
});
const name = ['config', 'settings.json'];

async function documentsWith(content: string | Uint8Array): Promise<Documents> {
  const { documents } = new MemoryStorage();
  await documents.writeBytes(name, Buffer.from(content));
  return documents;
}

const open = (documents: Documents, initial: Settings = { names: [] }) =>
  openJsonDocument<Settings>(documents, { name, check, initial });

/** What reading it is refused with. */
async function refusalOf(
  content: string,
): Promise<{ readonly message: string; readonly details: JsonObject }> {
  const documents = await documentsWith(content);
  const thrown = await open(documents).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: 'DOCUMENT_DAMAGED', details: { name } });
  expect(Buffer.from((await documents.readBytes(name))!).toString()).toBe(content);
  return thrown as { readonly message: string; readonly details: JsonObject };
}

describe('a JSON document', () => {
  it('is its initial value while there is none, and a copy of it', async () => {
    const initial: Settings = { names: [] };
    const { documents } = new MemoryStorage();
    const document = await open(documents, initial);
    document.data.names.push('a');
    expect([initial, await documents.readBytes(name)]).toEqual([{ names: [] }, null]);
  });

  it('reads back what was written, changed by whoever', async () => {
    const { documents } = new MemoryStorage();
    const document = await open(documents);
    await document.update((data) => data.names.push('🙂', '\u2028'));
    expect((await open(documents)).data).toEqual({ names: ['🙂', '\u2028'] });
    await documents.write(name, { names: ['theirs'] });
    await document.read();
    expect(document.data).toEqual({ names: ['theirs'] });
  });

  it('is read with a byte-order mark, with CRLF and without an end of line', async () => {
    expect((await open(await documentsWith('\ufeff{\r\n  "names": ["a"]\r\n}'))).data).toEqual({
      names: ['a'],
    });
  });

  it('is not written when it does not fit its schema, and the old one stays', async () => {
    const { documents } = new MemoryStorage();
    const document = await open(documents);
    await document.update((data) => data.names.push('a'));
    document.data.names.push(7 as unknown as string);
    await expect(document.write()).rejects.toMatchObject({
      code: 'DOCUMENT_DAMAGED',
      details: { violations: [{ path: '/names/1', rule: 'type' }] },
    });
    expect((await documents.read(name))?.value).toEqual({ names: ['a'] });
  });

  it.each([
    ['nothing', '', 1, 1],
    ['a trailing comma', '{\n  "names": ["a",]\n}', 2, 17],
    ['an end too early', '{\n  "names": [', 2, 13],
    ['an error after a byte-order mark and CRLF', '\ufeff{\r\n  "names" []\r\n}', 2, 11],
  ])('that is not JSON for %s is refused with its place', async (_, content, line, column) => {
    const { message, details } = await refusalOf(content);
    expect(details).toMatchObject({ line, column, message: expect.any(String) });
    expect(message).toMatch(new RegExp(`^config/settings.json .*\\(line ${line}, column ${column}\\)`));
  });

  it('that does not fit its schema is refused with every violation and its place', async () => {
    const { details } = await refusalOf(
      '{\n  "names": [\n    "a",\n    1\n  ],\n  "a/b~": "x",\n  "more": 1\n}',
    );
    expect(details['violations']).toHaveLength(3);
    expect(details['violations']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: '/names/1', rule: 'type', line: 4, column: 5 }),
        expect.objectContaining({ path: '/a~1b~0', rule: 'type', line: 6, column: 11 }),
        expect.objectContaining({ path: '', rule: 'additionalProperties', line: 1, column: 1 }),
      ]),
    );
    expect(details).toMatchObject((details['violations'] as JsonObject[])[0]!);
  });

  it.each(['null', '1', '"text"', '[]', '{}'])('that is %s is refused at its start', async (content) => {
    expect((await refusalOf(content)).details).toMatchObject({ line: 1, column: 1 });
  });

  it('that is wrong and has a key twice is refused for the key', async () => {
    const { details } = await refusalOf('{"names": [1],\n"names": [2]}');
    expect(details).toMatchObject({ line: 2, column: 1, message: expect.stringContaining('second time') });
  });

  it.each([
    ['deep', `{"names": ${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['wide', `{"names": [${'"a",'.repeat(150_000)}"a"], "more": 1}`],
    ['deep and unended', '['.repeat(100_000)],
  ])('that is very %s is refused as any other', async (_, content) => {
    const { message } = await refusalOf(content);
    expect(message).not.toMatch(/stack/);
  });

  it('of bytes that are no UTF-8 is read with U+FFFD, or refused', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    await expect(parseChecked(name, bytes, check)).rejects.toMatchObject({
      code: 'DOCUMENT_DAMAGED',
      details: { line: 1, column: 2 },
    });
  });
});
