/** Documents as values, read without their schemas and begun in another folder. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import {
  beginDocuments,
  type CopiedDocuments,
  readDocuments,
} from '../../src/state/durable/copy-documents.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { counter } from './durable/counter.js';
import { errorOf, Place } from './durable/state-kit.js';

const FROM = ['state'];
const TO = ['agents', 'ada', 'state'];

/** Changes the counter, or only looks; as a program with its own schema does. */
async function count(place: Place, folder: readonly string[], to?: number) {
  const state = await StateManager.open({ ...counter, backend: place.storage, folder });
  try {
    if (to !== undefined) await state.update((draft) => void (draft.count = to));
    return await state.load();
  } finally {
    await state.close();
  }
}

async function filesOf(place: Place): Promise<Map<string, string>> {
  const entries = await fs.readdir(place.root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/lease/.test(entry.parentPath));
  const read = async (file: string) => [path.relative(place.root, file), await fs.readFile(file, 'utf8')];
  const found = files.map((entry) => read(path.join(entry.parentPath, entry.name)));
  return new Map((await Promise.all(found)) as [string, string][]);
}

/** Without attachments. */
function copied(values: { readonly [name: string]: JsonObject }): CopiedDocuments {
  return { values, attachments: new Map() };
}

describe('reading the documents of a folder', () => {
  it('gives the newest version of each, by name, and writes nothing', async () => {
    const place = await Place.make();
    await count(place, FROM, 3);
    const state = await place.agentState();
    const { value } = await state.update((draft) => void (draft.next_action = 'Look.'));
    const before = await filesOf(place);
    expect((await readDocuments(place.storage, FROM)).values).toEqual({
      agent_state: value,
      counter: { schema_version: 1, count: 3 },
    });
    expect(await filesOf(place)).toEqual(before);
  });

  it('gives none for a folder that is not there, and does not make it', async () => {
    const place = await Place.make();
    expect((await readDocuments(place.storage, FROM)).values).toEqual({});
    expect(await fs.readdir(place.root)).toEqual([]);
  });

  it("leaves out what has no journal, and a person's edit that nobody adopted", async () => {
    const place = await Place.make();
    await count(place, FROM, 3);
    await place.put('{ "schema_version": 1, "count": 4 }\n', 'counter.json');
    await place.put('{ "schema_version": 1 }\n', 'notes.json');
    expect((await readDocuments(place.storage, FROM)).values).toEqual({
      counter: { schema_version: 1, count: 3 },
    });
  });

  it('rejects with JOURNAL_DAMAGED where the newest version cannot be told', async () => {
    const place = await Place.make();
    for (const to of [1, 2, 3]) await count(place, FROM, to);
    const file = place.file('counter.events.jsonl');
    const text = await fs.readFile(file, 'utf8');
    await fs.writeFile(file, text.replaceAll('"version":', '"fersion":'));
    expect((await errorOf(readDocuments(place.storage, FROM))).code).toBe('JOURNAL_DAMAGED');
  });

  it('does not pass an older version off as the newest, where the newest is damaged', async () => {
    const place = await Place.make();
    for (const to of [1, 2, 3]) await count(place, FROM, to);
    const file = place.file('counter.events.jsonl');
    const lines = (await fs.readFile(file, 'utf8')).split('\n');
    lines.splice(-2, 1, lines.at(-2)!.replace('"version":', '"fersion":'));
    await fs.writeFile(file, lines.join('\n'));
    const read = await readDocuments(place.storage, FROM).catch((error: { code: string }) => error.code);
    expect([{ counter: { schema_version: 1, count: 3 } }, 'JOURNAL_DAMAGED']).toContainEqual(read);
    expect(await count(place, FROM)).toMatchObject({ value: { count: 3 } });
  });
});

describe('beginning documents', () => {
  it('gives a program with their schema the same values, at their first version', async () => {
    const place = await Place.make();
    await count(place, FROM, 3);
    await beginDocuments(place.storage, TO, await readDocuments(place.storage, FROM));
    expect(await count(place, TO)).toMatchObject({ version: 1, value: { count: 3 } });
    expect(await count(place, TO, 4)).toMatchObject({ version: 2, value: { count: 4 } });
    expect(await count(place, FROM)).toMatchObject({ value: { count: 3 } });
  });

  it('keeps the value exactly, with what the smallest schema does not name', async () => {
    const place = await Place.make();
    const odd: JsonObject = { schema_version: 7, deep: { list: [1.5, null, '\u2028', []] }, '': false };
    await beginDocuments(place.storage, TO, copied({ odd, 'odd.alone': odd }));
    expect((await readDocuments(place.storage, TO)).values).toEqual({ odd, 'odd.alone': odd });
  });

  it('changes nothing when they are there with the same values', async () => {
    const place = await Place.make();
    const values = { counter: { schema_version: 1, count: 3 } };
    await beginDocuments(place.storage, TO, copied(values));
    const before = await filesOf(place);
    await beginDocuments(place.storage, TO, copied(values));
    expect(await filesOf(place)).toEqual(before);
  });

  it('refuses one that is there with another value, and leaves it as it is', async () => {
    const place = await Place.make();
    await count(place, TO, 1);
    const before = await filesOf(place);
    const error = await errorOf(
      beginDocuments(place.storage, TO, copied({ counter: { schema_version: 1, count: 3 } })),
    );
    expect(error).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { name: 'agents/ada/state/counter' },
    });
    expect(await filesOf(place)).toEqual(before);
  });

  it('refuses a value that is no document, before anything is written', async () => {
    const place = await Place.make();
    const values = { counter: { schema_version: 1, count: 3 }, notes: { text: 'none' } };
    const error = await errorOf(beginDocuments(place.storage, TO, copied(values)));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', details: { name: 'notes' } });
    expect(await fs.readdir(place.root)).toEqual([]);
  });
});
