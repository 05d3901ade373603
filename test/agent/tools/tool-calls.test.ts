/** What becomes of a call: its result, its error, or the reason why it did not run. Every call gets exactly one. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { RekindleError } from '../../../src/core/errors.js';
import type { JsonObject, JsonValue } from '../../../src/core/json.js';
import type { ToolContext, ToolDefinition } from '../../../src/core/tool-definition.js';
import { agentFixture, callsWork, outline, tool } from '../agent-fixture.js';

/** Runs one turn in which the model calls `work` with these arguments, and gives the lines of the results. */
async function resultsOf(work: ToolDefinition, ...args: readonly JsonObject[]): Promise<string[]> {
  const fixture = await agentFixture();
  const agent = await fixture.started([callsWork(...args), { text: 'ok' }], { tools: [work] });
  await agent.send('go');
  return outline(agent.messages).filter((line) => /^(result|error)/.test(line));
}

async function resultOfCall(name: string, args: JsonValue, work: ToolDefinition): Promise<string> {
  const fixture = await agentFixture();
  const agent = await fixture.started([{ calls: [{ name, arguments: args }] }, { text: 'ok' }], {
    tools: [work],
  });
  expect((await agent.send('go')).status).toBe('completed');
  return outline(agent.messages).at(-2)!;
}

const typed = tool({
  inputSchema: {
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
    additionalProperties: false,
  },
  execute: () => 'ran',
});

describe('a tool', () => {
  it('that throws gives the model its error', async () => {
    const work = tool({ execute: () => Promise.reject(new Error('no such file')) });
    expect(await resultsOf(work)).toEqual(['error: no such file']);
  });

  it.each([
    ['text', 'a plain text'],
    ['an error without a message', new Error('')],
    ['undefined', undefined],
  ])('that throws %s gives an error with words', async (_, thrown) => {
    const work = tool({
      execute: () => {
        throw thrown;
      },
    });
    const [line] = await resultsOf(work);
    expect(line).toMatch(/^error: \S/);
  });

  it('that returns nothing has the result null', async () => {
    expect(await resultsOf(tool({ execute: () => {} }))).toEqual(['result: null']);
  });

  it('may return what JSON cannot say', async () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const work = tool({ execute: () => ({ big: 2n ** 64n, when: new Date(0), cycle, nan: Number.NaN }) });
    expect(await resultsOf(work)).toEqual([
      'result: {"big":"18446744073709551616","when":"1970-01-01T00:00:00.000Z","cycle":{"self":"[circular]"},"nan":"NaN"}',
    ]);
  });

  it('that fails does not keep the others of its response from running', async () => {
    const work = tool({
      execute: ({ n }) => {
        if (n === 1) throw new Error('one fails');
        return n;
      },
    });
    expect(await resultsOf(work, { n: 1 }, { n: 2 })).toEqual(['error: one fails', 'result: 2']);
  });

  it('learns its call, its turn and a key that is the same for every attempt of the call', async () => {
    let seen: ToolContext | null = null;
    await resultsOf(
      tool({
        execute: (_, context) => {
          seen = context;
        },
      }),
    );
    expect(seen).toMatchObject({
      callId: 'call_1_1',
      turnId: 'turn_0001',
      idempotencyKey: 'ada/turn_0001/call_1_1',
    });
  });

  it('that itself lost a lease (of another agent) has failed, and nothing more', async () => {
    const fixture = await agentFixture();
    const work = tool({
      execute: () => {
        throw new RekindleError('LEASE_LOST', 'The sub-agent was taken over.');
      },
    });
    const agent = await fixture.started([callsWork(), { text: 'ok' }], { tools: [work] });
    expect((await agent.send('go')).text).toBe('ok');
    expect(agent.status).toBe('idle');
    expect(outline(agent.messages)).toContain('error: The sub-agent was taken over.');
  });
});

describe('a call that cannot run', () => {
  it('of a tool that does not exist names those that do', async () => {
    const line = await resultOfCall('fly', {}, typed);
    expect(line).toBe(
      'error: There is no tool "fly". Known tools: work, read_result, memory_search, memory_read.',
    );
  });

  it('with arguments that do not fit the schema tells what is wrong, and the tool does not run', async () => {
    let ran = 0;
    const line = await resultOfCall('work', { n: 'two', x: 1 }, { ...typed, execute: () => ++ran });
    expect(line).toMatch(/^error: The arguments do not fit the schema: .*\/n must be number/);
    expect(ran).toBe(0);
  });

  it.each([['text'], [null], [7], [['a', 'list']]] as JsonValue[][])(
    'with the arguments %j, which are no object, is refused',
    async (args) => {
      expect(await resultOfCall('work', args!, typed)).toBe('error: The arguments must be a JSON object.');
    },
  );

  it('is told as a result without a start, and the ledger does not know it', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ calls: [{ name: 'fly', arguments: {} }] }, { text: 'ok' }]);
    const seen: string[] = [];
    for await (const { type } of agent.stream('go')) seen.push(type);
    expect(seen).toEqual(['turn_started', 'tool_call', 'tool_result', 'text_delta', 'turn_ended']);
    expect(await fixture.files().then((files) => [...files.keys()])).not.toContain(
      'agents/ada/pending_calls.jsonl',
    );
  });

  it('never changes the arguments that the tool and the context get', async () => {
    let seen: JsonObject = {};
    const work = tool({
      inputSchema: { type: 'object', properties: { n: { type: 'number', default: 7 } } },
      execute: (args) => {
        seen = args;
      },
    });
    await resultsOf(work, { other: '5' });
    expect(seen).toEqual({ other: '5' });
  });
});

describe('a time-out', () => {
  it('gives the call an error that says that its outcome is unknown, and the turn goes on', async () => {
    let aborted = false;
    const work = tool({
      timeoutMs: 5,
      execute: (_, { signal }) => {
        signal.addEventListener('abort', () => (aborted = true));
        return new Promise(() => {}); // for ever
      },
    });
    const [line] = await resultsOf(work);
    expect(line).toBe(
      'error: Timed out after 5 ms, so its outcome is unknown. Check its effects before you repeat it.',
    );
    expect(aborted).toBe(true);
  });

  it('is no trouble for a tool that is fast enough', async () => {
    expect(await resultsOf(tool({ timeoutMs: 60_000, execute: () => 'fast' }))).toEqual(['result: "fast"']);
  });

  it('of a tool that fails later, unseen, does no harm', async () => {
    const work = tool({
      timeoutMs: 2,
      execute: () => new Promise((_, reject) => setTimeout(() => reject(new Error('too late')), 10)),
    });
    expect((await resultsOf(work))[0]).toMatch(/^error: Timed out/);
    await new Promise((resolve) => setTimeout(resolve, 15)); // an unhandled rejection would fail the run
  });
});

describe('a long life', () => {
  it('leaves no listener on the turn signal behind for each call', async () => {
    const fixture = await agentFixture();
    const signals: AbortSignal[] = [];
    const agent = await fixture.started([callsWork({}, {}, {}), { text: 'ok' }], {
      tools: [tool({ needsApproval: true, execute: () => 1 })],
      approve: ({ signal }) => {
        signals.push(signal);
        return true;
      },
    });
    await agent.send('go');
    expect(signals).toHaveLength(3);
    expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0, 0, 0]);
  });
});
