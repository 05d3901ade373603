/** The calls of MCP clients in the tool-call log. */
import { type Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openWorkingContext } from '../../../src/agent/context/open-working-context.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { RekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import { McpTools } from '../../../src/server/mcp/mcp-server.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { Journal, JournalOptions, Name, StorageBackend } from '../../../src/storage/ports.js';
import { withRedaction } from '../../../src/storage/redacted-storage.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { type Caller, call, connected, errorOf, result } from './mcp-kit.js';

/** The agent ada with one session of hers and one of nobody, both of one root. */
async function served(backend: StorageBackend, onLogFailed?: (message: string) => void) {
  const ada = await openWorkingContext({ agentId: 'ada', storage: backend });
  await ada.beginTurn('The parcel ships on Friday.');
  await ada.endTurn([{ role: 'assistant', content: 'Noted.' }]);
  await ada.close();
  const [shared, checkpoints] = [new SharedSessions(backend), new CheckpointService({ backend })];
  await shared.tree.create({ id: 'root' });
  await shared.tree.create({ id: 'of_ada', parent: 'root', agent: 'ada' });
  await shared.tree.create({ id: 'of_nobody', parent: 'root' });
  const options = { backend, shared, checkpoints, version: '0', ...(onLogFailed ? { onLogFailed } : {}) };
  const tools = new McpTools(options);
  onTestFinished(async () => {
    await tools.close();
    await shared.close();
  });
  const client = async ({ session = null, agent = null }: { [Key in keyof Caller]: string | null }) => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const server = await tools.serverFor(await tools.known({ session, agent }));
    await server.connect(far as never);
    return connected(near);
  };
  return { client, log: new ToolCallLog(backend) };
}

const shownTo = async (client: Client, args: JsonObject = {}) =>
  ((await result(client, 'get_recent_tool_calls', args))['result'] as JsonObject[]).map(({ tool }) => tool);

describe('a call of an MCP client', () => {
  it('is in the tool-call log when its answer is there, with input, output, agent and duration', async () => {
    const { client, log } = await served(new MemoryStorage());
    const before = Date.now();
    const written = await result(await client({ agent: 'ada' }), 'write_to_workspace', {
      key: 'a',
      value: [1],
    });
    const [logged, ...others] = await log.recent();
    expect([logged, others]).toMatchObject([
      {
        tool: 'write_to_workspace',
        agent: 'ada',
        session: null,
        input: { key: 'a', value: [1] },
        output: written,
        error: null,
        durationMs: expect.any(Number),
      },
      [],
    ]);
    expect(Date.parse(logged!.startedAt)).toBeGreaterThanOrEqual(before);
  });

  it.each([
    ['fails', 'read_from_workspace', { key: 'nowhere' }, 'ENTRY_NOT_FOUND'],
    ['is refused for its input', 'read_from_workspace', { name: 'a' }, 'INVALID_ARGUMENT'],
  ])('that %s is there with the error that the client has', async (_, name, args, code) => {
    const { client, log } = await served(new MemoryStorage());
    const error = await errorOf(await client({ agent: 'ada' }), name, args);
    expect(error['code']).toBe(code);
    expect(await log.recent()).toMatchObject([
      { status: 'error', error: `${code}: ${String(error['message'])}`, input: args, output: null },
    ]);
  });

  it('is logged for every tool but the search of the log', async () => {
    const { client, log } = await served(new MemoryStorage());
    const own = await client({ session: 'of_ada' });
    await call(own, 'state_set', { key: 'a', value: 1 });
    await call(own, 'memory_search', { query: 'parcel' });
    await call(own, 'workflow_checkpoint_list', {});
    await call(own, 'get_recent_tool_calls');
    await call(own, 'get_workspace_summary');
    expect((await log.recent()).map(({ tool, agent }) => [tool, agent])).toEqual([
      ['get_workspace_summary', 'ada'],
      ['workflow_checkpoint_list', 'ada'],
      ['memory_search', 'ada'],
      ['state_set', 'ada'],
    ]);
  });

  it('is shown to the sessions of its root, unless it is of the memory of its agent', async () => {
    const { client } = await served(new MemoryStorage());
    const [own, sibling] = [await client({ session: 'of_ada' }), await client({ session: 'of_nobody' })];
    await call(own, 'memory_search', { query: 'parcel' });
    await call(own, 'state_set', { key: 'a', value: 1 });
    expect((await call(own, 'memory_search', { query: 'parcel' })).text).toContain('Friday');
    expect(await shownTo(sibling)).toEqual(['state_set']);
    expect(await shownTo(sibling, { text: 'Friday' })).toEqual([]);
    expect(await shownTo(await client({ agent: 'ada' }))).toEqual([
      'memory_search',
      'state_set',
      'memory_search',
    ]);
    await call(await client({}), 'get_workspace_summary');
    expect(await shownTo(await client({}))).toEqual(['get_workspace_summary']);
  });

  it('is there without the passages of the memory and the contexts of checkpoints, which would outlive them', async () => {
    const { client, log } = await served(new MemoryStorage());
    const own = await client({ agent: 'ada' });
    const saving = { metadata: { tags: ['t'] }, context: { goal: 'the secret goal' } };
    await result(own, 'workflow_checkpoint_save', saving);
    expect((await call(own, 'memory_search', { query: 'parcel' })).text).toContain('Friday');
    expect(await log.recent()).toMatchObject([
      { tool: 'memory_search', input: { query: 'parcel' }, output: '[left out of the log]' },
      {
        tool: 'workflow_checkpoint_save',
        input: { metadata: { tags: ['t'] }, context: '[left out of the log]' },
        output: '[left out of the log]',
      },
    ]);
  });

  it('is redacted as the store is', async () => {
    const { client, log } = await served(withRedaction(new MemoryStorage()));
    const key = 'ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R';
    await call(await client({ agent: 'ada' }), 'write_to_workspace', {
      key: 'a',
      value: `My key is ${key}.`,
    });
    await call(await client({ agent: 'ada' }), 'read_from_workspace', { key });
    const text = JSON.stringify(await log.recent());
    expect(text).toContain('My key is [redacted:github-token].');
    expect(text).not.toContain(key);
  });

  it('works when the log fails, and the failure is told', async () => {
    const failures: string[] = [];
    const storage = new FullLog();
    const { client } = await served(storage, (message) => failures.push(message));
    const own = await client({ agent: 'ada' });
    expect(await result(own, 'write_to_workspace', { key: 'a', value: 1 })).toMatchObject({ version: 1 });
    expect(failures).toEqual(['No space is left.']);
  });
});

/** There is no space for the log. */
class FullLog extends MemoryStorage {
  override async openJournal<R extends JsonObject>(
    name: Name,
    options?: JournalOptions,
  ): Promise<Journal<R>> {
    if (name.includes('tool_calls')) throw new RekindleError('STORAGE_FULL', 'No space is left.');
    return super.openJournal<R>(name, options);
  }
}
