/** Durable documents of an agent: as tools of its loop, and in its prompt. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentConfig } from '../../src/agent/context/agent-config.js';
import { ScriptedModel, type ScriptStep } from '../../src/agent/model/scripted-model.js';
import { textOf } from '../../src/messages/message.js';
import { agentState } from '../../src/state/durable/documents/agent-state.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { agentFixture, outline, rejection } from './agent-fixture.js';

async function withState() {
  const fixture = await agentFixture();
  const storage = new FileStorage(fixture.dir, { durability: 'relaxed' });
  const state = await StateManager.open({ ...agentState, backend: storage });
  onTestFinished(() => state.close());
  return { fixture, state, documents: { agent_state: state } };
}

const change: ScriptStep = {
  calls: [{ name: 'update_state', arguments: { name: 'agent_state', patch: { next_action: 'test it' } } }],
};

describe('an agent with durable documents', () => {
  it('reads and changes them with tools, in its own name', async () => {
    const { fixture, state, documents } = await withState();
    const read: ScriptStep = {
      calls: [{ name: 'read_state', arguments: { name: 'agent_state', pointer: '/next_action' } }],
    };
    const agent = await fixture.started([change, read, { text: 'Done.' }], {
      name: 'builder',
      state: { documents },
    });
    await agent.send('go');
    expect(await state.load()).toMatchObject({
      version: 2,
      by: 'builder',
      value: { next_action: 'test it' },
    });
    const results = outline(agent.messages).filter((line) => line.startsWith('result'));
    expect(results[0]).toBe('result: {"name":"agent_state","version":2}');
    expect(results[1]).toContain('"value":"test it"');
  });

  it('sees the reason of a refusal, and goes on', async () => {
    const { fixture, state, documents } = await withState();
    const wrong = (name: string): ScriptStep => ({
      calls: [{ name: 'update_state', arguments: { name, patch: { blockers: 'none' } } }],
    });
    const agent = await fixture.started([wrong('agent_state'), wrong('plan'), change, { text: 'Done.' }], {
      state: { documents, by: 'ada' },
    });
    await agent.send('go');
    const [first, second] = outline(agent.messages).filter((line) => line.startsWith('error'));
    expect(first).toContain('/blockers must be array (rule type)');
    expect(second).toContain('must be one of "agent_state"');
    expect(await state.load()).toMatchObject({ version: 2, by: 'ada' });
  });

  it('cannot have another tool of the same name, or write as a person', async () => {
    const { fixture, documents } = await withState();
    const own = { name: 'read_state', description: 'x', inputSchema: { type: 'object' }, execute: () => 1 };
    const start = (config: Partial<AgentConfig>) => rejection(fixture.created([], config).start());
    expect(await start({ tools: [own], state: { documents } })).toBe('TOOL_INVALID');
    expect(await start({ name: 'human', state: { documents } })).toBe('INVALID_ARGUMENT');
    expect(await start({ state: { documents: {} } })).toBe('INVALID_ARGUMENT');
  });

  it('has their text in its prompt if wanted, and the prompt stays the same while the process runs', async () => {
    const { fixture, documents } = await withState();
    const model = new ScriptedModel([change, { text: 'One.' }, { text: 'Two.' }]);
    const agent = await fixture.started([], {
      model,
      systemPrompt: 'Be exact.',
      state: { documents, inPrompt: true },
    });
    await agent.send('first');
    await agent.send('second');
    const prompts = model.requests.map(({ messages }) => textOf(messages[0]!));
    expect(prompts).toHaveLength(3);
    expect(new Set(prompts).size).toBe(1);
    expect(prompts[0]).toMatch(/^Be exact\.\n\n.*\n<state_document name="agent_state" version="1">\n/);
  });

  it('has no text of them in its prompt by default', async () => {
    const { fixture, documents } = await withState();
    const agent = await fixture.started([], { systemPrompt: 'Be exact.', state: { documents } });
    expect(textOf(agent.messages[0]!)).toBe('Be exact.');
  });

  it('reports a changed prompt after a restart only if the document has changed', async () => {
    const { fixture, state, documents } = await withState();
    const config = { systemPrompt: 'Be exact.', state: { documents, inPrompt: ['agent_state'] } };
    const restart = async () => {
      const agent = fixture.restored([], config);
      await agent.start();
      const prompt = textOf(agent.messages[0]!);
      const { promptChanged } = agent.restoreReport!;
      await agent.stop();
      return { promptChanged, prompt };
    };
    await (await fixture.started([{ text: 'Hi.' }], config)).stop();
    expect((await restart()).promptChanged).toBe(false);
    await state.patch({ next_action: 'look again' });
    const changed = await restart();
    expect(changed.promptChanged).toBe(true);
    expect(changed.prompt).toContain('version="2"');
    expect(changed.prompt).toContain('look again');
    expect((await restart()).promptChanged).toBe(false);
  });

  it('needs a prompt to put the text in, and names that are mounted; a refusal leaves nothing on disk', async () => {
    const { fixture, documents } = await withState();
    const before = [...(await fixture.files()).keys()];
    const start = (config: Partial<AgentConfig>) => rejection(fixture.created([], config).start());
    expect(await start({ state: { documents, inPrompt: true } })).toBe('INVALID_ARGUMENT');
    expect(await start({ systemPrompt: 'x', state: { documents, inPrompt: ['plan'] } })).toBe(
      'STATE_NOT_FOUND',
    );
    expect([...(await fixture.files()).keys()]).toEqual(before);
  });
});
