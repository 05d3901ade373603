/** What a server records: every request with a token, over HTTP, WebSocket and MCP, before it is answered. */
import { describe, expect, it } from 'vitest';
import { RekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import { TokenBook } from '../../src/server/access/token-book.js';
import { startServer } from '../../src/server/rekindle-server.js';
import { hasAuditLog } from '../../src/storage/audit/audit-log.js';
import type { AuditRecord } from '../../src/storage/audit/audit-record.js';
import { auditRecords, verifyAudit } from '../../src/storage/audit/verify-audit.js';
import { ForwardingStorage } from '../../src/storage/forwarding-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { Journal, JournalOptions, Name, StorageBackend } from '../../src/storage/ports.js';
import { collect } from '../../src/storage/testing/conformance-kit.js';
import { ask, keyPath, serverKit, TOKEN } from './server-kit.js';

type Line = Omit<AuditRecord, 'seq' | 'at' | 'prev' | 'hash'>;

async function linesOf(backend: StorageBackend): Promise<Line[]> {
  const records = await collect(auditRecords(backend));
  return records.map(({ actor, action, target, what, outcome }) => ({
    actor,
    action,
    target,
    what,
    outcome,
  }));
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('a server with an audit log', () => {
  it('records who read and wrote what, allowed or refused, without tokens, queries and texts', async () => {
    const kit = await serverKit({ audit: true });
    const scope = { agents: ['ada'], roots: ['root'], session: null, mayWrite: false };
    const { id, token } = await new TokenBook(kit.backend).create(scope);
    await kit.put('note', 'a text of an agent');
    await kit.get('/agents/bob/search?q=secret-query', bearer(token));
    await kit.get(keyPath('note'), bearer(token));
    await kit.call('PUT', keyPath('note'), { body: { value: 1 }, headers: bearer(token) });
    await kit.get('/agents', bearer('a-wrong-token-0123456789'));
    await kit.get('/agents', { Authorization: null });
    await kit.get('/health');
    const actor = `token ${id}`;
    const key = '/sessions/{id}/state/keys/{key}';
    expect(await linesOf(kit.backend)).toStrictEqual([
      { actor: 'server', action: 'audit', target: 'store', what: 'server start', outcome: 'allowed' },
      { actor: 'owner', action: 'write', target: 'store', what: 'POST /sessions', outcome: 'allowed' },
      { actor: 'owner', action: 'write', target: 'session root', what: `PUT ${key}`, outcome: 'allowed' },
      { actor, action: 'read', target: 'agent bob', what: 'GET /agents/{id}/search', outcome: 'refused' },
      { actor, action: 'read', target: 'session root', what: `GET ${key}`, outcome: 'allowed' },
      { actor, action: 'write', target: 'session root', what: `PUT ${key}`, outcome: 'refused' },
      { actor: 'unknown', action: 'authenticate', target: 'store', what: 'wrong token', outcome: 'refused' },
    ]);
    const stored = JSON.stringify(await collect(auditRecords(kit.backend)));
    for (const secret of [TOKEN, token, 'a text', 'secret-query', 'a-wrong-token'])
      expect(stored).not.toContain(secret);
    expect(await verifyAudit(kit.backend)).toMatchObject({ ok: true, records: 7 });
  });

  it('records calls of tools through MCP, and callers that are refused', async () => {
    const kit = await serverKit({ audit: true });
    const call = (session: string, method: string, params: JsonObject) =>
      kit.call('POST', '/mcp', {
        body: { jsonrpc: '2.0', id: 1, method, params },
        headers: { Accept: 'application/json, text/event-stream', 'X-Agent-Session-Id': session },
      });
    const before = (await linesOf(kit.backend)).length;
    await call('root', 'tools/call', { name: 'state_set', arguments: { key: 'k', value: 'a text' } });
    await call('nobody', 'tools/call', { name: 'state_get', arguments: { key: 'k' } });
    const lines = (await linesOf(kit.backend)).slice(before);
    expect(lines).toContainEqual({
      ...{
        actor: 'owner',
        action: 'write',
        target: 'session root',
        what: 'mcp state_set',
        outcome: 'allowed',
      },
    });
    expect(lines).toContainEqual({
      ...{ actor: 'owner', action: 'read', target: 'session nobody', what: 'mcp', outcome: 'refused' },
    });
    expect(JSON.stringify(lines)).not.toContain('a text');
  });

  it('records nothing, and makes no log, without being asked to', async () => {
    const kit = await serverKit();
    await kit.get('/agents');
    expect(await hasAuditLog(kit.backend)).toBe(false);
    expect(await kit.backend.listNames(['audit'])).toStrictEqual([]);
  });

  it('records without being asked where the store has a log, unless it is switched off', async () => {
    const backend = new MemoryStorage();
    for (const [audit, count] of [
      [true, 2],
      [undefined, 4],
      [false, 4],
    ] as const) {
      const server = await startServer({
        backend,
        token: TOKEN,
        port: 0,
        ...(audit === undefined ? {} : { audit }),
      });
      await ask(server.port, 'GET', '/agents');
      await server.close();
      expect((await linesOf(backend)).length).toBe(count);
    }
  });
});

/** A store whose audit log cannot be written while `isFull`. */
class FullLog extends ForwardingStorage {
  isFull = false;

  override openJournal<R extends JsonObject>(name: Name, options: JournalOptions = {}): Promise<Journal<R>> {
    if (this.isFull && name[0] === 'audit' && !options.readOnly)
      return Promise.reject(new RekindleError('STORAGE_FULL', 'No space left.'));
    return this.inner.openJournal(name, options);
  }
}

describe('a request that cannot be recorded', () => {
  it('is neither answered nor done', async () => {
    const backend = new FullLog(new MemoryStorage());
    const server = await startServer({ backend, token: TOKEN, port: 0, audit: true });
    try {
      const call = (method: string, target: string, body?: JsonObject) =>
        ask(server.port, method, target, body ? { body } : {});
      expect((await call('POST', '/sessions', { id: 'root', status: 'running' })).status).toBe(201);
      expect((await call('PUT', keyPath('note'), { value: 'old' })).status).toBeLessThan(300);
      await new Promise((resolve) => setTimeout(resolve, 400)); // the log's writer is closed when its lease ends
      backend.isFull = true;
      const read = await call('GET', keyPath('note'));
      expect(read.status).toBe(507);
      expect(read.text).not.toContain('old');
      expect((await call('PUT', keyPath('note'), { value: 'new' })).status).toBe(507);
      expect((await call('GET', '/health')).status).toBe(200);
      backend.isFull = false;
      expect((await call('GET', keyPath('note'))).text).toContain('old');
      expect(await verifyAudit(backend)).toMatchObject({ ok: true });
    } finally {
      await server.close();
    }
  });

  it('keeps a server from starting', async () => {
    const backend = new FullLog(new MemoryStorage());
    backend.isFull = true;
    await expect(startServer({ backend, token: TOKEN, port: 0, audit: true })).rejects.toMatchObject({
      code: 'STORAGE_FULL',
    });
  });
});
