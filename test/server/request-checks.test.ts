/** What a request may be: its body, its method, its address. */
import { describe, expect, it } from 'vitest';
import { SERVER_LIMITS } from '../../src/server/server-options.js';
import { expectRefused, expectSafe, type Place, places, sweep, writing } from './access-kit.js';
import { type Answer, folderPrint, JSON_TYPE, keyPath, serverKit } from './server-kit.js';

describe('a body', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    '',
    null,
  ])('of the type %j is 415', async (type) => {
    const kit = await serverKit();
    const look = (answer: Answer, _: Place, what: string) => expectRefused(answer, 415, 'media-type', what);
    await sweep(kit, writing, () => ({ raw: '{"value":1}', headers: { 'Content-Type': type } }), look);
  });

  it.each(['', '{', '{"value":1', 'x', '{"value":1}x', "{'value':1}", 'NaN', '\u0000'])(
    'that is not JSON is 400: %j',
    async (raw) => {
      const kit = await serverKit();
      await sweep(
        kit,
        writing,
        ({ mediaType }) => ({ raw, headers: { 'Content-Type': mediaType } }),
        (answer, _, what) => {
          expect([what, answer.status, answer.json['code']]).toEqual([what, 400, 'INVALID_ARGUMENT']);
          expectSafe(answer, what);
        },
      );
    },
  );

  it.each(['[]', 'null', '1', '"x"', 'true'])('of the wrong shape is 400: %s', async (raw) => {
    const kit = await serverKit();
    await sweep(
      kit,
      writing,
      ({ mediaType }) => ({ raw, headers: { 'Content-Type': mediaType } }),
      (answer, _, what) => {
        expect([what, answer.status, answer.json['code']]).toEqual([what, 400, 'INVALID_ARGUMENT']);
        expectSafe(answer, what);
      },
    );
  });

  const tooLarge = Buffer.alloc(SERVER_LIMITS.bodyBytes + 1, 'x');
  tooLarge.write('{"value":"');
  tooLarge.write('"}', tooLarge.length - 2);

  it.each([false, true])('of 1 MiB and one byte is 413 (of unknown length: %s)', async (chunked) => {
    const kit = await serverKit();
    const all = [...writing, ...places.filter(({ target }) => target === '/mcp')];
    await sweep(
      kit,
      all,
      ({ mediaType }) => ({ raw: tooLarge, chunked, headers: { 'Content-Type': mediaType ?? JSON_TYPE } }),
      (answer, _, what) => expectRefused(answer, 413, 'size', what),
    );
    expect((await kit.get('/health')).status).toBe(200);
  });

  it('of 1 MiB is taken', async () => {
    const kit = await serverKit({ limits: { valueBytes: 2 * 1024 * 1024 } });
    const raw = Buffer.from(tooLarge.subarray(1));
    raw.write('{"value":"');
    const asked = { raw, headers: { 'Content-Type': JSON_TYPE } };
    expect((await kit.call('PUT', keyPath('k'), asked)).status).toBe(200);
    expect((await kit.call('PUT', keyPath('k'), { ...asked, chunked: true })).status).toBe(200);
  });
});

describe('an address', () => {
  it('takes the methods that it names in Allow, and no others', async () => {
    const kit = await serverKit();
    for (const target of new Set(places.slice(0, -3).map((place) => place.target))) {
      const allowed = places.filter((place) => place.target === target).map(({ method }) => method);
      for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
        if (allowed.includes(method)) continue;
        const answer = await kit.call(method, target);
        expectRefused(answer, 405, 'method', `${method} ${target}`);
        expect(answer.headers.allow?.split(', ').sort()).toEqual([...allowed].sort());
      }
    }
  });

  it.each(['/', '/page/app.js'])('of the page takes GET, and says so: %s', async (target) => {
    const kit = await serverKit();
    const answer = await kit.call('POST', target);
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET']);
  });

  it.each([
    '/page/../../package.json',
    '/page/%2e%2e/%2e%2e/package.json',
    '/page/..%2f..%2fpackage.json',
    '/page/',
    '/page',
    '/page/app.js/',
    '/page/%00',
    '/../etc/passwd',
    '//etc/passwd',
    '/page/index.html',
    '/page/tsconfig.json',
    '/PAGE/app.js',
    '/sessions/',
    '/health/',
    '/page/app.js%00',
    '/events',
  ])('that is none is 404: %s', async (target) => {
    const kit = await serverKit();
    expectRefused(await kit.get(target), 404, 'route', target);
    const withoutToken = await kit.get(target, { Authorization: null });
    expect([401, 404]).toContain(withoutToken.status);
  });

  it('with dots in it never reaches a key of another name', async () => {
    const kit = await serverKit();
    await kit.put('k', 1);
    const before = await folderPrint(kit.dir);
    for (const dots of ['..', '%2e%2e', '.%2E', '.', '%2e'])
      for (const method of ['PUT', 'DELETE', 'PATCH', 'POST']) {
        const target = `/sessions/root/state/keys/${dots}`;
        const asked = method === 'DELETE' ? {} : { body: { value: 1 } };
        expect((await kit.call(method, target, asked)).status).toBeGreaterThanOrEqual(400);
      }
    expect(await folderPrint(kit.dir)).toEqual(before);
  });
});
