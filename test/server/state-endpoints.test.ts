/** The endpoints that read and change single keys. */
import { describe, expect, it } from 'vitest';
import { keyPath, MERGE_TYPE, PROBLEM_TYPE, STATE, serverKit } from './server-kit.js';

describe('a key', () => {
  it('is set, read, and deleted, and its versions go on', async () => {
    const kit = await serverKit();
    const set = await kit.put('plan', { steps: [1] });
    expect([set.status, set.headers.etag, set.json['version'], set.json['updated_by']]).toEqual([
      200,
      '"1"',
      1,
      'root',
    ]);
    const read = await kit.get(keyPath('plan'));
    expect([read.status, read.headers.etag, read.json]).toEqual([200, '"1"', set.json]);
    const gone = await kit.call('DELETE', keyPath('plan'));
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await kit.call('DELETE', keyPath('plan'))).status).toBe(404);
    expect((await kit.put('plan', null)).json).toMatchObject({ version: 3, value: null, global_version: 3 });
  });

  it('without a value is a problem that names it', async () => {
    const kit = await serverKit();
    const missing = await kit.get(keyPath('none'));
    expect([missing.status, missing.headers['content-type']]).toEqual([404, PROBLEM_TYPE]);
    expect(missing.json).toMatchObject({ status: 404, code: 'KEY_NOT_FOUND', key: 'none' });
  });

  const names = ['a/b', '100%', '%25', 'é', ' ', '#?&', '\n', '😀', '__proto__', 'constructor', '\\', ';:@='];
  it.each([...names, '+', '"', "'", 'a\u0000b', 'toString', '%2F', '%2e%2e', '...', '~'])(
    'may be called %j, percent-encoded',
    async (name) => {
      const kit = await serverKit();
      expect((await kit.put(name, name)).json).toMatchObject({ key: name, value: name, version: 1 });
      expect((await kit.get(keyPath(name))).json).toMatchObject({ key: name, value: name });
      const all = (await kit.get(STATE)).json['keys'] as object;
      expect(Object.keys(all)).toEqual([name]);
      expect((await kit.get(`${keyPath(name)}/history`)).json).toMatchObject({ key: name, complete: true });
      const merged = await kit.call('POST', `${keyPath(`${name}2`)}/ops`, {
        body: { operation: 'append', items: [name] },
      });
      expect(merged.json).toMatchObject({ key: `${name}2`, value: [name] });
      const patch = { raw: `{${JSON.stringify(name)}:null}`, headers: { 'Content-Type': MERGE_TYPE } };
      expect((await kit.call('PATCH', STATE, patch)).json).toMatchObject({ results: [{ key: name }] });
      expect((await kit.get(keyPath(name))).status).toBe(404);
    },
  );

  it.each(['.', '..'])('cannot be called %j, which no address can hold', async (name) => {
    const kit = await serverKit();
    const operations = [{ op: 'set', key: name, value: 1 }];
    const answer = await kit.call('POST', `${STATE}/batch`, { body: { operations } });
    expect(answer.json).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT', details: { index: 0 } });
  });

  it.each(['%', '%E0%A4%A', '%ff', '%zz'])('is refused when %s is no percent-encoded UTF-8', async (name) => {
    const kit = await serverKit();
    const refused = await kit.call('PUT', `${STATE}/keys/${name}`, { body: { value: 1 } });
    expect([refused.status, refused.json['code']]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(refused.headers['content-type']).toBe(PROBLEM_TYPE);
  });

  it('keeps values with keys such as __proto__ as they are', async () => {
    const kit = await serverKit();
    const raw = '{"value":{"__proto__":{"a":1},"constructor":{"prototype":2}}}';
    expect((await kit.call('PUT', keyPath('k'), { raw })).status).toBe(200);
    expect((await kit.get(keyPath('k'))).text).toContain(
      '{"__proto__":{"a":1},"constructor":{"prototype":2}}',
    );
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false);
  });
});

describe('a condition', () => {
  it('If-Match with the version changes; with another it is a conflict that tells what is there', async () => {
    const kit = await serverKit();
    await kit.put('k', 'one');
    expect((await kit.put('k', 'two', { 'If-Match': '"1"' })).json).toMatchObject({ version: 2 });
    const conflict = await kit.put('k', 'three', { 'If-Match': '"1"' });
    expect([conflict.status, conflict.headers['content-type']]).toEqual([409, PROBLEM_TYPE]);
    expect(conflict.json).toMatchObject({
      error: 'version_conflict',
      key: 'k',
      current_version: 2,
      your_version: 1,
      current_value: 'two',
    });
    expect((await kit.call('DELETE', keyPath('k'), { headers: { 'If-Match': '"1"' } })).status).toBe(409);
    const op = { body: { operation: 'append', items: [1] }, headers: { 'If-Match': '"1"' } };
    expect((await kit.call('POST', `${keyPath('k')}/ops`, op)).status).toBe(409);
    expect((await kit.call('DELETE', keyPath('k'), { headers: { 'If-Match': '"2"' } })).status).toBe(204);
  });

  it('of a key without a value is a conflict with no current version', async () => {
    const kit = await serverKit();
    const conflict = await kit.put('k', 1, { 'If-Match': '"4"' });
    expect(conflict.json).toMatchObject({ status: 409, key: 'k', current_version: null, your_version: 4 });
    expect('current_value' in conflict.json).toBe(false);
  });

  it('If-Match: * changes only what has a value', async () => {
    const kit = await serverKit();
    expect((await kit.put('k', 1, { 'If-Match': '*' })).json).toMatchObject({
      status: 409,
      your_version: '*',
    });
    await kit.put('k', 1);
    expect((await kit.put('k', 2, { 'If-Match': ' * ' })).status).toBe(200);
  });

  it('If-None-Match: * creates, and replaces nothing', async () => {
    const kit = await serverKit();
    expect((await kit.put('k', 1, { 'If-None-Match': '*' })).status).toBe(200);
    expect((await kit.put('k', 2, { 'If-None-Match': '*' })).json).toMatchObject({
      status: 409,
      current_value: 1,
    });
    await kit.call('DELETE', keyPath('k'));
    expect((await kit.put('k', 3, { 'If-None-Match': '*' })).json).toMatchObject({ version: 3 });
  });

  it('If-Match with a weak tag, or with several, changes at one of these versions only', async () => {
    const kit = await serverKit();
    await kit.put('k', 1);
    expect((await kit.put('k', 2, { 'If-Match': 'W/"1"' })).json).toMatchObject({ version: 2 });
    expect((await kit.put('k', 3, { 'If-Match': '"1", W/"2"' })).json).toMatchObject({ version: 3 });
    const conflict = await kit.put('k', 4, { 'If-Match': '"1","2"' });
    expect(conflict.json).toMatchObject({ status: 409, current_version: 3, your_version: [1, 2] });
    const patch = (tag: string) =>
      kit.call('PATCH', STATE, {
        raw: '{"k":5}',
        headers: { 'Content-Type': MERGE_TYPE, 'If-Match': tag },
      });
    expect((await patch('"1", "2"')).json).toMatchObject({ status: 409, your_version: [1, 2] });
    expect((await patch('"2", W/"3"')).status).toBe(200);
  });

  it.each(['3', '"x"', '"1", 2', '"1",', 'W/3', '""', '"-1"', '"1.0"', '"99999999999999999"', ''])(
    'If-Match: %s is refused, and nothing changes',
    async (tag) => {
      const kit = await serverKit();
      await kit.put('k', 1);
      const refused = await kit.put('k', 2, { 'If-Match': tag });
      expect([refused.status, refused.json['code']]).toEqual([400, 'INVALID_ARGUMENT']);
      expect((await kit.get(keyPath('k'))).json).toMatchObject({ version: 1, value: 1 });
    },
  );

  it('of two kinds at once, or If-None-Match with a version for a change, is refused', async () => {
    const kit = await serverKit();
    expect((await kit.put('k', 1, { 'If-Match': '*', 'If-None-Match': '*' })).status).toBe(400);
    expect((await kit.put('k', 1, { 'If-None-Match': '"1"' })).status).toBe(400);
  });

  it('If-None-Match on a read answers 304 without a body while the version is one of those', async () => {
    const kit = await serverKit();
    await kit.put('k', 1);
    for (const target of [keyPath('k'), STATE])
      for (const tag of ['"1"', 'W/"1"', '"7", "1"', '*']) {
        const same = await kit.get(target, { 'If-None-Match': tag });
        expect([same.status, same.text, same.headers.etag]).toEqual([304, '', '"1"']);
      }
    await kit.put('k', 2);
    for (const target of [keyPath('k'), STATE])
      expect((await kit.get(target, { 'If-None-Match': '"1"' })).status).toBe(200);
  });
});

describe('an operation', () => {
  const op = async (kit: Awaited<ReturnType<typeof serverKit>>, body: object, key = 'k') =>
    kit.call('POST', `${keyPath(key)}/ops`, { raw: JSON.stringify(body) });

  it('increments, from 0, by 1 unless told otherwise', async () => {
    const kit = await serverKit();
    expect((await op(kit, { operation: 'increment' })).json).toMatchObject({ value: 1, version: 1 });
    expect((await op(kit, { operation: 'increment', delta: -3 })).json).toMatchObject({
      value: -2,
      version: 2,
    });
  });

  it('loses no increment of clients that come at once', async () => {
    const kit = await serverKit();
    await Promise.all(Array.from({ length: 40 }, () => op(kit, { operation: 'increment' })));
    expect((await kit.get(keyPath('k'))).json).toMatchObject({ value: 40, version: 40 });
  });

  it('appends to a list and merges into an object', async () => {
    const kit = await serverKit();
    await op(kit, { operation: 'append', items: [1] });
    expect((await op(kit, { operation: 'append', items: ['b', null] })).json).toMatchObject({
      value: [1, 'b', null],
    });
    await op(kit, { operation: 'merge', patch: { a: 1, b: { c: 2 } } }, 'o');
    const merged = await op(kit, { operation: 'merge', patch: { a: null, b: { d: 3 } } }, 'o');
    expect(merged.json['value']).toEqual({ b: { c: 2, d: 3 } });
  });

  it.each([
    [{ operation: 'append', items: [] }, '/items', 'must NOT have fewer than 1 items'],
    [{ operation: 'append', item: [1] }, '', "must have required property 'items'"],
    [{ operation: 'increment', delta: 'x' }, '/delta', 'must be integer'],
    [{ operation: 'merge', patch: 1 }, '/patch', 'must be object'],
    [{ operation: 'push' }, '', 'must have as "operation" one of "increment", "append", "merge"'],
    [{}, '', "must have required property 'operation'"],
  ])('%j is refused for what is wrong with that operation alone', async (body, path, message) => {
    const kit = await serverKit();
    const refused = await op(kit, body);
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ details: { violations: [{ path, message }] } });
    expect((refused.json['details'] as { violations: unknown[] }).violations).toHaveLength(1);
  });

  it('on a value of another type is 422, and changes nothing', async () => {
    const kit = await serverKit();
    await kit.put('k', 'text');
    for (const body of [
      { operation: 'increment' },
      { operation: 'append', items: [1] },
      { operation: 'merge', patch: {} },
    ]) {
      const refused = await op(kit, body);
      expect([refused.status, refused.json['code']]).toEqual([422, 'TYPE_MISMATCH']);
      expect(refused.headers['content-type']).toBe(PROBLEM_TYPE);
    }
    expect((await kit.get(keyPath('k'))).json).toMatchObject({ value: 'text', version: 1 });
  });

  it.each([
    {},
    { operation: 'divide' },
    { operation: 'increment', delta: 1.5 },
    { operation: 'increment', delta: '1' },
    { operation: 'append', items: [] },
    { operation: 'append' },
    { operation: 'merge', patch: [] },
    { operation: 'increment', items: [] },
    { operation: 'increment', more: 1 },
    [],
  ])('of the wrong shape is refused: %j', async (body) => {
    const kit = await serverKit();
    expect((await op(kit, body)).status).toBe(400);
    expect((await kit.get(STATE)).json['global_version']).toBe(0);
  });
});
