/** The durable queue of inputs: how each mode runs, in which order, and what is stored. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/agent/agent.js';
import type { ScriptStep } from '../../../src/agent/model/scripted-model.js';
import { RekindleError } from '../../../src/core/errors.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { textOf } from '../../../src/messages/message.js';
import {
  AGENT_ID,
  type AgentFixture,
  agentFixture,
  callsWork,
  gate,
  outline,
  rejection,
  storageAfterKill,
  tool,
  until,
} from '../agent-fixture.js';

const ECHO: ScriptStep = ({ messages }) => ({ text: `re ${textOf(messages.at(-1)!)}` });
const echoes = (count: number): ScriptStep[] => Array.from({ length: count }, () => ECHO);

/** A tool that waits for its gate, and tells when it runs. */
function slowTool() {
  const started = gate();
  const end = gate();
  const work = tool({
    execute: async () => {
      started.open();
      await end.opened;
      return 'ok';
    },
  });
  return { started, end, work };
}

async function idle(agent: Agent): Promise<void> {
  await agent.runQueued();
}

/** As a process leaves it that is killed before it runs what it stored. */
async function leftWaiting(fixture: AgentFixture, inputs: readonly string[]): Promise<void> {
  const { started, work } = slowTool();
  const agent = await fixture.started([callsWork()], { tools: [work] });
  void agent.send('first').catch(() => {});
  await started.opened;
  for (const [index, text] of inputs.entries()) await agent.enqueue(text, { id: `in-${index}` });
}

describe('an input in mode queue', () => {
  it('runs at once if no turn runs', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(1));
    const input = await agent.enqueue('hello');
    expect(input).toMatchObject({ mode: 'queue', state: 'waiting', turnId: null });
    expect(input.message).toMatchObject({ role: 'user', content: 'hello' });
    await idle(agent);
    expect(outline(agent.messages)).toEqual(['user: hello', 'assistant: re hello']);
  });

  it('becomes a turn of its own after the running one, in the order of the calls', async () => {
    const fixture = await agentFixture();
    const { started, end, work } = slowTool();
    const agent = await fixture.started([callsWork(), ...echoes(4)], { tools: [work] });
    const turn = agent.send('first');
    await started.opened;
    await Promise.all([agent.enqueue('second'), agent.enqueue('third')]);
    expect((await agent.queuedInputs()).map(({ message }) => textOf(message))).toEqual(['second', 'third']);
    const last = agent.send('fourth');
    end.open();
    await Promise.all([turn, last]);
    expect(outline(agent.messages).filter((line) => line.startsWith('user'))).toEqual([
      'user: first',
      'user: second',
      'user: third',
      'user: fourth',
    ]);
    expect(await agent.queuedInputs()).toEqual([]);
  });

  it('runs by itself after another input, whose turn ran when it was added', async () => {
    const fixture = await agentFixture();
    const { started, end, work } = slowTool();
    const agent = await fixture.started([callsWork(), ...echoes(2)], { tools: [work] });
    await agent.enqueue('first');
    await started.opened;
    await agent.enqueue('second');
    end.open();
    await until(() => outline(agent.messages).includes('assistant: re second'));
  });

  it('is on disk before it is acknowledged, while a turn runs', async () => {
    const fixture = await agentFixture();
    await leftWaiting(fixture, ['second']);
    const [row, ...rest] = await fixture.rows('inputs');
    expect(rest).toEqual([]);
    expect(row).toMatchObject({
      event: 'queued',
      input_id: 'in-0',
      mode: 'queue',
      message: { role: 'user', content: 'second' },
    });
  });

  it('tells listeners when it is stored and when a turn takes it', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(1));
    const heard: unknown[] = [];
    agent.events.on('input_queued', (event) => heard.push(event));
    agent.events.on('input_taken', (event) => heard.push(event));
    await agent.enqueue('hello', { id: 'a' });
    await idle(agent);
    expect(heard).toEqual([
      { inputId: 'a', mode: 'queue' },
      { inputId: 'a', mode: 'queue', turnId: 'turn_0001' },
    ]);
  });

  it('keeps media apart, as send does', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Nice.' }]);
    const data = new Uint8Array([1, 2, 3]);
    await agent.enqueue({ text: 'see', media: [{ kind: 'image', mime: 'image/png', data }] });
    await idle(agent);
    const [, part] = agent.messages[0]!.parts!;
    expect(part?.type === 'media' && (await agent.memory.getArtifact(part.media.ref))?.join()).toBe('1,2,3');
  });
});

describe('an input in mode steer', () => {
  it('enters the running turn after the results of the step, before the next request', async () => {
    const fixture = await agentFixture();
    const { started, end, work } = slowTool();
    const agent = await fixture.started([callsWork(), ECHO], { tools: [work] });
    const turn = agent.send('first');
    await started.opened;
    await agent.enqueue('wait', { mode: 'steer' });
    await agent.enqueue('rather so', { mode: 'steer' });
    end.open();
    expect(await turn).toMatchObject({ turnId: 'turn_0001', text: 're rather so', steps: 2 });
    expect(outline(agent.messages)).toEqual([
      'user: first',
      'call: work{}',
      'result: "ok"',
      'user: wait',
      'user: rather so',
      'assistant: re rather so',
    ]);
    expect(checkHistory(agent.messages)).toEqual([]);
    expect((await fixture.rows('inputs')).at(-1)).toMatchObject({ event: 'taken', turn_id: 'turn_0001' });
  });

  it('starts a turn if none runs', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(1));
    await agent.enqueue('hello', { mode: 'steer' });
    await idle(agent);
    expect(outline(agent.messages)).toEqual(['user: hello', 'assistant: re hello']);
  });

  it('that comes after the last request of the turn runs before queued ones', async () => {
    const fixture = await agentFixture();
    const asked = gate();
    const agent = await fixture.started([
      () => {
        asked.open();
        return { text: 'one two three', wordMs: 30 };
      },
      ...echoes(2),
    ]);
    const turn = agent.send('first');
    await asked.opened;
    await agent.enqueue('later');
    await agent.enqueue('sooner', { mode: 'steer' });
    await turn;
    await idle(agent);
    expect(outline(agent.messages).filter((line) => line.startsWith('user'))).toEqual([
      'user: first',
      'user: sooner',
      'user: later',
    ]);
  });
});

describe('an input in mode interrupt', () => {
  it('aborts the running turn, keeps its text, and runs before queued inputs and waiting sends', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'word '.repeat(2_000), wordMs: 3 }, ...echoes(3)]);
    const heard = gate();
    agent.events.on('text_delta', () => heard.open());
    const turn = agent.send('first');
    await heard.opened;
    await agent.enqueue('queued');
    const sent = agent.send('sent');
    await agent.enqueue('stop', { mode: 'interrupt' });
    expect((await turn).status).toBe('aborted');
    await sent;
    await idle(agent);
    const lines = outline(agent.messages);
    expect(lines[1]).toMatch(/^assistant: word /);
    expect(agent.messages[1]).toMatchObject({ status: 'aborted' });
    expect(lines.filter((line) => line.startsWith('user'))).toEqual([
      'user: first',
      'user: stop',
      'user: queued',
      'user: sent',
    ]);
    expect(checkHistory(agent.messages)).toEqual([]);
  });

  it('overtakes a waiting send also when a steering input has left its place', async () => {
    const fixture = await agentFixture();
    const { started, end, work } = slowTool();
    const agent = await fixture.started([callsWork(), ...echoes(4)], { tools: [work] });
    const turn = agent.send('first');
    await started.opened;
    const sent = agent.send('sent');
    await agent.enqueue('queued');
    await agent.withdraw((await agent.queuedInputs())[0]!.id);
    await agent.enqueue('stop', { mode: 'interrupt' });
    end.open();
    await Promise.all([turn, sent]);
    expect(outline(agent.messages).filter((line) => line.startsWith('user'))).toEqual([
      'user: first',
      'user: stop',
      'user: sent',
    ]);
  });
});

describe('the id of an input', () => {
  it('is stored once, however often and whenever it is given', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(2));
    const both = [agent.enqueue('hello', { id: 'a' }), agent.enqueue('hello', { id: 'a' })];
    await Promise.all(both);
    await idle(agent);
    expect(await agent.enqueue('hello', { id: 'a' })).toMatchObject({
      state: 'taken',
      turnId: 'turn_0001',
      message: { content: 'hello' },
    });
    await idle(agent);
    await agent.stop();
    const next = fixture.restored(echoes(1));
    await next.start();
    expect(await next.enqueue('hello', { id: 'a' })).toMatchObject({ state: 'taken' });
    expect(outline(next.messages)).toEqual(['user: hello', 'assistant: re hello']);
    expect(await fixture.rows('inputs')).toHaveLength(2);
  });

  it('is in the trace of the message and not in the context', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(1));
    await agent.enqueue('hello', { id: 'a' });
    await idle(agent);
    const trace = (await fixture.rows()).find((row) => row['trace_type'] === 'user');
    expect(trace).toMatchObject({ content: 'hello', input_id: 'a' });
    expect(agent.messages[0]).toEqual({ role: 'user', content: 'hello', turnId: 'turn_0001' });
  });

  it.each([
    ['another message', 'bye', {}],
    ['another mode', 'hello', { mode: 'steer' }],
  ] as const)('is refused with %s, and nothing is written', async (_, text, options) => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(1));
    await agent.enqueue('hello', { id: 'a' });
    await idle(agent);
    const before = await fixture.rows('inputs');
    expect(await rejection(agent.enqueue(text, { id: 'a', ...options }))).toBe('INVALID_ARGUMENT');
    expect(await fixture.rows('inputs')).toEqual(before);
  });
});

describe('enqueue refuses before anything is written', () => {
  it.each([
    ['a message without text and media', 'MESSAGE_INVALID', { text: '' }, {}],
    ['an unknown mode', 'INVALID_ARGUMENT', 'hi', { mode: 'now' as never }],
    ['an empty id', 'INVALID_ARGUMENT', 'hi', { id: '' }],
    ['an id that is too long', 'INVALID_ARGUMENT', 'hi', { id: 'x'.repeat(201) }],
    [
      'more bytes than may wait',
      'LIMIT_EXCEEDED',
      { media: [{ kind: 'image', data: new Uint8Array(16 * 1024 * 1024) }] },
      {},
    ],
  ] as const)('%s', async (_, code, input, options) => {
    const fixture = await agentFixture();
    const agent = await fixture.started([]);
    const before = await fixture.files();
    expect(await rejection(agent.enqueue(input, options))).toBe(code);
    expect(await fixture.files()).toEqual(before);
  });

  it('an input beyond the number that may wait', async () => {
    const fixture = await agentFixture();
    const { started, work } = slowTool();
    const agent = await fixture.started([callsWork()], { tools: [work] });
    void agent.send('first').catch(() => {});
    await started.opened;
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => agent.enqueue(`${index}`)));
    expect(await rejection(agent.enqueue('one more'))).toBe('LIMIT_EXCEEDED');
    expect(await fixture.rows('inputs')).toHaveLength(1_000);
  });
});

describe('withdraw', () => {
  it('takes a waiting input out for good', async () => {
    const fixture = await agentFixture();
    const { started, end, work } = slowTool();
    const agent = await fixture.started([callsWork(), ...echoes(2)], { tools: [work] });
    const turn = agent.send('first');
    await started.opened;
    await agent.enqueue('never mind', { id: 'a' });
    expect(await agent.withdraw('a')).toBe(true);
    expect(await agent.withdraw('a')).toBe(false);
    end.open();
    await turn;
    await idle(agent);
    await agent.stop();
    const next = fixture.restored([]);
    await next.start();
    expect(await next.queuedInputs()).toEqual([]);
    expect(outline(next.messages).filter((line) => line.startsWith('user'))).toEqual(['user: first']);
  });

  it('returns false for an input that was taken, and for one that was never there', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(1));
    await agent.enqueue('hello', { id: 'a' });
    await idle(agent);
    expect(await agent.withdraw('a')).toBe(false);
    expect(await agent.withdraw('b')).toBe(false);
  });
});

describe('a restored agent', () => {
  it('runs nothing by itself, and everything that waits after runQueued()', async () => {
    const fixture = await agentFixture();
    await leftWaiting(fixture, ['second', 'third']);
    const agent = fixture.restored([{ text: 'checked' }, ...echoes(2)], {
      storage: storageAfterKill(fixture.dir),
    });
    await agent.start();
    expect((await agent.queuedInputs()).map(({ id }) => id)).toEqual(['in-0', 'in-1']);
    await agent.resume();
    expect(await agent.queuedInputs()).toHaveLength(2);
    await agent.runQueued();
    expect(outline(agent.messages).filter((line) => /^(user|assistant)/.test(line))).toEqual([
      'user: first',
      'assistant: checked',
      'user: second',
      'assistant: re second',
      'user: third',
      'assistant: re third',
    ]);
  });

  it('runs what waits before an input that is added', async () => {
    const fixture = await agentFixture();
    await leftWaiting(fixture, ['second']);
    const agent = fixture.restored(echoes(2), { storage: storageAfterKill(fixture.dir) });
    await agent.start();
    await agent.enqueue('third');
    await idle(agent);
    expect(outline(agent.messages).filter((line) => line.startsWith('user'))).toEqual([
      'user: first',
      'user: second',
      'user: third',
    ]);
  });

  it('does not repeat an input whose trace is stored and whose end is not', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(2));
    await agent.enqueue('hello', { id: 'a' });
    await idle(agent);
    await agent.stop();
    const file = path.join(fixture.dir, 'agents', AGENT_ID, 'inputs.jsonl');
    const lines = (await fs.readFile(file, 'utf8')).split('\n');
    await fs.writeFile(file, `${lines.filter((line) => !line.includes('"taken"')).join('\n')}`);
    const next = fixture.restored(echoes(1));
    await next.start();
    expect(await next.queuedInputs()).toEqual([]);
    await next.runQueued();
    expect(outline(next.messages)).toEqual(['user: hello', 'assistant: re hello']);
    expect((await fixture.rows('inputs')).at(-1)).toMatchObject({ event: 'taken', input_id: 'a' });
  });
});

describe('a failed turn of the queue', () => {
  it('leaves the other inputs waiting until the host runs them', async () => {
    const fixture = await agentFixture();
    const failing: ScriptStep = {
      text: 'a b c d e f',
      wordMs: 20,
      fails: new RekindleError('MODEL_FAILED', 'No quota.'),
    };
    const agent = await fixture.started([failing, ...echoes(1)]);
    const failed: unknown[] = [];
    agent.events.on('input_failed', ({ inputId, error }) => failed.push([inputId, error.code]));
    await Promise.all([agent.enqueue('first', { id: 'a' }), agent.enqueue('second', { id: 'b' })]);
    expect(await rejection(agent.runQueued())).toBe('MODEL_FAILED');
    await until(() => agent.status === 'idle');
    expect(failed).toEqual([['a', 'MODEL_FAILED']]);
    expect((await agent.queuedInputs()).map(({ id }) => id)).toEqual(['b']);
    await agent.runQueued();
    expect(outline(agent.messages)).toEqual(['user: first', 'user: second', 'assistant: re second']);
  });
});

describe('stop', () => {
  it('runs no input that waits, and the next process has it', async () => {
    const fixture = await agentFixture();
    const { started, end, work } = slowTool();
    const agent = await fixture.started([callsWork(), ECHO], { tools: [work] });
    const turn = agent.send('first');
    await started.opened;
    await agent.enqueue('second', { id: 'a' });
    const stopped = agent.stop();
    end.open();
    await Promise.all([turn, stopped]);
    expect(await rejection(agent.enqueue('third'))).toBe('AGENT_STATE');
    const next = fixture.restored(echoes(1));
    await next.start();
    expect((await next.queuedInputs()).map(({ id }) => id)).toEqual(['a']);
  });
});

describe('the journal of inputs', () => {
  it('does not exist for an agent that never enqueued, whatever else it was asked', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started(echoes(1));
    await agent.send('hello');
    await agent.queuedInputs();
    await agent.runQueued();
    await agent.stop();
    expect([...(await fixture.files()).keys()].filter((name) => name.includes('inputs'))).toEqual([]);
  });

  it('loses old inputs, and keeps those that wait and the last ids', async () => {
    const fixture = await agentFixture();
    const { started, work } = slowTool();
    const agent = await fixture.started([callsWork()], { tools: [work] });
    void agent.send('first').catch(() => {});
    await started.opened;
    const text = 'x'.repeat(2_000);
    const pass = async (from: number, to: number) => {
      const ids = Array.from({ length: to - from }, (_, index) => `in-${from + index}`);
      await Promise.all(ids.map((id) => agent.enqueue(text, { id })));
      await Promise.all(ids.map((id) => agent.withdraw(id)));
    };
    await pass(0, 400);
    await agent.enqueue('wait', { id: 'waits' });
    for (let from = 400; from < 1_000; from += 100) await pass(from, from + 100);
    expect((await agent.queuedInputs()).map(({ id }) => id)).toEqual(['waits']);
    const rows = await fixture.rows('inputs');
    expect(rows.length).toBeGreaterThan(512);
    expect(rows.length).toBeLessThan(2_001);
    expect(await agent.enqueue(text, { id: 'in-999' })).toMatchObject({ state: 'withdrawn' });
  });
});
