/** Durable documents as tools of MCP clients: bound to those that were mounted. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TokenBook } from '../../../src/server/access/token-book.js';
import { startServer } from '../../../src/server/rekindle-server.js';
import { taskBoard } from '../../../src/state/durable/documents/task-board.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { call, connected, errorOf, result } from './mcp-kit.js';

const TOKEN = 'token-of-the-mcp-test';
const TASK = { id: 'T-001', goal: 'Parse', owner: 'builder', acceptance: ['npm test'], status: 'todo' };

async function served(mcpDocuments: readonly string[] = ['task_board']) {
  const backend = new MemoryStorage();
  const board = await StateManager.open({ ...taskBoard, backend });
  await (await StateManager.open({ ...taskBoard, name: 'task_board.other', backend })).close();
  const server = await startServer({ backend, token: TOKEN, port: 0, mcpDocuments });
  const shared = new SharedSessions(backend);
  await shared.tree.create({ id: 'child_a' });
  onTestFinished(async () => {
    await server.close();
    await board.close();
    await shared.close();
  });
  const client = async (token = TOKEN, headers: Record<string, string> = {}) => {
    const requestInit = { headers: { Authorization: `Bearer ${token}`, ...headers } };
    const opened = await connected(
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }),
    );
    onTestFinished(() => opened.close());
    return opened;
  };
  return { backend, board, client };
}

async function namesOf(client: Awaited<ReturnType<typeof connected>>): Promise<string[]> {
  return (await client.listTools()).tools
    .map(({ name }) => name)
    .filter((name) => name.endsWith('e_state') || name.startsWith('read_s'));
}

describe('durable documents over MCP', () => {
  it('are read and changed in the name of the session', async () => {
    const { board, client } = await served();
    const own = await client(TOKEN, { 'X-Agent-Session-Id': 'child_a' });
    expect(await result(own, 'read_state', { name: 'task_board' })).toMatchObject({ version: 1 });
    const add = { name: 'task_board', pointer: '/tasks/-', patch: TASK };
    expect(await result(own, 'update_state', add)).toEqual({ name: 'task_board', version: 2 });
    expect(await board.load()).toMatchObject({ version: 2, by: 'child_a' });
  });

  it('refuse what was not mounted, an old version and a violation, with code, status and text', async () => {
    const { client, board } = await served();
    const own = await client();
    expect(await errorOf(own, 'read_state', { name: 'task_board.other' })).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('must be one of "task_board"'),
    });
    const change = { name: 'task_board', patch: { tasks: [TASK] } };
    await result(own, 'update_state', change);
    expect(await errorOf(own, 'update_state', { ...change, version: 1 })).toMatchObject({
      ...{ code: 'DOCUMENT_CONFLICT', status: 409, details: { currentVersion: 2 } },
    });
    const wrong = { name: 'task_board', patch: { tasks: [{ ...TASK, id: 'one' }] }, version: 2 };
    const { text, isError } = await call(own, 'update_state', wrong);
    expect(isError).toBe(true);
    expect(text).toContain('/tasks/0/id must match pattern');
    expect((await board.load()).version).toBe(2);
  });

  it('are listed as a tool that reads and one that may destroy', async () => {
    const { tools } = await (await (await served()).client()).listTools();
    const hints = ['read_state', 'update_state'].map((name) => {
      const { readOnlyHint, destructiveHint } = tools.find((tool) => tool.name === name)!.annotations!;
      return { readOnlyHint, destructiveHint };
    });
    expect(hints).toEqual([
      { readOnlyHint: true, destructiveHint: false },
      { readOnlyHint: false, destructiveHint: true },
    ]);
  });

  it('are no tools without being mounted, and none for a token of a part', async () => {
    const bare = await served([]);
    expect(await namesOf(await bare.client())).toEqual([]);
    const { backend, client } = await served();
    const book = new TokenBook(backend);
    const part = await book.create({ agents: [], roots: ['child_a'], session: 'child_a', mayWrite: true });
    expect(await namesOf(await client(part.token))).toEqual([]);
    const all = { agents: 'all', roots: 'all', session: null } as const;
    const reader = await book.create({ ...all, mayWrite: false });
    expect(await namesOf(await client(reader.token))).toEqual(['read_state']);
    expect((await namesOf(await client())).sort()).toEqual(['read_state', 'update_state']);
  });
});
