import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileShop, SHOPS } from './workspace-kit.js';

const analyst = { agent: 'trace_analyst' };

describe.each(SHOPS)('a workspace over $name', ({ make }) => {
  it('reads what was written, with who, when and which version', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    expect(await workspace.write('errors', ['a'], analyst)).toEqual({ key: 'errors', version: 1, notes: [] });
    const entry = {
      key: 'errors',
      version: 1,
      writtenBy: 'trace_analyst',
      event: 'write',
      value: ['a'],
      from: null,
    };
    expect(await workspace.read('errors')).toEqual({
      ...entry,
      at: new Date(shop.clock.nowMs()).toISOString(),
    });
    expect(await shop.workspace().read('errors')).toMatchObject(entry);
    expect(await workspace.read('absent')).toBeNull();
  });

  it('keeps every version, and gives each back, newest first', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    for (let n = 1; n <= 5; n += 1) {
      await workspace.write('a', { n });
      await workspace.write('b', { n: -n });
    }
    expect((await workspace.history('a')).map(({ version, value }) => [version, value])).toEqual(
      [5, 4, 3, 2, 1].map((n) => [n, { n }]),
    );
    expect((await shop.workspace().history('b', 2)).map(({ version }) => version)).toEqual([5, 4]);
    expect((await workspace.readVersion('a', 2))?.value).toEqual({ n: 2 });
    expect(await workspace.readVersion('a', 6)).toBeNull();
    expect(await workspace.readVersion('a', 0)).toBeNull();
    expect(await workspace.history('absent')).toEqual([]);
    expect(await workspace.diff('a', 1, 3)).toEqual([{ op: 'replace', path: '/n', value: 3 }]);
  });

  it('gives a version back that lies far behind', async () => {
    const workspace = (await make()).workspace();
    for (let n = 1; n <= 250; n += 1) await workspace.write('a', n);
    expect((await workspace.readVersion('a', 3))?.value).toBe(3);
  });

  it('rolls back by writing the old value anew', async () => {
    const workspace = (await make()).workspace();
    await workspace.write('a', 'old');
    await workspace.write('a', 'new');
    expect(await workspace.rollback('a', 1, analyst)).toMatchObject({ version: 3 });
    expect(await workspace.read('a')).toMatchObject({
      value: 'old',
      event: 'rollback',
      from: 1,
      writtenBy: 'trace_analyst',
    });
    await expect(workspace.rollback('a', 9)).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    await expect(workspace.rollback('absent', 1)).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
  });

  it('leaves a tombstone when it deletes: versions go on, and history stays', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    await workspace.write('a', 1);
    expect(await workspace.delete('a', analyst)).toBe(true);
    expect(await workspace.delete('a')).toBe(false);
    expect(await workspace.delete('absent')).toBe(false);
    expect(await workspace.read('a')).toBeNull();
    expect(await shop.workspace().list()).toEqual([]);
    expect(await workspace.list({ deleted: true })).toMatchObject([{ key: 'a', version: 2, deleted: true }]);
    expect((await workspace.history('a')).map(({ event }) => event)).toEqual(['delete', 'write']);
    await expect(workspace.rollback('a', 2)).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect((await workspace.write('a', 2)).version).toBe(3);
  });

  it('knows what is fresh', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    await workspace.write('a', 1);
    shop.clock.advance(60_000);
    expect((await workspace.readIfFresh('a', 60))?.value).toBe(1);
    expect((await workspace.readIfFresh('a'))?.value).toBe(1);
    expect(await workspace.readIfFresh('a', 59)).toBeNull();
    expect(await workspace.readIfFresh('absent', 59)).toBeNull();
  });

  it('lists what is there by key, with sizes and without values', async () => {
    const workspace = (await make()).workspace();
    await workspace.write('b', [1, 2]);
    await workspace.write('a', 'é');
    expect(await workspace.list()).toMatchObject([
      { key: 'a', version: 1, sizeBytes: 4, deleted: false },
      { key: 'b', version: 1, sizeBytes: 5 },
    ]);
  });

  it('writes only over the version that the caller knows, if it says so', async () => {
    const workspace = (await make()).workspace();
    await workspace.write('a', 1, { ifVersion: 0 });
    const late = workspace.write('a', 2, { ifVersion: 0 });
    await expect(late).rejects.toMatchObject({ code: 'DOCUMENT_CONFLICT', details: { version: 1 } });
    await workspace.write('a', 3, { ifVersion: 1 });
    expect((await workspace.read('a'))?.value).toBe(3);
  });

  it('tells how the agents worked together', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    expect(await workspace.timing()).toMatchObject({
      totalWrites: 0,
      agentsInvolved: [],
      durationSeconds: 0,
    });
    await workspace.write('a', 1, { agent: 'x' });
    shop.clock.advance(2_500);
    await workspace.write('a', 2, { agent: 'y' });
    await workspace.write('b', 2, { agent: 'x' });
    await workspace.close();
    expect(await shop.workspace().timing()).toMatchObject({
      totalWrites: 3,
      agentsInvolved: ['x', 'y'],
      durationSeconds: 2.5,
      byAgent: { x: { writes: 2 }, y: { writes: 1 } },
    });
  });

  it('loses no write of several writers', async () => {
    const shop = await make();
    const [one, two] = [shop.workspace(), shop.workspace()];
    await Promise.all(
      [1, 2, 3, 4].flatMap((n) => [one.write('a', n), two.write('b', n), two.write('a', -n)]),
    );
    expect((await one.history('a', 99)).map(({ version }) => version)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect((await one.read('b'))?.version).toBe(4);
  });

  it('tells watchers of every change, in order', async () => {
    const shop = await make();
    const [one, two] = [shop.workspace(), shop.workspace()];
    const seen: string[] = [];
    const changed = new Promise<void>((resolve) => {
      one.events.on('changed', ({ key, version, event }) => {
        seen.push(`${key} ${version} ${event}`);
        if (seen.length === 3) resolve();
      });
    });
    const stop = await one.watch();
    await two.write('a', 1);
    await two.write('a', 2);
    await two.delete('a');
    await changed;
    await stop();
    expect(seen).toEqual(['a 1 write', 'a 2 write', 'a 3 delete']);
    await one.close();
    await two.close();
  });
});

describe.each(SHOPS)('a schema of a key, over $name', ({ make }) => {
  const schemas = {
    errors: { type: 'array', items: { type: 'string' } },
    note: { type: 'string' },
  };

  it('refuses what does not fit with every violation, and the old value stays', async () => {
    const workspace = (await make()).workspace({ schemas });
    await workspace.write('errors', ['a']);
    const bad = workspace.write('errors', ['b', 1, null]);
    await expect(bad).rejects.toMatchObject({
      code: 'ENTRY_INVALID',
      details: {
        key: 'errors',
        violations: [
          { path: '/1', rule: 'type', value: 1 },
          { path: '/2', value: null },
        ],
      },
    });
    expect(await workspace.read('errors')).toMatchObject({ version: 1, value: ['a'] });
  });

  it('lets unknown keys pass, or refuses them', async () => {
    const shop = await make();
    expect((await shop.workspace({ schemas }).write('other', 1)).version).toBe(1);
    const strict = shop.workspace({ schemas, unknownKeys: 'refuse' }).write('other', 2);
    await expect(strict).rejects.toMatchObject({
      code: 'ENTRY_INVALID',
      details: { violations: [{ rule: 'unknownKey' }] },
    });
  });

  it('holds for a rollback, too', async () => {
    const shop = await make();
    await shop.workspace().write('errors', 'text');
    await shop.workspace().write('errors', []);
    await expect(shop.workspace({ schemas }).rollback('errors', 1)).rejects.toMatchObject({
      code: 'ENTRY_INVALID',
    });
  });

  it('decodes JSON that came inside a text, once, and tells', async () => {
    const workspace = (await make()).workspace({ schemas });
    expect(await workspace.write('errors', '["a"]')).toMatchObject({ notes: ['decoded'] });
    expect((await workspace.read('errors'))?.value).toEqual(['a']);
    expect(await workspace.write('free', '{"a":"[1]"}')).toMatchObject({ notes: ['decoded'] });
    expect((await workspace.read('free'))?.value).toEqual({ a: '[1]' });
    await expect(workspace.write('errors', '["a"')).rejects.toMatchObject({ code: 'ENTRY_INVALID' });
  });

  it('leaves a text alone that is meant as a text', async () => {
    const workspace = (await make()).workspace({ schemas });
    expect(await workspace.write('note', '["a"]')).toMatchObject({ notes: [] });
    expect((await workspace.read('note'))?.value).toBe('["a"]');
    for (const text of ['12', 'null', '"quoted"', '[not json', 'plain']) {
      expect(await workspace.write('free', text)).toMatchObject({ notes: [] });
      expect((await workspace.read('free'))?.value).toBe(text);
    }
  });

  const cyclic: { me?: unknown } = {};
  cyclic.me = cyclic;
  it.each<[string, unknown, string]>([
    ['NaN', { deep: [1, Number.NaN] }, '/deep/1'],
    ['an infinite number', Number.NEGATIVE_INFINITY, ''],
    ['a cycle', { a: cyclic }, '/a/me'],
    ['a function', { run: () => 1 }, '/run'],
    ['a symbol in a list', [Symbol('x')], '/0'],
    ['a hole in a list', { list: [1, undefined] }, '/list/1'],
    ['a BigInt', { 'a/b': 1n }, '/a~1b'],
    ['a Date', { when: new Date(0) }, '/when'],
    ['a Map', new Map([['a', 1]]), ''],
    ['half of a character', ['\ud800'], '/0'],
    ['nothing', undefined, ''],
  ])('refuses %s and says where it is; the old value stays', async (_, value, path) => {
    const workspace = (await make()).workspace();
    await workspace.write('a', 'old');
    await expect(workspace.write('a', value)).rejects.toMatchObject({
      code: 'ENTRY_INVALID',
      details: { key: 'a', violations: [{ path }] },
    });
    expect(await workspace.read('a')).toMatchObject({ version: 1, value: 'old' });
  });

  it('leaves properties out that are undefined, as JSON does', async () => {
    const workspace = (await make()).workspace();
    await workspace.write('a', { here: 1, gone: undefined });
    expect((await workspace.read('a'))?.value).toEqual({ here: 1 });
  });

  it('holds the schemas of its configuration, which count at once', async () => {
    const shop = await make();
    const workspaces = [
      shop.workspace(),
      shop.workspace({ scope: { root: 'r' } }),
      shop.workspace({ scope: { agent: 'a' } }),
    ];
    const name = ['workspace', 'config', 'entry_schemas.json'];
    for (const workspace of workspaces) await workspace.write('count', 'many');
    await shop.backend.documents.write(name, {
      entries: { count: { type: 'integer' } },
      unknown_keys: 'refuse',
    });
    for (const workspace of workspaces) {
      await expect(workspace.write('count', 'many')).rejects.toMatchObject({ code: 'ENTRY_INVALID' });
      await expect(workspace.write('other', 1)).rejects.toMatchObject({ code: 'ENTRY_INVALID' });
      expect(await workspace.write('count', 3)).toMatchObject({ version: 2 });
    }
    const own = shop.workspace({ schemas: { count: { type: 'string' } }, unknownKeys: 'allow' });
    expect(await own.write('count', 'many')).toMatchObject({ version: 3 });
    expect(await own.write('other', 1)).toMatchObject({ version: 1 });
    await shop.backend.documents.writeBytes(name, Buffer.from('{"entries": 5}'));
    await expect(own.write('count', 'x')).rejects.toMatchObject({ code: 'DOCUMENT_DAMAGED' });
  });

  it('belongs to the store, to a root or to an agent, and shares nothing with the others', async () => {
    const shop = await make();
    const scopes = ['store', { root: 'x' }, { agent: 'x' }, { root: 'y' }] as const;
    const all = scopes.map((scope) => shop.workspace({ scope }));
    for (const [n, workspace] of all.entries()) await workspace.write('key', n);
    for (const [n, workspace] of all.entries())
      expect(await workspace.read('key')).toMatchObject({ version: 1, value: n });
  });

  it('reads many keys at once as it reads each, also after changes and deletions', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    for (let n = 0; n < 60; n += 1) await workspace.write(`k${n % 20}`, { n, text: 'x'.repeat(n * 50) });
    await workspace.delete('k3');
    const keys = ['gone', ...Array.from({ length: 20 }, (_, n) => `k${n}`)];
    for (const reader of [workspace, shop.workspace()]) {
      const found = await reader.readMany(keys);
      expect(found.size).toBe(19);
      for (const key of keys) expect(found.get(key) ?? null).toEqual(await reader.read(key));
    }
  });

  it('times an agent from its earliest write to its latest, also when the clock steps back', async () => {
    const shop = await make();
    const workspace = shop.workspace();
    await workspace.write('a', 1, { agent: 'ann' });
    shop.clock.advance(-60_000);
    await workspace.write('a', 2, { agent: 'ann' });
    const { byAgent, durationSeconds } = await workspace.timing();
    expect(durationSeconds).toBe(60);
    expect(byAgent['ann']!.firstAt < byAgent['ann']!.lastAt).toBe(true);
  });

  it.each(['', 'x'.repeat(201), 'a\nb', '\ud800'])('refuses %j as a key', async (key) => {
    const workspace = (await make()).workspace();
    await expect(workspace.write(key, 1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it.each(['__proto__', 'constructor', '../../etc', 'a/b', 'CON', 'Ä ö', '🙂', '.'])(
    'takes %j as a key',
    async (key) => {
      const shop = await make();
      const workspace = shop.workspace();
      await workspace.write(key, { __proto__: null, n: 1 });
      await workspace.close();
      expect((await shop.workspace().read(key))?.value).toEqual({ n: 1 });
      expect(({} as Record<string, unknown>)['n']).toBeUndefined();
    },
  );

  it('that is none is refused', async () => {
    const shop = await make();
    expect(() => shop.workspace({ schemas: { a: { type: 'odd' } } })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });
});

describe('the manifest', () => {
  const manifestOf = (root: string) => path.join(root, 'workspace/_manifest.json');

  it('lets a workspace open without reading its history, and is made anew when it is lost', async () => {
    const shop = await fileShop();
    const workspace = shop.workspace();
    for (let n = 1; n <= 20; n += 1) await workspace.write('a', n);
    await workspace.delete('a');
    await workspace.write('b', 1);
    await workspace.close();
    const manifest = JSON.parse(await fs.readFile(manifestOf(shop.root), 'utf8'));
    expect(manifest).toMatchObject({
      covers: { seq: 22 },
      entries: [{ key: 'a', version: 21, deleted: true }, { key: 'b' }],
    });
    const [list, timing] = [await shop.workspace().list({ deleted: true }), await shop.workspace().timing()];
    await fs.rm(manifestOf(shop.root));
    expect(await shop.workspace().list({ deleted: true })).toEqual(list);
    expect(await shop.workspace().timing()).toEqual(timing);
  });

  it.each([
    ['kept', (text: string) => text],
    ['lost', () => null],
    ['written before it had this time', (text: string) => text.replace(/ *"created_at": "[^"]+",\n/, '')],
  ])('has the time of the first write, the same when it was %s', async (how, change) => {
    const shop = await fileShop();
    const began = new Date(shop.clock.nowMs()).toISOString();
    const write = async (key: string, agent: string) => {
      const workspace = shop.workspace();
      await workspace.write(key, 1, { agent });
      shop.clock.advance(1_000);
      await workspace.close();
    };
    await write('b', 'eve');
    await write('a', 'ada');
    const kept = await fs.readFile(manifestOf(shop.root), 'utf8');
    const changed = change(kept);
    expect(changed === kept).toBe(how === 'kept');
    await (changed === null ? fs.rm(manifestOf(shop.root)) : fs.writeFile(manifestOf(shop.root), changed));
    await write('c', 'bob');
    const manifest = JSON.parse(await fs.readFile(manifestOf(shop.root), 'utf8'));
    expect(manifest).toMatchObject({ created_at: began, agents: [{ agent: 'eve' }, { agent: 'ada' }, {}] });
  });

  it('that is older than the journal is followed by what came after it', async () => {
    const shop = await fileShop();
    const workspace = shop.workspace();
    await workspace.write('a', 1);
    await workspace.close();
    const before = await fs.readFile(manifestOf(shop.root));
    const next = shop.workspace();
    await next.write('a', 2);
    await next.close();
    await fs.writeFile(manifestOf(shop.root), before);
    expect(await shop.workspace().read('a')).toMatchObject({ version: 2, value: 2 });
  });

  it.each([
    ['half of it', (text: string) => text.slice(0, 40)],
    ['another shape', () => '{"schema_version":1,"entries":{}}'],
    ['of another journal', (text: string) => text.replace(/"crc": "\w+"/, '"crc": "00000000"')],
    ['a place that is not there', (text: string) => text.replace(/"at": \[\s*1,/g, '"at": [ 7,')],
  ])('that is %s is not believed', async (_, spoil) => {
    const shop = await fileShop();
    const workspace = shop.workspace();
    await workspace.write('a', 1);
    await workspace.close();
    await fs.writeFile(manifestOf(shop.root), spoil(await fs.readFile(manifestOf(shop.root), 'utf8')));
    const next = shop.workspace();
    expect(await next.read('a')).toMatchObject({ version: 1, value: 1 });
    await next.write('a', 2);
    await next.close();
    expect(await shop.workspace().read('a')).toMatchObject({ version: 2, value: 2 });
  });

  it('that is damaged is moved aside before a new one is written', async () => {
    const shop = await fileShop();
    await fs.mkdir(path.join(shop.root, 'workspace'));
    await fs.writeFile(manifestOf(shop.root), 'mine');
    const workspace = shop.workspace();
    await workspace.write('a', 1);
    await workspace.close();
    const names = await fs.readdir(path.join(shop.root, 'workspace'));
    expect(names.some((name) => name.startsWith('_manifest.json.damaged-'))).toBe(true);
  });
});

describe('a journal that was repaired', () => {
  it('keeps what is whole: places that moved are found again', async () => {
    const shop = await fileShop();
    const workspace = shop.workspace();
    for (let n = 1; n <= 4; n += 1) await workspace.write('a', `value ${n}`);
    await workspace.close();
    const file = path.join(shop.root, 'workspace/entries.jsonl');
    await fs.writeFile(file, (await fs.readFile(file, 'utf8')).replace('value 2', 'VALUE 2, longer'));
    const journal = await shop.backend.openJournal(['workspace', 'entries']);
    await journal.repair();
    await journal.close();
    const next = shop.workspace();
    expect((await next.history('a')).map(({ version, value }) => [version, value])).toEqual([
      [4, 'value 4'],
      [3, 'value 3'],
      [1, 'value 1'],
    ]);
    expect((await next.write('a', 'value 5')).version).toBe(5);
  });
});
