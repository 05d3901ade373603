/** Durable streams over HTTP: who may use them, and what live readers get. The public suite of the protocol has the rest. */
import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { TokenBook } from '../../src/server/access/token-book.js';
import { DurableStreams } from '../../src/streams/durable-streams.js';
import { type ServerKit, serverKit, TOKEN } from './server-kit.js';

const STREAM = '/v1/stream/answers/1';
const TEXT = { 'Content-Type': 'text/plain' };
const OTHER_SITE = 'https://app.example';

interface Live {
  /** What was sent, once `until` is true of it. */
  until(done: (text: string) => boolean): Promise<string>;
  readonly ended: Promise<void>;
}

/** An open reading of server-sent events. */
async function live(kit: ServerKit, target: string): Promise<Live> {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port: kit.port, path: target, headers, agent: false }, resolve)
      .on('error', reject);
  });
  let text = '';
  let look = () => {};
  answer.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    look();
  });
  const ended = new Promise<void>((resolve) => answer.on('close', () => resolve()));
  return {
    ended,
    until: (done) =>
      new Promise((resolve) => {
        look = () => {
          if (done(text)) resolve(text);
        };
        look();
      }),
  };
}

/** The content of the events, joined. */
function contentOf(events: string): string {
  return events
    .split('\n\n')
    .filter((event) => event.startsWith('event: data\n'))
    .map((event) =>
      event
        .split('\n')
        .slice(1)
        .map((line) => line.replace(/^data: ?/, ''))
        .join('\n'),
    )
    .join('');
}

describe('a stream over HTTP', () => {
  it('needs a token with access to everything, and the right to write for all but reading', async () => {
    const kit = await serverKit();
    const book = new TokenBook(kit.backend);
    const inAnHour = Date.now() + 3_600_000;
    const all = { agents: 'all', roots: 'all', session: null } as const;
    const reader = (await book.create({ ...all, mayWrite: false }, inAnHour)).token;
    const part = (await book.create({ ...all, agents: ['ada'], mayWrite: true }, inAnHour)).token;
    const as = (token: string) => ({ ...TEXT, Authorization: `Bearer ${token}` });

    expect((await kit.call('PUT', STREAM, { headers: { Authorization: null } })).status).toBe(401);
    expect((await kit.call('PUT', STREAM, { raw: 'a', headers: as(part) })).status).toBe(403);
    expect((await kit.call('PUT', STREAM, { raw: 'a', headers: as(reader) })).status).toBe(403);
    expect((await kit.call('PUT', STREAM, { raw: 'a', headers: TEXT })).status).toBe(201);
    expect((await kit.get(STREAM, as(reader))).text).toBe('a');
    for (const method of ['POST', 'DELETE'])
      expect((await kit.call(method, STREAM, { raw: 'b', headers: as(reader) })).status).toBe(403);
    expect((await kit.get(STREAM, as(part))).status).toBe(403);
    expect((await kit.get(STREAM)).text).toBe('a');
  });

  it('is read by pages of accepted origins only', async () => {
    const kit = await serverKit({ allowedOrigins: [OTHER_SITE] });
    const asking = { Authorization: null, 'Access-Control-Request-Method': 'GET' };
    const allowed = await kit.call('OPTIONS', STREAM, { headers: { ...asking, Origin: OTHER_SITE } });
    expect(allowed.status).toBe(204);
    expect(allowed.headers['access-control-allow-origin']).toBe(OTHER_SITE);
    expect(allowed.headers['access-control-allow-headers']).toContain('Authorization');
    const refused = await kit.call('OPTIONS', STREAM, {
      headers: { ...asking, Origin: 'https://evil.example' },
    });
    expect(refused.status).toBe(403);
    expect(refused.headers['access-control-allow-origin']).toBeUndefined();
    expect((await kit.call('OPTIONS', '/agents', { headers: { Authorization: null } })).status).toBe(401);
  });

  it('takes a body up to 1 MiB, and answers a client that sends more', async () => {
    const kit = await serverKit();
    await kit.call('PUT', STREAM, { headers: TEXT });
    const most = Buffer.alloc(1024 * 1024, 'a');
    expect((await kit.call('POST', STREAM, { raw: most, headers: TEXT })).status).toBe(204);
    const more = Buffer.alloc(10 * 1024 * 1024, 'a');
    expect((await kit.call('POST', STREAM, { raw: more, headers: TEXT })).status).toBe(413);
    expect((await kit.call('HEAD', STREAM)).headers['stream-next-offset']).toMatch(/_0{9}1048576$/);
  });

  it('refuses addresses that mean two paths', async () => {
    const kit = await serverKit();
    for (const path of [
      '/v1/stream/a%2Fb',
      '/v1/stream/a//b',
      '/v1/stream/%FF',
      '/v1/stream/a%00',
      '/v1/stream/',
    ])
      expect([400, 404]).toContain((await kit.call('PUT', path, { headers: TEXT })).status);
    expect(await kit.backend.listNames(['streams'])).toEqual([]);
  });

  it('sends what is there and what comes to any number of readers, until it is closed', async () => {
    const kit = await serverKit();
    await kit.call('PUT', STREAM, { raw: 'one ', headers: TEXT });
    const readers = await Promise.all([1, 2, 3].map(() => live(kit, `${STREAM}?offset=-1&live=sse`)));
    for (const reader of readers) await reader.until((text) => contentOf(text) === 'one ');
    await kit.call('POST', STREAM, { raw: ' two\nthree', headers: TEXT });
    await kit.call('POST', STREAM, { raw: '!', headers: { ...TEXT, 'Stream-Closed': 'true' } });
    for (const reader of readers) {
      await reader.ended;
      const text = await reader.until(() => true);
      expect(contentOf(text)).toBe('one  two\nthree!');
      expect(text).toContain('"streamClosed":true');
    }
  });

  it('sends a character whose bytes come in two appends as one', async () => {
    const kit = await serverKit();
    const [first, second] = [Buffer.from('a€').subarray(0, 2), Buffer.from('€b').subarray(1)];
    await kit.call('PUT', STREAM, { raw: first, headers: TEXT });
    const reader = await live(kit, `${STREAM}?offset=-1&live=sse`);
    await reader.until((text) => contentOf(text) === 'a');
    await kit.call('POST', STREAM, { raw: second, headers: TEXT });
    expect(contentOf(await reader.until((text) => text.includes('b\n')))).toBe('a€b');
  });

  it('answers a long poll with what another process writes', async () => {
    const kit = await serverKit();
    await kit.call('PUT', STREAM, { headers: TEXT });
    const waiting = kit.get(`${STREAM}?offset=now&live=long-poll`);
    const other = new DurableStreams(kit.backend);
    await other.append('answers/1', { type: 'text/plain', body: Buffer.from('from elsewhere') });
    await other.close();
    expect((await waiting).text).toBe('from elsewhere');
  });

  it('ends waiting readers when the server closes', async () => {
    const kit = await serverKit();
    await kit.call('PUT', STREAM, { headers: TEXT });
    const reader = await live(kit, `${STREAM}?offset=-1&live=sse`);
    await reader.until((text) => text.includes('upToDate'));
    const waiting = kit.get(`${STREAM}?offset=now&live=long-poll`).catch(() => null);
    const begun = performance.now();
    await kit.server.close();
    await Promise.all([reader.ended, waiting]);
    expect(performance.now() - begun).toBeLessThan(4_000);
  });

  it('is recorded in the audit log with its name', async () => {
    const kit = await serverKit({ audit: true });
    await kit.call('PUT', STREAM, { headers: TEXT });
    const journal = await kit.backend.openJournal(['audit', 'records'], { readOnly: true });
    const seen: unknown[] = [];
    for await (const entry of journal.read()) if (entry.kind === 'record') seen.push(entry.record['target']);
    await journal.close();
    expect(seen).toContain('stream answers/1');
  });
});
