/** The endpoints over the whole state: all keys, batch, patch, events, history, who acts, and what is refused. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { keyPath, MERGE_TYPE, PROBLEM_TYPE, type ServerKit, STATE, serverKit } from './server-kit.js';

const BATCH = `${STATE}/batch`;
const EVENTS = `${STATE}/events`;

function batch(kit: ServerKit, operations: JsonObject[]) {
  return kit.call('POST', BATCH, { body: { operations } });
}

function patch(kit: ServerKit, body: JsonObject, headers: Record<string, string> = {}) {
  return kit.call('PATCH', STATE, { body, headers: { 'Content-Type': MERGE_TYPE, ...headers } });
}

describe('the whole state', () => {
  it('has each key with its versions, and its own as the ETag', async () => {
    const kit = await serverKit();
    await kit.put('a', 1);
    await kit.put('b', 2);
    const all = await kit.get(STATE);
    expect([all.status, all.headers.etag]).toEqual([200, '"2"']);
    expect(all.json).toMatchObject({
      root_session_id: 'root',
      global_version: 2,
      keys: { a: { key: 'a', value: 1, version: 1, global_version: 1 }, b: { value: 2, global_version: 2 } },
    });
  });

  it('is there from the beginning, without keys, and a condition on its version 0 works', async () => {
    const kit = await serverKit();
    const empty = await kit.get(STATE);
    expect([empty.status, empty.headers.etag]).toEqual([200, '"0"']);
    expect(empty.json).toEqual({ root_session_id: 'root', global_version: 0, keys: {} });
    expect((await patch(kit, { a: 1 }, { 'If-Match': '"0"' })).status).toBe(200);
    expect((await patch(kit, { a: 2 }, { 'If-Match': '"0"' })).status).toBe(409);
    await kit.call('DELETE', keyPath('a'));
    const emptied = await kit.get(STATE);
    expect([emptied.status, emptied.headers.etag, emptied.json['keys']]).toEqual([200, '"2"', {}]);
  });

  it('is shown as it was with ?at, and refuses a version that is not reached', async () => {
    const kit = await serverKit();
    await kit.put('a', 1);
    await kit.put('a', 2);
    expect((await kit.get(`${STATE}?at=0`)).json).toMatchObject({ global_version: 0, keys: {} });
    const then = await kit.get(`${STATE}?at=1`);
    expect(then.json).toMatchObject({ global_version: 1, keys: { a: { value: 1 } } });
    expect(then.headers.etag).toBe('"1"');
    for (const at of ['3', '-1', 'x', '', '1.5', '99999999999999999999'])
      expect((await kit.get(`${STATE}?at=${at}`)).json).toMatchObject({
        status: 400,
        code: 'INVALID_ARGUMENT',
      });
  });

  it('is shown with ?at_sequence as with ?at, and not with both', async () => {
    const kit = await serverKit();
    await kit.put('a', 1);
    await kit.put('a', 2);
    expect((await kit.get(`${STATE}?at_sequence=1`)).json).toMatchObject({ keys: { a: { value: 1 } } });
    expect((await kit.get(`${STATE}?at=1&at_sequence=1`)).status).toBe(400);
  });

  it.each([
    [`${STATE}?at_version=1`, 'at_version', ['at', 'at_sequence']],
    [`${STATE}?at=1&at=0`, 'at', ['at', 'at_sequence']],
    [`${keyPath('a')}?at=1`, 'at', []],
    [`${EVENTS}?after=1`, 'after', ['since', 'history', 'limit']],
  ])('%s is refused: nothing in a query is passed over', async (target, field, known) => {
    const kit = await serverKit();
    await kit.put('a', 1);
    expect((await kit.get(target)).json).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
      details: { field, known },
    });
  });

  it('is the same for a child of the root, and unknown for a session that is not there', async () => {
    const kit = await serverKit();
    await kit.session({ id: 'child', parent: 'root' });
    await kit.put('a', 1);
    expect((await kit.get('/sessions/child/state')).json).toEqual((await kit.get(STATE)).json);
    for (const target of ['', '/keys/a', '/events', '/keys/a/history'])
      expect((await kit.get(`/sessions/nobody/state${target}`)).json).toMatchObject({
        status: 404,
        code: 'SESSION_NOT_FOUND',
      });
  });
});

describe('a batch', () => {
  it('is applied as a whole, each operation after those before it', async () => {
    const kit = await serverKit();
    const done = await batch(kit, [
      { op: 'set', key: 'n', value: 1, if_match: 0 },
      { op: 'increment', key: 'n', delta: 2, if_match: 1 },
      { op: 'append', key: 'l', items: ['x'] },
      { op: 'merge', key: 'o', patch: { a: 1 } },
      { op: 'delete', key: 'l', if_match: '*' },
    ]);
    expect([done.status, done.headers.etag]).toEqual([200, '"5"']);
    expect(done.json).toMatchObject({ applied: true, global_version: 5 });
    expect(done.json['results']).toEqual([
      { key: 'n', status: 'applied', version: 2 },
      { key: 'n', status: 'applied', version: 2 },
      { key: 'l', status: 'applied', version: null },
      { key: 'o', status: 'applied', version: 1 },
      { key: 'l', status: 'applied', version: null },
    ]);
  });

  it('with a conflict is 409, changes nothing, and says which operation was in the way first', async () => {
    const kit = await serverKit();
    await kit.put('b', 'there');
    const refused = await batch(kit, [
      { op: 'set', key: 'a', value: 1 },
      { op: 'set', key: 'b', value: 2, if_match: 7 },
      { op: 'set', key: 'c', value: 3, if_match: '*' },
    ]);
    expect([refused.status, refused.headers['content-type']]).toEqual([409, PROBLEM_TYPE]);
    expect(refused.json).toMatchObject({ error: 'version_conflict', applied: false, global_version: 1 });
    expect(refused.json['results']).toEqual([
      { key: 'a', status: 'not_applied', version: null },
      { key: 'b', status: 'conflict', version: 1, value: 'there' },
      { key: 'c', status: 'not_applied', version: null },
    ]);
    expect((await kit.get(STATE)).json['global_version']).toBe(1);
  });

  it('with an operation that cannot be is refused with its place, and changes nothing', async () => {
    const kit = await serverKit();
    await kit.put('t', 'text');
    const good = { op: 'set', key: 'a', value: 1 };
    const refused = await batch(kit, [good, { op: 'set', key: 'b' }]);
    expect(refused.json).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT', details: { index: 1 } });
    expect((await batch(kit, [good, { op: 'increment', key: 't' }])).status).toBe(422);
    for (const wrong of [
      { op: 'set', key: '' },
      { op: 'set', key: 'a', value: 1, ifVersion: 1 },
      { op: 'x', key: 'a' },
    ])
      expect((await batch(kit, [good, wrong])).status).toBe(400);
    expect((await batch(kit, [])).status).toBe(400);
    expect((await kit.get(STATE)).json['global_version']).toBe(1);
  });
});

describe('a merge patch', () => {
  it('sets, merges and deletes keys, all or nothing', async () => {
    const kit = await serverKit();
    await batch(kit, [
      { op: 'set', key: 'o', value: { a: 1, b: 2 } },
      { op: 'set', key: 'x', value: 1 },
    ]);
    const done = await patch(kit, { o: { a: null, c: 3 }, x: null, n: [1] });
    expect([done.status, done.headers.etag]).toEqual([200, '"5"']);
    expect((await kit.get(STATE)).json['keys']).toMatchObject({
      o: { value: { b: 2, c: 3 } },
      n: { value: [1] },
    });
    expect((await kit.get(keyPath('x'))).status).toBe(404);
  });

  it('with If-Match is applied only while nothing at all has changed since', async () => {
    const kit = await serverKit();
    await kit.put('a', 1);
    expect((await patch(kit, { b: 1 }, { 'If-Match': '"1"' })).status).toBe(200);
    const late = await patch(kit, { b: 2 }, { 'If-Match': '"1"' });
    expect(late.json).toMatchObject({
      status: 409,
      error: 'version_conflict',
      current_version: 2,
      your_version: 1,
    });
    expect((await patch(kit, { b: 2 }, { 'If-Match': 'x' })).status).toBe(400);
  });

  it.each(['application/json', 'text/plain', 'application/json-patch+json', null])(
    'of the type %s is 415 with what is taken',
    async (type) => {
      const kit = await serverKit();
      const refused = await kit.call('PATCH', STATE, { body: { a: 1 }, headers: { 'Content-Type': type } });
      expect(refused.json).toMatchObject({ status: 415, details: { reason: 'media-type' } });
      expect(refused.headers.accept).toBe(MERGE_TYPE);
    },
  );

  it('may name a charset, and must be an object', async () => {
    const kit = await serverKit();
    const type = { 'Content-Type': `${MERGE_TYPE}; charset=utf-8` };
    expect((await kit.call('PATCH', STATE, { body: { a: 1 }, headers: type })).status).toBe(200);
    for (const body of [[], null, 1, 'x'])
      expect((await kit.call('PATCH', STATE, { body, headers: type })).status).toBe(400);
  });
});

describe('events', () => {
  it('come after a version, oldest first, as many as asked for', async () => {
    const kit = await serverKit();
    for (const value of [1, 2, 3]) await kit.put('k', value);
    await kit.call('DELETE', keyPath('k'));
    const page = await kit.get(`${EVENTS}?since=1&limit=2`);
    expect(page.json).toMatchObject({ root_session_id: 'root', global_version: 4, oldest_version: 0 });
    expect((page.json['events'] as JsonObject[]).map((event) => event['value'])).toEqual([2, 3]);
    const rest = (await kit.get(`${EVENTS}?since=3`)).json['events'] as JsonObject[];
    expect(rest).toMatchObject([
      { type: 'state_key_deleted', key: 'k', op: 'delete', deleted_by: 'root', version: 4 },
    ]);
    expect('value' in rest[0]!).toBe(false);
    for (const since of ['since=4', 'since=9', 'limit=0'])
      expect((await kit.get(`${EVENTS}?${since}`)).json['events']).toEqual([]);
    for (const wrong of ['since=x', 'since=-1', 'limit=1001', 'limit=']) {
      expect((await kit.get(`${EVENTS}?${wrong}`)).json).toMatchObject({
        status: 400,
        code: 'INVALID_ARGUMENT',
      });
    }
  });

  it('say whether there are more after the last one', async () => {
    const kit = await serverKit();
    const pageOf = async (query: string) => {
      const { events, has_more } = (await kit.get(`${EVENTS}?${query}`)).json;
      return [(events as JsonObject[]).map((event) => event['global_version']), has_more];
    };
    expect(await pageOf('')).toEqual([[], false]);
    for (const value of [1, 2, 3]) await kit.put('k', value);
    expect(await pageOf('since=0&limit=2')).toEqual([[1, 2], true]);
    expect(await pageOf('since=0&limit=3')).toEqual([[1, 2, 3], false]);
    expect(await pageOf('since=2&limit=2')).toEqual([[3], false]);
    expect(await pageOf('since=1&limit=0')).toEqual([[], true]);
    expect(await pageOf('since=3')).toEqual([[], false]);
    expect(await pageOf('since=9')).toEqual([[], false]); // of another history: `resync`
  });

  it('that are too large for one page end with a page that says so', async () => {
    const kit = await serverKit();
    for (let n = 0; n < 19; n += 1) await kit.put('k', 'x'.repeat(250_000));
    const first = (await kit.get(EVENTS)).json;
    const read = (first['events'] as JsonObject[]).length;
    expect([read < 19, first['has_more']]).toEqual([true, true]);
    const rest = (await kit.get(`${EVENTS}?since=${read}`)).json;
    expect([(rest['events'] as JsonObject[]).length, rest['has_more']]).toEqual([19 - read, false]);
  });

  it('tell of a batch where it ends', async () => {
    const kit = await serverKit();
    await batch(kit, [
      { op: 'set', key: 'a', value: 1 },
      { op: 'set', key: 'b', value: 1 },
    ]);
    const events = (await kit.get(EVENTS)).json['events'] as JsonObject[];
    expect(events.map((event) => [event['global_version'], event['last_of_commit']])).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });

  it('and states that are gone are 410, and say what is the oldest', async () => {
    const kit = await serverKit({ limits: { history: 5 } });
    for (let index = 0; index < 40; index += 1) await kit.put('k', 'x'.repeat(120_000) + String(index));
    const gone = await kit.get(`${EVENTS}?since=0`);
    expect([gone.status, gone.headers['content-type']]).toEqual([410, PROBLEM_TYPE]);
    const { oldest } = gone.json['details'] as { oldest: number };
    expect(gone.json).toMatchObject({ code: 'HISTORY_GONE', details: { wanted: 0 } });
    expect(oldest).toBeGreaterThan(0);
    expect((await kit.get(`${STATE}?at=0`)).status).toBe(410);
    expect((await kit.get(`${STATE}?at=${oldest}`)).status).toBe(200);
    expect((await kit.get(`${EVENTS}?since=${oldest}&limit=1`)).json).toMatchObject({
      oldest_version: oldest,
      events: [{ global_version: oldest + 1 }],
    });
    expect((await kit.get(`${keyPath('k')}/history?limit=1`)).json).toMatchObject({
      complete: false,
      has_more: true,
    });
    // Those that were removed are no reason to ask for more.
    for (const list of [`${keyPath('k')}/history?limit=1000`, `${STATE}/changes?limit=1000`])
      expect((await kit.get(list)).json).toMatchObject({ complete: false, has_more: false });
  });
});

describe('the history of a key', () => {
  it('is newest first, with an end where the limit cuts it', async () => {
    const kit = await serverKit();
    for (const value of [1, 2, 3]) await kit.put('k', value);
    await kit.put('other', 1);
    const whole = await kit.get(`${keyPath('k')}/history`);
    expect(whole.json).toMatchObject({
      key: 'k',
      complete: true,
      has_more: false,
      changes: [{ value: 3 }, { value: 2 }, { value: 1 }],
    });
    const cut = await kit.get(`${keyPath('k')}/history?limit=1`);
    expect(cut.json).toMatchObject({
      complete: false,
      has_more: true,
      changes: [{ value: 3, version: 3 }],
    });
    expect((await kit.get(`${keyPath('no')}/history`)).json).toMatchObject({ changes: [], complete: true });
    expect((await kit.get(`${keyPath('k')}/history?limit=1001`)).status).toBe(400);
  });
});

describe('the changes of all keys', () => {
  it('are newest first, by key, by session and in pages', async () => {
    const kit = await serverKit();
    await kit.session({ id: 'child', parent: 'root' });
    await kit.put('a', 1);
    await kit.put('b', 2, { 'X-Agent-Session-Id': 'child' });
    await kit.put('a', 3, { 'X-Agent-Session-Id': 'child' });
    const read = async (query: string) => (await kit.get(`${STATE}/changes${query}`)).json;
    expect(await read('')).toMatchObject({
      root_session_id: 'root',
      complete: true,
      changes: [
        { key: 'a', value: 3, updated_by: 'child', global_version: 3 },
        { key: 'b', value: 2, updated_by: 'child', global_version: 2 },
        { key: 'a', value: 1, updated_by: 'root', global_version: 1 },
      ],
    });
    const numbers = async (query: string) =>
      ((await read(query))['changes'] as JsonObject[]).map((change) => change['global_version']);
    expect(await numbers('?session=child')).toEqual([3, 2]);
    expect(await numbers('?key=a&session=root')).toEqual([1]);
    expect(await numbers('?limit=2')).toEqual([3, 2]);
    expect(await numbers('?limit=2&before=2')).toEqual([1]);
    expect((await read('?limit=2'))['has_more']).toBe(true);
    expect((await read('?limit=2&before=2'))['has_more']).toBe(false);
    for (const query of ['?limit=1001', '?before=x', '?key=', '?by=child'])
      expect((await kit.get(`${STATE}/changes${query}`)).status).toBe(400);
    expect((await kit.get('/sessions/nobody/state/changes')).status).toBe(404);
  });
});

describe('X-Agent-Session-Id', () => {
  const as = (id: string) => ({ 'X-Agent-Session-Id': id });

  it('says who changes what', async () => {
    const kit = await serverKit();
    await kit.session({ id: 'child', parent: 'root' });
    expect((await kit.put('a', 1, as('child'))).json).toMatchObject({ updated_by: 'child' });
    await kit.call('POST', BATCH, {
      body: { operations: [{ op: 'set', key: 'b', value: 1 }] },
      headers: as('child'),
    });
    await patch(kit, { c: 1 }, as('child'));
    await kit.call('POST', `${keyPath('d')}/ops`, { body: { operation: 'increment' }, headers: as('child') });
    await kit.call('DELETE', keyPath('a'), { headers: as('child') });
    const events = (await kit.get(EVENTS)).json['events'] as JsonObject[];
    expect(events.map((event) => event['updated_by'] ?? event['deleted_by'])).toEqual(Array(5).fill('child'));
  });

  it('is refused for a session of another root, or none, and nothing changes', async () => {
    const kit = await serverKit();
    await kit.session({ id: 'other' });
    expect((await kit.put('a', 1, as('other'))).json).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
    });
    expect((await kit.put('a', 1, as('nobody'))).status).toBe(404);
    expect((await kit.put('a', 1, as(''))).status).toBe(404);
    expect((await kit.get(STATE)).json['global_version']).toBe(0);
  });
});

describe('a body', () => {
  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '12345678901234567890',
    '[{"a":9007199254740993}]',
  ])('with the number %s is refused: nothing is rounded', async (number) => {
    const kit = await serverKit();
    const refused = await kit.call('PUT', keyPath('k'), { raw: `{"value":${number}}` });
    expect(refused.json).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
      details: { problem: 'number' },
    });
    const raw = `{"k":${number}}`;
    const patched = await kit.call('PATCH', STATE, { raw, headers: { 'Content-Type': MERGE_TYPE } });
    expect(patched.status).toBe(400);
    expect((await kit.get(STATE)).json['global_version']).toBe(0);
  });

  it.each(['9007199254740991', '0.1', '1e20', '"12345678901234567890"', '5e-324', '-0.0'])(
    'with %s is taken',
    async (number) => {
      const kit = await serverKit();
      const set = await kit.call('PUT', keyPath('k'), { raw: `{"value":${number}}` });
      expect([set.status, set.json['value']]).toEqual([200, (JSON.parse(number) as number | string) || 0]);
    },
  );

  it('beyond a limit is 422 and says which, and nothing changes', async () => {
    const kit = await serverKit({
      limits: { keys: 2, valueBytes: 100, totalBytes: 150, depth: 4, batch: 2 },
    });
    const limitOf = (answer: Awaited<ReturnType<typeof batch>>) =>
      answer.status === 422 && (answer.json['details'] as JsonObject)['limit'];
    await kit.put('a', 'x'.repeat(80));
    expect(limitOf(await kit.put('b', 'x'.repeat(120)))).toBe('valueBytes');
    expect(limitOf(await kit.put('b', 'x'.repeat(80)))).toBe('totalBytes');
    expect(limitOf(await kit.put('b', [[[[[1]]]]]))).toBe('depth');
    const set = (key: string) => ({ op: 'set', key, value: 1 });
    expect(limitOf(await batch(kit, [set('b'), set('c'), set('d')]))).toBe('batch');
    expect(limitOf(await patch(kit, { b: 1, c: 1 }))).toBe('keys');
    expect((await kit.get(STATE)).json['global_version']).toBe(1);
  });

  it('nested a hundred thousand deep is refused, and the server goes on', async () => {
    const kit = await serverKit();
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const refused = await kit.call('PUT', keyPath('k'), { raw: `{"value":${deep}}` });
    expect([400, 422]).toContain(refused.status);
    const raw = `{"k":${deep}}`;
    const patched = await kit.call('PATCH', STATE, { raw, headers: { 'Content-Type': MERGE_TYPE } });
    expect([400, 422]).toContain(patched.status);
    expect(kit.unexpected).toEqual([]);
  });

  it.each(['{"value":"\\ud800"}', '{"value":{"\\udc00":1}}'])(
    'with half of a character is refused: %s',
    async (raw) => {
      const kit = await serverKit();
      expect((await kit.call('PUT', keyPath('k'), { raw })).status).toBe(400);
    },
  );
});
