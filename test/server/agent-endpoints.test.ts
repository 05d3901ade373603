/** Agents over HTTP: what they remember is looked at, and nothing is written. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { createAgent, ScriptedModel } from '../../src/index.js';
import { folderPrint, PROBLEM_TYPE, type ServerKit, serverKit } from './server-kit.js';

async function withAgent(agentId = 'ada', turns = 3): Promise<ServerKit> {
  const kit = await serverKit();
  const agent = createAgent({
    agentId,
    memoryDir: kit.dir,
    model: new ScriptedModel(Array.from({ length: turns }, (_, index) => ({ text: `answer ${index}` }))),
    systemPrompt: 'You are terse.',
  });
  await agent.start();
  for (let turn = 0; turn < turns; turn += 1) await agent.send(`question ${turn}`);
  await agent.stop();
  return kit;
}

describe('agents', () => {
  it('are listed, and shown one by one', async () => {
    const kit = await withAgent();
    const { agents } = (await kit.get('/agents')).json as { agents: JsonObject[] };
    expect(agents).toMatchObject([{ agent_id: 'ada', status: 'stopped', snapshot: 'valid', messages: 7 }]);
    const one = await kit.get('/agents/ada');
    expect([one.status, one.json]).toEqual([200, agents[0]]);
    expect(one.json['last_trace_at']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(one.json['traces']).toBeGreaterThan(5);
  });

  it('are none in an empty folder', async () => {
    const kit = await serverKit();
    expect((await kit.get('/agents')).json).toEqual({ agents: [] });
  });

  it('show what a restore would do, and the context it would give', async () => {
    const kit = await withAgent();
    const report = await kit.get('/agents/ada/restore-report');
    expect([report.status, report.json['agent_id']]).toEqual([200, 'ada']);
    expect(report.json['report']).toMatchObject({ source: expect.any(String) });
    const context = (await kit.get('/agents/ada/context')).json as {
      tokens: number;
      parts: Record<string, number>;
      messages: { index: number; tokens: number; repairs: string[]; message: JsonObject }[];
    };
    expect(context.messages.map(({ index, message }) => [index, message['role']])).toEqual([
      [0, 'system'],
      ...[0, 1, 2].flatMap((turn) => [
        [turn * 2 + 1, 'user'],
        [turn * 2 + 2, 'assistant'],
      ]),
    ]);
    expect(context.tokens).toBe(context.messages.reduce((sum, { tokens }) => sum + tokens, 0));
    expect(Object.values(context.parts).reduce((sum, tokens) => sum + tokens, 0)).toBe(context.tokens);
    expect(context.parts).toMatchObject({ requests: expect.any(Number), answers: expect.any(Number) });
    expect(JSON.stringify(context.messages.at(-1))).toContain('answer 2');
  });

  it('have traces, newest first, each on one page only', async () => {
    const kit = await withAgent();
    const all = (await kit.get('/agents/ada/traces')).json as { traces: JsonObject[]; before: null };
    const numbers = all.traces.map((trace) => trace['number'] as number);
    expect(numbers).toEqual(numbers.map((_, index) => numbers.length - index));
    expect(all.before).toBe(null);
    const paged: JsonObject[] = [];
    for (let before: unknown = numbers.length + 1; before !== null; ) {
      const page = (await kit.get(`/agents/ada/traces?limit=4&before=${before}`)).json;
      const rows = page['traces'] as JsonObject[];
      expect(rows.length).toBeLessThanOrEqual(4);
      paged.push(...rows);
      before = page['before'];
    }
    expect(paged).toEqual(all.traces);
    const exact = await kit.get(`/agents/ada/traces?limit=${numbers.length}`);
    expect(exact.json['before']).toBe(null);
    for (const query of ['before=0', 'before=1'])
      expect((await kit.get(`/agents/ada/traces?${query}`)).json).toMatchObject({ traces: [], before: null });
    for (const query of ['limit=501', 'limit=x', 'before=-1', 'before=1.5'])
      expect((await kit.get(`/agents/ada/traces?${query}`)).json).toMatchObject({ status: 400 });
  });

  it('a page of no traces is refused: it could not say where the next one begins', async () => {
    const kit = await withAgent('ada', 1);
    expect((await kit.get('/agents/ada/traces?limit=0')).json).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
    });
  });

  it.each(['nobody', 'a%2Fb', '%00', '%0A', 'x'.repeat(300), '%F0%9F%98%80', '...', '*', '__proto__', '~'])(
    'that are not there are a problem: %s',
    async (id) => {
      const kit = await serverKit();
      const before = await folderPrint(kit.dir);
      for (const part of ['', '/restore-report', '/context', '/traces']) {
        const missing = await kit.get(`/agents/${id}${part}`);
        expect([400, 404]).toContain(missing.status);
        expect(missing.headers['content-type']).toBe(PROBLEM_TYPE);
      }
      expect(kit.unexpected).toEqual([]);
      expect(await folderPrint(kit.dir)).toEqual(before);
    },
  );

  it('are only looked at: no file is made, changed or removed', async () => {
    const kit = await withAgent();
    const before = await folderPrint(kit.dir);
    for (const target of [
      '',
      '/ada',
      '/ada/restore-report',
      '/ada/context',
      '/ada/traces',
      '/ada/traces?limit=1',
    ])
      for (const method of ['GET', 'HEAD'])
        expect((await kit.call(method, `/agents${target}`)).status).toBe(200);
    expect(await folderPrint(kit.dir)).toEqual(before);
  });

  it('that run elsewhere are looked at while they do', async () => {
    const kit = await serverKit();
    const agent = createAgent({
      agentId: 'bob',
      memoryDir: kit.dir,
      model: new ScriptedModel([{ text: 'hi' }]),
    });
    await agent.start();
    await agent.send('hello');
    try {
      expect((await kit.get('/agents/bob')).json).toMatchObject({ agent_id: 'bob', status: 'running' });
      expect((await kit.get('/agents/bob/context')).text).toContain('hello');
      expect((await kit.get('/agents/bob/traces?limit=1')).status).toBe(200);
    } finally {
      await agent.stop();
    }
  });
});

describe('an agent that is erased over HTTP', () => {
  it('is told of first, is refused while it is open, and is gone', async () => {
    const kit = await withAgent();
    const dry = await kit.call('DELETE', '/agents/ada?dry_run=true');
    expect([dry.status, dry.json['dry_run'], dry.json['after']]).toEqual([200, true, null]);
    expect((await kit.get('/agents/ada')).status).toBe(200);
    const lease = await kit.backend.leases.acquire(['agents', 'ada']);
    const refusal = await kit.call('DELETE', '/agents/ada');
    expect([refusal.status, refusal.json['code']]).toEqual([503, 'LEASE_HELD']);
    await lease.release();
    const done = await kit.call('DELETE', '/agents/ada');
    expect(done.json).toMatchObject({
      dry_run: false,
      before: dry.json['before'],
      after: { items: 0, bytes: 0 },
    });
    expect((await kit.get('/agents/ada')).status).toBe(404);
    expect((await kit.call('DELETE', '/agents/ada')).status).toBe(404);
    expect((await kit.call('DELETE', '/agents/ada?dry_run=perhaps')).status).toBe(400);
  });
});
