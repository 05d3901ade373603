import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLI_TIMEOUT_MS,
  type CliOptions,
  type CliResult,
  resultOf,
  runCli,
  startCli,
} from '../../cli/cli-fixture.js';
import { noise } from './checkpoint-contract.js';
import { AGENT_ID, connected, McpWorld, result, SESSION_A } from './mcp-kit.js';
import { transportTo } from './stdio-transport.js';

describe('rekindle mcp', { timeout: CLI_TIMEOUT_MS }, () => {
  let world: McpWorld;
  beforeAll(async () => {
    world = await McpWorld.make();
  });
  afterAll(() => world.close());

  const mcp = (args: readonly string[], options: CliOptions = {}): Promise<CliResult> =>
    runCli(['mcp', '--dir', world.dir, ...args], options);
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const lines = (...messages: readonly unknown[]) =>
    messages.map((message) => `${JSON.stringify(message)}\n`).join('');

  it('takes the session from the environment, unless it is given', async () => {
    const client = await connected(transportTo(world.dir, {}, { AGENT_SESSION_ID: SESSION_A }));
    const set = await result(client, 'state_set', { key: 'env', value: 1 });
    expect(set).toMatchObject({ updated_by: SESSION_A });
    expect(await result(client, 'memory_search', { query: 'zebra' })).toHaveProperty('results.0');
    await client.close();
    const given = await connected(
      transportTo(world.dir, { session: SESSION_A }, { AGENT_SESSION_ID: 'nobody' }),
    );
    expect(await result(given, 'state_get', { key: 'env' })).toMatchObject({ found: true });
    await given.close();
  });

  it.each([
    ['session', ['--session', 'nobody'], {}, 'There is no session "nobody".'],
    ['session in the environment', [], { AGENT_SESSION_ID: 'nobody' }, 'There is no session "nobody".'],
    ['agent', ['--agent', 'nobody'], {}, 'There is no agent "nobody" here.'],
    ['agent of a known session', ['--session', SESSION_A, '--agent', 'nobody'], {}, 'no agent "nobody"'],
  ])('ends with code 3 for an unknown %s, before anything is served', async (_what, args, env, text) => {
    const { code, stdout, stderr } = await mcp(args, { env, input: lines(initialize) });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(text);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it('offers the durable documents that were named, and no others', async () => {
    await runCli(['state', 'init', 'task-board', '--dir', world.dir]);
    const read = (id: number, name: string) => {
      const params = { name: 'read_state', arguments: { name } };
      return { jsonrpc: '2.0', id, method: 'tools/call', params };
    };
    const input = lines(initialize, read(2, 'task_board'), read(3, 'agent_state'));
    const { code, stdout } = await mcp(['--state', 'task-board'], { input });
    expect(code).toBe(0);
    expect(stdout).toContain('"structuredContent":{"name":"task_board","version":1');
    expect(stdout).toContain('/name must be one of \\"task_board\\"');
  });

  it.each([
    ['that does not exist', 'agent_state', 3, 'There is no document "agent_state" here.'],
    ['without a definition', 'plans', 2, 'No definition is known for "plans".'],
  ])('ends before anything is served for a document %s', async (_what, name, code, text) => {
    const ended = await mcp(['--state', name], { input: lines(initialize) });
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) });
  });

  it('refuses an environment with a root and no session', async () => {
    const { code, stdout, stderr } = await mcp([], { env: { AGENT_ROOT_SESSION_ID: 'root' } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('AGENT_SESSION_ID is not');
  });

  it('ends with code 0, quickly and without a word, when its input is empty', async () => {
    expect(await mcp(['--session', SESSION_A])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('writes nothing but protocol to its standard output, and ends with code 0 soon after its input', async () => {
    const child = startCli(['mcp', '--dir', world.dir, '--session', SESSION_A, '--agent', AGENT_ID]);
    const ended = resultOf(child);
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    const answered = new Promise<void>((resolve) => {
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
        if (text.includes('"id":2')) resolve();
      });
    });
    child.stdin.write(`no json\n${lines(initialize, ping)}`);
    await answered;
    const closedAt = performance.now();
    child.stdin.end();
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(performance.now() - closedAt).toBeLessThan(5_000);
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(answers).toMatchObject([
      { jsonrpc: '2.0', id: 1, result: { serverInfo: { name: 'rekindle' } } },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
  });

  it('saves a checkpoint of 300 kB, lists it and loads exactly that, without a session and an agent', async () => {
    const client = await connected(transportTo(world.dir, {}));
    const messages = noise('stdio', 300);
    await result(client, 'workflow_checkpoint_save', { sessionId: 'stdio', context: { messages } });
    const page = await result(client, 'workflow_checkpoint_list', { sessionId: 'stdio' });
    expect(page).toMatchObject({ total: 1, checkpoints: [{ id: 'stdio@1', agentId: null }] });
    const { context } = await result(client, 'workflow_checkpoint_load', { checkpointId: 'stdio@1' });
    expect(JSON.stringify(context) === JSON.stringify({ messages })).toBe(true);
    await client.close();
  });

  it('answers what was asked before its input ended', async () => {
    const params = { name: 'state_set', arguments: { key: 'last', value: 1 } };
    const { code, stdout } = await mcp(['--session', SESSION_A], {
      input: lines(initialize, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }),
    });
    expect(code).toBe(0);
    expect(stdout).toContain('"id":2');
  });
});
