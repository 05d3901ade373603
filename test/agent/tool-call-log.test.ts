/** What an agent hands to a tool-call log. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentConfig } from '../../src/agent/context/agent-config.js';
import { createAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel, type ScriptStep } from '../../src/agent/model/scripted-model.js';
import { ManualClock } from '../../src/core/clock.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { ToolCallLog } from '../../src/workspace/tool-calls/tool-call-log.js';
import { callsWork, tool } from './agent-fixture.js';

/** An agent `ada` with a log of its own, started. */
async function logged(script: readonly ScriptStep[], config: Partial<AgentConfig> = {}) {
  const storage = new MemoryStorage();
  const log = new ToolCallLog(storage);
  const agent = createAgent({
    agentId: 'ada',
    storage,
    model: new ScriptedModel(script),
    toolCallLog: { log },
    ...config,
  });
  const failures: string[] = [];
  agent.events.on('tool_log_failed', ({ message }) => failures.push(message));
  await agent.start();
  onTestFinished(() => agent.stop({ graceMs: 0 }));
  return { agent, log, storage, failures };
}

const DONE = { text: 'Done.' };
const double = tool({
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  execute: (args) => Number(args['n']) * 2,
});

describe('the tool-call log of an agent', () => {
  it('has every call of the turn when send() resolves', async () => {
    const { agent, log, failures } = await logged(
      [callsWork({ n: 1 }, { n: 2 }), callsWork({ n: 3 }), DONE],
      { tools: [double] },
    );
    const { turnId } = await agent.send('go');
    const found = await log.search();
    expect(found.map(({ input, output }) => [input, output]).sort()).toEqual([
      [{ n: 1 }, 2],
      [{ n: 2 }, 4],
      [{ n: 3 }, 6],
    ]);
    for (const call of found)
      expect(call).toMatchObject({ agent: 'ada', tool: 'work', turnId, session: null, status: 'ok' });
    expect(failures).toEqual([]);
  });

  it('has a call before the model is asked again', async () => {
    let log: ToolCallLog | null = null;
    let seen: Promise<unknown[]> = Promise.resolve([]);
    const look = () => {
      seen = log!.search();
      return DONE;
    };
    const started = await logged([callsWork({ n: 1 }), look], { tools: [double] });
    log = started.log;
    await started.agent.send('go');
    expect(await seen).toHaveLength(1);
  });

  it('has the name and the session that the host gives', async () => {
    const storage = new MemoryStorage();
    const log = new ToolCallLog(storage);
    const { agent } = await logged([callsWork({ n: 1 }), DONE], {
      tools: [double],
      toolCallLog: { log, agent: 'analyst', session: 's1' },
    });
    await agent.send('go');
    expect(await log.search({ agent: 'analyst', session: 's1' })).toHaveLength(1);
    expect(await log.search({ agent: 'ada' })).toEqual([]);
  });

  it('has how long the tool ran, without the wait for an approval', async () => {
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const slow = tool({ needsApproval: true, execute: () => pause(20) });
    const { agent, log } = await logged([callsWork(), DONE], {
      tools: [slow],
      approve: () => pause(200).then(() => true),
    });
    await agent.send('go');
    const [call] = await log.search();
    expect(call!.durationMs).toBeGreaterThanOrEqual(15);
    expect(call!.durationMs).toBeLessThan(190);
  });

  it('tells the time by the clock of the agent', async () => {
    const clock = new ManualClock();
    const { agent, log } = await logged([callsWork({ n: 1 }), DONE], { tools: [double], clock });
    await agent.send('go');
    expect(await log.search({ fromMs: clock.nowMs(), toMs: clock.nowMs() })).toHaveLength(1);
  });

  it('has calls that failed, with what the tool said', async () => {
    const failing = tool({
      execute: () => {
        throw new TypeError('no such file');
      },
    });
    const { agent, log } = await logged([callsWork({ n: 1 }), DONE], { tools: [failing] });
    await agent.send('go');
    const [call] = await log.search({ status: 'error' });
    expect(call).toMatchObject({
      input: { n: 1 },
      output: null,
      error: expect.stringContaining('no such file'),
    });
  });

  it('has calls that were refused: bad arguments, no such tool', async () => {
    let ran = 0;
    const strict = tool({
      inputSchema: { type: 'object', required: ['n'] },
      execute: () => (ran += 1),
    });
    const calls = [
      { name: 'work', arguments: { m: 1 } },
      { name: 'work', arguments: 'text' },
      { name: 'absent', arguments: {} },
    ];
    const { agent, log } = await logged([{ calls }, DONE], { tools: [strict] });
    await agent.send('go');
    const found = (await log.search()).sort((a, b) => (a.callId < b.callId ? -1 : 1));
    expect(found.map(({ tool: name, status, input }) => [name, status, input])).toEqual(
      calls.map((call) => [call.name, 'error', call.arguments]),
    );
    expect(found[0]?.error).toContain("'n'");
    expect(ran).toBe(0);
  });

  it('has calls that were approved, denied, or had nobody to approve them', async () => {
    const asking = tool({ needsApproval: (args) => args['ask'] === true, execute: () => 'ran' });
    const script = [callsWork({ ask: true, n: 1 }, { ask: true, n: 2 }, { ask: false }), DONE];
    const { agent, log } = await logged(script, {
      tools: [asking],
      approve: ({ arguments: args }) => (args as { n: number }).n === 1,
    });
    await agent.send('go');
    expect((await log.search({ status: 'ok' })).map(({ output }) => output)).toEqual(['ran', 'ran']);
    expect(await log.search({ text: 'not approved' })).toMatchObject([{ input: { n: 2 }, status: 'error' }]);
    const alone = await logged(script, { tools: [asking] });
    await alone.agent.send('go');
    expect(await alone.log.search({ text: 'needs approval' })).toHaveLength(2);
  });

  it('has what went in, also when the tool changes its arguments', async () => {
    const greedy = tool({
      execute: (args) => {
        const list = args['list'] as number[];
        return list.splice(0).length;
      },
    });
    const { agent, log } = await logged([callsWork({ list: [1, 2, 3] }), DONE], { tools: [greedy] });
    await agent.send('go');
    expect(await log.search()).toMatchObject([{ input: { list: [1, 2, 3] }, output: 3 }]);
  });

  it('has what came out, also when a listener changes it', async () => {
    const listing = tool({ execute: () => [1, 2, 3] });
    const { agent, log } = await logged([callsWork(), DONE], { tools: [listing] });
    agent.events.on('tool_result', ({ result }) => void (result as number[]).splice(0));
    await agent.send('go');
    expect(await log.search()).toMatchObject([{ output: [1, 2, 3] }]);
  });

  it('has large values by reference, and values that are odd', async () => {
    const text = 'x'.repeat(10_000);
    const results: unknown[] = [text, undefined, 12n, Number.NaN, { toJSON: null }];
    const odd = tool({ execute: (args) => results[Number(args['n'])] });
    const { agent, log, failures } = await logged(
      [callsWork(...results.map((_, n) => ({ n, text }))), DONE],
      { tools: [odd] },
    );
    await agent.send('go');
    const found = await log.search();
    expect(found).toHaveLength(results.length);
    for (const call of found) expect(call).toMatchObject({ status: 'ok', input: null });
    expect(await log.search({ text: text.slice(0, 5_000), status: 'ok' })).toHaveLength(results.length);
    expect(failures).toEqual([]);
  });

  it('has the call of a turn that was cancelled', async () => {
    const abort = new AbortController();
    const cancelling = tool({
      execute: () => {
        abort.abort();
        return new Promise(() => {});
      },
    });
    const { agent, log } = await logged([callsWork({ n: 1 })], { tools: [cancelling] });
    expect((await agent.send('go', { signal: abort.signal })).status).toBe('aborted');
    expect(await log.search({ status: 'error' })).toHaveLength(1);
  });

  it('shares commits between calls that end together', async () => {
    const { agent, log, storage } = await logged(
      [callsWork(...Array.from({ length: 8 }, (_, n) => ({ n }))), DONE],
      { tools: [double] },
    );
    let opened = 0;
    const acquire = storage.leases.acquire.bind(storage.leases);
    storage.leases.acquire = (name, options) => {
      if (name.includes('tool_calls.lease')) opened += 1;
      return acquire(name, options);
    };
    await agent.send('go');
    expect(opened).toBe(1);
    expect(await log.search()).toHaveLength(8);
  });
});

describe('a tool-call log that fails', () => {
  it('because it is closed fails no turn, and each call is told', async () => {
    const { agent, log, failures } = await logged([callsWork({ n: 1 }, { n: 2 }), DONE, DONE], {
      tools: [double],
    });
    await log.close();
    expect(await agent.send('go')).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(failures).toHaveLength(2);
    expect(failures[0]).toContain('closed');
    expect((await agent.send('again')).status).toBe('completed');
  });

  it('because its store does fails no turn, and has the next call', async () => {
    const broken = new MemoryStorage();
    const log = new ToolCallLog(broken);
    const open = broken.openJournal.bind(broken);
    broken.openJournal = () => Promise.reject(new TypeError('the disk is gone'));
    const { agent, failures } = await logged([callsWork({ n: 1 }), DONE, callsWork({ n: 2 }), DONE], {
      tools: [double],
      toolCallLog: { log },
    });
    agent.events.on('tool_log_failed', () => {
      throw new TypeError('a bad listener');
    });
    expect((await agent.send('go')).status).toBe('completed');
    expect(failures).toEqual(['the disk is gone']);
    broken.openJournal = open;
    await agent.send('again');
    expect(await log.search()).toMatchObject([{ input: { n: 2 } }]);
  });

  it('with what is no error fails no turn', async () => {
    for (const record of [() => Promise.reject(undefined), () => Promise.reject({ toString: null })]) {
      const log = new ToolCallLog(new MemoryStorage());
      log.record = record;
      const { agent, failures } = await logged([callsWork({ n: 1 }), DONE], {
        tools: [double],
        toolCallLog: { log },
      });
      expect((await agent.send('go')).status).toBe('completed');
      expect(failures).toHaveLength(1);
    }
  });
});
