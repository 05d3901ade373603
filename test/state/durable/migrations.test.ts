import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { migrateDocuments } from '../../../src/state/durable/migrate-documents.js';
import {
  defineState,
  type Migration,
  type StateDefinition,
} from '../../../src/state/durable/state-definition.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { errorOf, Place } from './state-kit.js';

function schemaOf(version: number, list: string): JsonObject {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['schema_version', list],
    properties: { schema_version: { const: version }, [list]: { type: 'array', items: { type: 'string' } } },
  };
}

/** The seed's exercise: version 2 calls `blockers` `risks`; and version 3, one more. */
const rename = (from: number, old: string, name: string): Migration => ({
  from,
  schema: schemaOf(from, old),
  migrate: ({ [old]: value, ...rest }) => ({ ...rest, [name]: value! }),
});
const v1: StateDefinition = {
  name: 'notes',
  schema: schemaOf(1, 'blockers'),
  initial: { schema_version: 1, blockers: ['no key'] },
};
const v2: StateDefinition = {
  ...v1,
  schema: schemaOf(2, 'risks'),
  migrations: [rename(1, 'blockers', 'risks')],
  initial: undefined,
};
const v3: StateDefinition = {
  ...v2,
  schema: schemaOf(3, 'dangers'),
  migrations: [...v2.migrations!, rename(2, 'risks', 'dangers')],
};

async function atVersion1(place: Place, name = 'notes'): Promise<void> {
  await (await StateManager.open({ ...v1, name, backend: place.storage })).close();
}

const open = (place: Place, definition: StateDefinition) =>
  StateManager.open({ ...definition, backend: place.storage });

describe('a document of an older version', () => {
  it('is brought forward step by step when it is opened, as an event', async () => {
    const place = await Place.make();
    await atVersion1(place);
    const state = await open(place, v3);
    expect(await state.load()).toMatchObject({
      value: { schema_version: 3, dangers: ['no key'] },
      event: 'migrated',
      version: 2,
    });
    expect(await place.json('notes.json')).toEqual({ schema_version: 3, dangers: ['no key'] });
    expect((await state.at(1))?.value).toEqual({ schema_version: 1, blockers: ['no key'] });
    await state.close();
  });

  it('leaves a backup of what it was', async () => {
    const place = await Place.make();
    await atVersion1(place);
    const text = await place.text('notes.json');
    await (await open(place, v2)).close();
    const [backup = ''] = await fs.readdir(place.file('backups'));
    expect(backup).toMatch(/^notes\.v1-[0-9a-f]{8}\.json$/);
    expect(await place.text(`backups/${backup}`)).toBe(text);
  });

  it('is brought forward once: opening again changes nothing', async () => {
    const place = await Place.make();
    await atVersion1(place);
    await (await open(place, v2)).close();
    const again = await open(place, v2);
    expect((await again.load()).version).toBe(2);
    await again.close();
  });

  it('without a journal is taken over first, so that nothing of it is lost', async () => {
    const place = await Place.make();
    await place.put('{"schema_version":1,"blockers":["by hand"]}', 'notes.json');
    const state = await open(place, v2);
    expect((await state.load()).value).toEqual({ schema_version: 2, risks: ['by hand'] });
    expect((await state.at(1))?.value).toEqual({ schema_version: 1, blockers: ['by hand'] });
    await state.close();
  });

  it('that a person puts back is brought forward and adopted', async () => {
    const place = await Place.make();
    await atVersion1(place);
    const state = await open(place, v2);
    await place.put('{"schema_version":1,"blockers":["old one"]}', 'notes.json');
    expect(await state.load()).toMatchObject({
      by: 'human',
      value: { schema_version: 2, risks: ['old one'] },
    });
    await state.close();
  });

  it.each<[string, Migration['migrate'], RegExp]>([
    [
      'throws',
      () => {
        throw new TypeError('no such field');
      },
      /no such field/,
    ],
    ['returns nothing', () => undefined as unknown as JsonObject, /returned no object/],
    ['makes something that is refused', () => ({ risks: 'none' }), /refused/],
  ])('stays as it is when its migration %s', async (_, migrate, why) => {
    const place = await Place.make();
    await atVersion1(place);
    const text = await place.text('notes.json');
    const error = await errorOf(open(place, { ...v2, migrations: [{ from: 1, migrate }] }));
    expect(error).toMatchObject({ code: 'MIGRATION_FAILED', details: { name: 'notes', from: 1, to: 2 } });
    expect(error.message).toMatch(why);
    expect(await place.text('notes.json')).toBe(text);
    const fixed = await open(place, v2);
    expect((await fixed.load()).value).toEqual({ schema_version: 2, risks: ['no key'] });
    await fixed.close();
  });

  it('that is older than every migration is refused, and stays', async () => {
    const place = await Place.make();
    await atVersion1(place);
    const error = await errorOf(open(place, { ...v3, migrations: [rename(2, 'risks', 'dangers')] }));
    expect(error).toMatchObject({ code: 'UNSUPPORTED_VERSION', details: { given: '1', known: [2, 3] } });
  });

  it('a migration gets a copy and cannot change the old value', async () => {
    const place = await Place.make();
    await atVersion1(place);
    const migrate: Migration['migrate'] = (old) => {
      (old['blockers'] as string[]).push('spoilt');
      return { risks: [] };
    };
    const state = await open(place, { ...v2, migrations: [{ from: 1, migrate }] });
    expect((await state.at(1))?.value).toEqual(v1.initial);
    await state.close();
  });
});

describe('a newer document', () => {
  it('is refused by an older program, whose bytes it keeps', async () => {
    const place = await Place.make();
    await atVersion1(place);
    await (await open(place, v2)).close();
    const [file, journal] = [await place.text('notes.json'), await place.text('notes.events.jsonl')];
    expect((await errorOf(open(place, v1))).code).toBe('UNSUPPORTED_VERSION');
    expect([await place.text('notes.json'), await place.text('notes.events.jsonl')]).toEqual([file, journal]);
  });
});

describe('migrateDocuments', () => {
  it('says in a dry run what would change, and writes nothing', async () => {
    const place = await Place.make();
    await atVersion1(place);
    const before = await fs.readdir(place.file('.'));
    const results = await migrateDocuments(place.storage, [v3], { dryRun: true });
    expect(results).toMatchObject([{ name: 'notes', status: 'would-migrate', from: 1, to: 3 }]);
    expect(results[0]!.changes).toContainEqual({ op: 'add', path: '/dangers', value: ['no key'] });
    expect(results[0]!.changes).toContainEqual({ op: 'remove', path: '/blockers' });
    expect(await fs.readdir(place.file('.'))).toEqual(before);
    expect((await place.json('notes.json'))['schema_version']).toBe(1);
  });

  it('stops at the version that is asked for, and goes on from there', async () => {
    const place = await Place.make();
    await atVersion1(place);
    expect(await migrateDocuments(place.storage, [v3], { to: 2 })).toMatchObject([
      { status: 'migrated', from: 1, to: 2 },
    ]);
    expect(await place.json('notes.json')).toEqual({ schema_version: 2, risks: ['no key'] });
    expect(await migrateDocuments(place.storage, [v3])).toMatchObject([
      { status: 'migrated', from: 2, to: 3 },
    ]);
    expect(await migrateDocuments(place.storage, [v3])).toMatchObject([
      { status: 'current', from: 3, to: 3 },
    ]);
    expect(await migrateDocuments(place.storage, [v3], { to: 2 })).toMatchObject([
      { status: 'newer', from: 3 },
    ]);
  });

  it('puts one that fails into quarantine with the reason, and goes on with the others', async () => {
    const place = await Place.make();
    await place.put('{"schema_version":1,"blockers":7}', 'notes.a.json');
    await atVersion1(place, 'notes.b');
    await place.put('{"schema_version":1,', 'notes.c.json');
    await place.put('{"x":1}', 'strange.json');
    const results = await migrateDocuments(place.storage, [v2]);
    expect(results.map(({ name, status }) => [name, status])).toEqual([
      ['notes.a', 'quarantined'],
      ['notes.b', 'migrated'],
      ['notes.c', 'quarantined'],
      ['strange', 'unknown'],
    ]);
    expect(await place.text(results[0]!.quarantine!)).toBe('{"schema_version":1,"blockers":7}');
    expect(await place.text('quarantine/notes.a.1.reason.json')).toContain('/blockers must be array');
    expect(await place.text(results[2]!.quarantine!)).toBe('{"schema_version":1,');
    expect(await place.text('strange.json')).toBe('{"x":1}');
    expect(await migrateDocuments(place.storage, [v2])).toMatchObject([
      { name: 'notes.b', status: 'current' },
      { name: 'strange' },
    ]);
  });

  it('leaves a document alone whose file holds an edit that is refused, and says so each time', async () => {
    const place = await Place.make();
    await atVersion1(place);
    await place.put('{"schema_version":1,"blockers":7}', 'notes.json');
    for (let n = 0; n < 2; n += 1) {
      const [result] = await migrateDocuments(place.storage, [v2]);
      expect(result).toMatchObject({ status: 'refused', from: 1, error: { code: 'HUMAN_EDIT' } });
    }
    expect(await place.text('notes.json')).toBe('{"schema_version":1,"blockers":7}');
  });

  it('takes what a person mended by hand where the migration cannot do it', async () => {
    const place = await Place.make();
    await atVersion1(place);
    await place.put('{"schema_version":2,"risks":["by hand"]}', 'notes.json');
    const failing = { ...v2, migrations: [{ from: 1, migrate: () => ({ risks: 7 }) }] };
    expect(await migrateDocuments(place.storage, [failing])).toMatchObject([
      { status: 'migrated', quarantine: null },
    ]);
    expect(await place.json('notes.json')).toEqual({ schema_version: 2, risks: ['by hand'] });
  });

  it('refuses a version whose schema is not declared, and writes nothing', async () => {
    const place = await Place.make();
    await atVersion1(place);
    const bare = { ...v3, migrations: v3.migrations!.map(({ schema: _, ...step }) => step) };
    expect((await errorOf(migrateDocuments(place.storage, [bare], { to: 2 }))).code).toBe('INVALID_ARGUMENT');
    expect((await place.json('notes.json'))['schema_version']).toBe(1);
  });
});

describe('a definition', () => {
  it.each([
    ['has no schema_version', { name: 'x', schema: { type: 'object' } }],
    ['does not require it', { name: 'x', schema: { properties: { schema_version: { const: 1 } } } }],
    [
      'has true as its version',
      {
        name: 'x',
        schema: { required: ['schema_version'], properties: { schema_version: { const: true } } },
      },
    ],
    [
      'has no schema',
      {
        name: 'x',
        schema: {
          required: ['schema_version'],
          properties: { schema_version: { const: 1 }, a: { type: 'odd' } },
        },
      },
    ],
    ['has a gap in its migrations', { ...v3, migrations: [rename(1, 'blockers', 'risks')] }],
    [
      'has a migration with the schema of another version',
      { ...v2, migrations: [{ ...rename(1, 'a', 'b'), schema: schemaOf(5, 'a') }] },
    ],
  ])('that %s is refused', (_, definition) => {
    expect(() => defineState(definition as StateDefinition)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });
});
