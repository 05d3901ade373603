/** A restored agent: inert until it is told to do something, and exactly what it was. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agent/agent.js';
import type { AgentEvents } from '../../src/agent/agent-events.js';
import { ScriptedModel, type ScriptStep } from '../../src/agent/model/scripted-model.js';
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { JsonValue } from '../../src/core/json.js';
import {
  type AgentFixture,
  agentFixture,
  callsWork,
  gate,
  outline,
  storageAfterKill,
  tool,
} from './agent-fixture.js';

/** The context as the model gets it, byte for byte. */
function bytesOf(agent: Agent): string {
  return canonicalJson(agent.messages as unknown as JsonValue);
}

/** An agent with a tool, to be dropped or stopped. */
async function running(fixture: AgentFixture, script: readonly ScriptStep[], execute: () => unknown) {
  const config = { tools: [tool({ execute })], systemPrompt: 'Be exact.' };
  return fixture.started(script, config);
}

const TURN_EVENTS: (keyof AgentEvents)[] = [
  ...(['turn_started', 'text_delta', 'reasoning_delta', 'model_retry', 'turn_ended'] as const),
  ...(['tool_call', 'tool_approval_requested', 'tool_started', 'tool_result'] as const),
];

describe('a restore', () => {
  it('in the middle of a tool runs no tool, calls no model and emits no event of a turn', async () => {
    const fixture = await agentFixture();
    const started = gate();
    const agent = await running(fixture, [callsWork()], () => {
      started.open();
      return new Promise(() => {});
    });
    agent.send('go').catch(() => {});
    await started.opened;
    let ran = 0;
    const model = new ScriptedModel([]);
    const storage = storageAfterKill(fixture.dir);
    const next = fixture.restored([], { model, storage, tools: [tool({ execute: () => ++ran })] });
    const seen: string[] = [];
    for (const name of TURN_EVENTS) next.events.on(name, () => seen.push(name));
    next.events.on('restored', ({ report }) => seen.push(`restored from ${report.source}`));
    await next.start();
    expect(seen).toEqual(['restored from rebuilt']);
    expect(model.requests).toEqual([]);
    expect(ran).toBe(0);
  });

  it('on a clean folder writes nothing but its lease', async () => {
    const fixture = await agentFixture();
    const first = await fixture.started([callsWork(), { text: 'ok' }], {
      tools: [tool({ execute: () => 1 })],
    });
    await first.send('go');
    await first.stop();
    const before = await fixture.files();
    const times = await modifiedTimes(fixture);
    const next = fixture.restored([]);
    await next.start();
    expect(await fixture.files()).toEqual(before);
    expect(await modifiedTimes(fixture)).toEqual(times);
    await next.stop();
    expect(await fixture.files()).toEqual(before);
  });

  it('gives the same context again, however often it is made', async () => {
    const fixture = await agentFixture();
    const started = gate();
    const agent = await running(fixture, [callsWork()], () => {
      started.open();
      return new Promise(() => {});
    });
    agent.send('go').catch(() => {});
    await started.opened;
    const seen = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      const storage = storageAfterKill(fixture.dir);
      const next = fixture.restored([], { storage, systemPrompt: 'Be exact.' });
      await next.start();
      seen.add(bytesOf(next));
      await next.stop();
    }
    expect(seen.size).toBe(1);
  });

  it.each([
    ['from the cache', async () => {}, 'cache'],
    [
      'without the cache',
      (folder: string) => fs.rm(path.join(folder, 'working_context_snapshot.json')),
      'rebuilt',
    ],
    [
      'with a torn cache',
      (folder: string) => fs.truncate(path.join(folder, 'working_context_snapshot.json'), 40),
      'rebuilt',
    ],
  ] as const)('%s gives the context byte for byte', async (_, harm, source) => {
    const fixture = await agentFixture();
    const agent = await running(
      fixture,
      [{ reasoning: 'Look.', text: 'One moment.', calls: [{ name: 'work', arguments: {} }] }, { text: 'ok' }],
      () => ({ long: 'ü'.repeat(300), when: new Date(0) }),
    );
    await agent.send('go');
    await agent.stop();
    await harm(path.join(fixture.dir, 'agents', agent.agentId));
    const next = fixture.restored([], { systemPrompt: 'Be exact.' });
    await next.start();
    expect(next.restoreReport).toMatchObject({ source, repairs: [] });
    expect(bytesOf(next)).toBe(bytesOf(agent));
  });

  it('of an agent that was dropped between two turns has the traces after the cache', async () => {
    const fixture = await agentFixture();
    const started = gate();
    const agent = await running(
      fixture,
      [{ text: 'one' }, () => ({ text: 'word '.repeat(1_000), wordMs: 5 })],
      () => 1,
    );
    await agent.send('first');
    agent.events.on('text_delta', started.open);
    agent.send('second').catch(() => {});
    await started.opened;
    const next = fixture.restored([{ text: 'two' }], { storage: storageAfterKill(fixture.dir) });
    await next.start();
    expect(next.restoreReport).toMatchObject({
      source: 'cache+tail',
      tracesReplayed: 1,
      frontier: { kind: 'awaiting_assistant', turnId: 'turn_0002' },
    });
    expect((await next.resume()).turnId).toBe('turn_0002');
    expect(outline(next.messages).slice(-3)).toEqual([
      'user: second',
      expect.stringMatching(/^assistant: (word )+$/),
      'assistant: two',
    ]);
  });
});

async function modifiedTimes(fixture: AgentFixture): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const name of (await fixture.files()).keys()) {
    times.set(name, (await fs.stat(path.join(fixture.dir, name))).mtimeMs);
  }
  return times;
}
