/** `StateManager.patch`: a merge patch on the newest value, at any place. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { defineState } from '../../../src/state/durable/state-definition.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { errorOf } from './state-kit.js';

/** Takes anything next to its version. */
const open = defineState({
  name: 'open',
  schema: { type: 'object', required: ['schema_version'], properties: { schema_version: { const: 1 } } },
  initial: { schema_version: 1, list: [{ id: 1, on: true }, { id: 2 }], deep: { a: 1, b: { c: 2 } } },
});

async function manager(backend = new MemoryStorage()): Promise<StateManager<JsonObject>> {
  const opened = new StateManager<JsonObject>({ ...open, backend });
  onTestFinished(() => opened.close());
  await opened.load();
  return opened;
}

describe('a patch of a document', () => {
  it('merges objects, replaces lists and removes members given as null', async () => {
    const document = await manager();
    const { value, version, by, why } = await document.patch(
      { deep: { a: null, b: { d: 3 } }, list: [7] },
      { by: 'builder', why: 'tidy' },
    );
    expect(value).toEqual({ schema_version: 1, list: [7], deep: { b: { c: 2, d: 3 } } });
    expect({ version, by, why }).toEqual({ version: 2, by: 'builder', why: 'tidy' });
  });

  it('changes one item of a list, or adds one, at a pointer', async () => {
    const document = await manager();
    await document.patch({ on: null, note: 'x' }, { pointer: '/list/0' });
    const { value } = await document.patch({ id: 3 }, { pointer: '/list/-' });
    expect(value['list']).toEqual([{ id: 1, note: 'x' }, { id: 2 }, { id: 3 }]);
  });

  it('adds a member at a pointer whose parent is there', async () => {
    const document = await manager();
    const { value } = await document.patch('new', { pointer: '/deep/x~1y' });
    expect(value['deep']).toEqual({ a: 1, b: { c: 2 }, 'x/y': 'new' });
  });

  it.each(['list', '/list/2', '/list/-/id', '/none/x', '/deep/a/x'])(
    'is refused at %j, which is no place',
    async (pointer) => {
      const document = await manager();
      const thrown = await errorOf(document.patch({ a: 1 }, { pointer }));
      expect(thrown).toMatchObject({ code: 'INVALID_ARGUMENT', details: { argument: 'pointer' } });
      expect((await document.load()).version).toBe(1);
    },
  );

  it('writes nothing when it is applied again', async () => {
    const document = await manager();
    const first = await document.patch({ deep: { a: 2 } });
    expect((await document.patch({ deep: { a: 2 } })).version).toBe(first.version);
  });

  it('is refused with the current version when another was expected', async () => {
    const document = await manager();
    await document.patch({ a: 1 });
    const thrown = await errorOf(document.patch({ a: 2 }, { ifVersion: 1 }));
    expect(thrown).toMatchObject({
      code: 'DOCUMENT_CONFLICT',
      details: { name: 'open', currentVersion: 2, ifVersion: 1 },
    });
    expect((await document.patch({ a: 2 }, { ifVersion: 2 })).value['a']).toBe(2);
  });

  it('keeps a member named __proto__ as data, and reaches no prototype', async () => {
    const backend = new MemoryStorage();
    const document = await manager(backend);
    const hostile = JSON.parse('{"deep": {"__proto__": {"polluted": true}}, "__proto__": {"polluted": 1}}');
    await document.patch(hostile as JsonObject);
    await document.patch({ polluted: 2 }, { pointer: '/deep/__proto__' });
    const { value } = await (await manager(backend)).load();
    expect(JSON.stringify(value)).toContain('"deep":{"a":1,"b":{"c":2},"__proto__":{"polluted":2}}');
    expect(({} as JsonObject)['polluted']).toBeUndefined();
    await document.patch(JSON.parse('{"__proto__": null}') as JsonObject);
    expect(Object.keys((await document.load()).value)).not.toContain('__proto__');
  });

  it('cannot reach what a document only inherits', async () => {
    const document = await manager();
    for (const pointer of ['/constructor/prototype', '/deep/toString/x'])
      expect((await errorOf(document.patch({ a: 1 }, { pointer }))).code).toBe('INVALID_ARGUMENT');
  });

  it('is refused if it is not plain JSON, or leads to a document that is too large', async () => {
    const document = await manager();
    const cycle: JsonObject = {};
    cycle['self'] = cycle;
    expect((await errorOf(document.patch(cycle))).code).toBe('INVALID_ARGUMENT');
    expect((await errorOf(document.patch({ text: 'x'.repeat(70_000) }))).code).toBe('STATE_TOO_LARGE');
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t${n}`, 'x'.repeat(60_000)]));
    expect((await errorOf(document.patch(many))).code).toBe('STATE_TOO_LARGE');
    expect((await errorOf(document.patch(null))).code).toBe('STATE_INVALID');
    expect((await document.load()).version).toBe(1);
  });

  it('loses nothing of patches by two managers at once', async () => {
    const backend = new MemoryStorage();
    const both = [await manager(backend), await manager(backend)];
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => both[n % 2]!.patch({ id: 10 + n }, { pointer: '/list/-' })),
    );
    expect((await both[0]!.load()).value['list']).toHaveLength(12);
  });
});
