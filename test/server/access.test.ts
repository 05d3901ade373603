/** Who is let in: the same questions at every address, before anything else happens. */
import { describe, expect, it } from 'vitest';
import { assertToken } from '../../src/server/access/token.js';
import { expectRefused, expectSafe, type Place, places, sweep, withBody } from './access-kit.js';
import {
  type Answer,
  folderPrint,
  JSON_TYPE,
  keyPath,
  PROBLEM_TYPE,
  rawExchange,
  type ServerKit,
  serverKit,
  TOKEN,
  upgradeBytes,
} from './server-kit.js';

describe('every address', () => {
  it.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1:1',
    'localhost',
    '127.0.0.1',
    '127.0.0.1.evil.example:PORT',
  ])('refuses the Host %s', async (host) => {
    const kit = await serverKit();
    const headers = { Host: host.replace('PORT', String(kit.port)) };
    const look = (answer: Answer, _: Place, what: string) => expectRefused(answer, 403, 'host', what);
    await sweep(kit, places, (place) => withBody(place, headers), look);
  });

  it.each([
    'https://evil.example',
    'null',
    'http://127.0.0.1:1',
    'http://127.0.0.1',
    'https://127.0.0.1:PORT',
    'file://',
    '',
  ])('refuses the Origin %j', async (origin) => {
    const kit = await serverKit();
    const headers = { Origin: origin.replace('PORT', String(kit.port)) };
    const look = (answer: Answer, _: Place, what: string) => expectRefused(answer, 403, 'origin', what);
    await sweep(kit, places, (place) => withBody(place, headers), look);
    const preflight = { headers: { ...headers, 'Access-Control-Request-Method': 'PUT' } };
    expectRefused(await kit.call('OPTIONS', keyPath('k'), preflight), 403, 'origin', 'preflight');
  });

  it('answers its own names and its own origin', async () => {
    const kit = await serverKit();
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      const host = `${name}:${kit.port}`;
      expect((await kit.get('/sessions', { Host: host, Origin: `http://${host}` })).status).toBe(200);
    }
  });

  it('answers further hosts and origins when it is told to', async () => {
    const kit = await serverKit({
      allowedHosts: ['box.example', 'b:99'],
      allowedOrigins: ['https://app.example'],
    });
    for (const host of ['box.example', 'box.example:1', 'B:99'])
      expect((await kit.get('/sessions', { Host: host, Origin: 'https://app.example' })).status).toBe(200);
    expect((await kit.get('/sessions', { Host: 'b:98' })).status).toBe(403);
  });

  it.each([
    ['none', null],
    ['a wrong one', 'Bearer not-the-token-0123456789'],
    ['one of another scheme', `Basic ${TOKEN}`],
    ['one without a scheme', TOKEN],
    ['two', `Bearer ${TOKEN} ${TOKEN}`],
    ['a longer one', `Bearer ${TOKEN}x`],
    ['a part', `Bearer ${TOKEN.slice(0, -1)}`],
  ])('refuses every token but its own: %s', async (_, authorization) => {
    const kit = await serverKit();
    // As slowly as wrong ones are answered: more of them at once are 429.
    const look = (answer: Answer, { needsToken }: Place, what: string) => {
      if (!needsToken) return expectSafe(answer, what);
      if (answer.status === 429) return expectRefused(answer, 429, 'rate', what);
      expectRefused(answer, 401, 'token', what);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    };
    await sweep(kit, places, (place) => withBody(place, { Authorization: authorization }), look);
    const query = await kit.get(`/sessions?token=${TOKEN}`, { Authorization: authorization });
    expect([401, 429]).toContain(query.status);
  });

  it('has its security headers, and none for other sites, also where all is well', async () => {
    const kit = await serverKit();
    for (const { method, target } of places)
      expectSafe(await kit.call(method, target), `${method} ${target}`);
    for (const { method, target } of places)
      expectSafe(await kit.call(method === 'GET' ? 'HEAD' : 'OPTIONS', target), `other ${target}`);
  });

  it('answers a request without a Host with a refusal, and changes nothing', async () => {
    const kit = await serverKit();
    const before = await folderPrint(kit.dir);
    const rest = `Authorization: Bearer ${TOKEN}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 11\r\n`;
    for (const { method, target } of places)
      for (const version of ['1.1', '1.0']) {
        const bytes = `${method} ${target} HTTP/${version}\r\n${rest}Connection: close\r\n\r\n{"value":1}`;
        const { status } = await rawExchange(kit.port, bytes);
        expect([target, version, [400, 403].includes(status)]).toEqual([target, version, true]);
      }
    expect(await folderPrint(kit.dir)).toEqual(before);
  });

  it.each([
    'GET / HTTP/1.1\r\n',
    'GET / HTTP/1.0\r\n',
    'GET / HTTP/1.1\r\nHost: a b\r\n',
    'GET / HTTP/1.1\r\nHost: a/b\r\n',
    'GET / HTTP/1.1\r\nHost: localhost:1.evil.example\r\n',
    'GET /page/..\\..\\package.json HTTP/1.1\r\nHost: localhost\r\n',
  ])(
    'has its security headers and a problem when the request is refused by what lies below: %j',
    async (head) => {
      const kit = await serverKit();
      const answer = await rawExchange(kit.port, `${head}Connection: close\r\n\r\n`);
      expectSafe(answer, head);
      expect(answer.headers['content-type']).toBe(PROBLEM_TYPE);
    },
  );
});

describe('too many requests', () => {
  it('are 429 with the time to wait, and answered again after it', async () => {
    const kit = await serverKit({ requestsPerSecond: 20 });
    const answers = await Promise.all(Array.from({ length: 150 }, () => kit.get('/health')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(10);
    for (const answer of refused) expectRefused(answer, 429, 'rate', 'a burst');
    expect(refused[0]?.headers['retry-after']).toBe('1');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await kit.get('/health')).status).toBe(200);
  });

  it('with wrong tokens are 429 sooner, and the right token is still answered', async () => {
    const kit = await serverKit();
    const wrong = { Authorization: 'Bearer not-the-token-0123456789' };
    const answers = await Promise.all(Array.from({ length: 60 }, () => kit.get('/sessions', wrong)));
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
    expect((await kit.get('/sessions')).status).toBe(200);
  });
});

describe('the upgrade at /events', () => {
  const own = (kit: ServerKit) => ({ Host: `127.0.0.1:${kit.port}`, Authorization: `Bearer ${TOKEN}` });
  const upgrade = (kit: ServerKit, headers: Record<string, string>, target = '/events') =>
    rawExchange(kit.port, upgradeBytes(target, headers), 300);

  it.each([
    [403, 'host', { Host: 'evil.example' }],
    [403, 'host', { Host: '127.0.0.1:1' }],
    [403, 'origin', { Origin: 'https://evil.example' }],
    [403, 'origin', { Origin: 'null' }],
    [401, 'token', { Authorization: 'Bearer not-the-token-0123456789' }],
    [401, 'token', { Authorization: `Basic ${TOKEN}` }],
  ])('is %i (%s) with %j', async (status, reason, headers) => {
    const kit = await serverKit();
    const answer = await upgrade(kit, { ...own(kit), ...headers });
    expect([answer.status, answer.headers['content-type']]).toEqual([status, PROBLEM_TYPE]);
    expect(answer.json).toMatchObject({ code: 'REQUEST_REFUSED', details: { reason } });
  });

  it('is 404 anywhere else, and 101 with what is right', async () => {
    const kit = await serverKit();
    for (const target of ['/', '/health', '/events/', '/EVENTS', '/sessions', '/events/../health'])
      expect((await upgrade(kit, own(kit), target)).status).toBe(404);
    expect((await upgrade(kit, own(kit), '/events?x=1')).status).toBe(101);
  });

  it('has the security headers when it is refused', async () => {
    const kit = await serverKit();
    expectSafe(await upgrade(kit, { ...own(kit), Host: 'evil.example' }), 'upgrade');
  });

  it('to something else than a WebSocket is ignored, as HTTP has it', async () => {
    const kit = await serverKit();
    const head = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${kit.port}\r\nConnection: Upgrade, HTTP2-Settings\r\n`;
    const answer = await rawExchange(
      kit.port,
      `${head}Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
      500,
    );
    expect(answer.status).toBe(200);
  });

  it('is 429 when there are too many', async () => {
    const kit = await serverKit({ requestsPerSecond: 5 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => upgrade(kit, own(kit))));
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(5);
  });
});

describe('a token', () => {
  it('has at least 16 characters, all printable and none a space', () => {
    expect(() => assertToken('0123456789abcdef')).not.toThrow();
    for (const token of ['', '0123456789abcde', '0123456789 abcdef', '0123456789abcdefü'])
      expect(() => assertToken(token), token).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });
});
