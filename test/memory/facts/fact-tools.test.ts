import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import type { ToolDefinition } from '../../../src/core/tool-definition.js';
import { factTools } from '../../../src/memory/facts/fact-tools.js';
import { AGENT, answer, ask, filePlace, openAgent, talk } from '../memory-kit.js';

function run(tools: readonly ToolDefinition[], name: string, args: JsonObject): Promise<JsonObject> {
  const tool = tools.find((each) => each.name === name)!;
  const context = { callId: 'c', turnId: 't', idempotencyKey: 'k', signal: new AbortController().signal };
  return Promise.resolve(tool.execute(args, context)) as Promise<JsonObject>;
}

describe('the tools for facts', () => {
  it("keep what a model remembers as the agent's, with the tools that it had read in the turn", async () => {
    const { memory } = await openAgent(await filePlace());
    const turn = await ask(memory, 'Look it up.', 'a');
    await memory.ingestToolResults([answer('a')], turn);
    const tools = factTools({ memory: () => memory });
    const given = { text: 'The user said: pay.', key: 'pay', source: 'user' };
    expect(await run(tools, 'remember', given)).toMatchObject({ source: 'agent', key: 'pay' });
    expect(await memory.facts.list()).toMatchObject([
      { source: 'agent', origins: ['agent', 'tool:tool_a'], trace: { agentId: AGENT, turnId: turn } },
    ]);
  });

  it('pin, unpin and forget a fact by its id or its text', async () => {
    const { memory } = await openAgent(await filePlace());
    const tools = factTools({ memory: () => memory });
    const { id } = await run(tools, 'remember', { text: 'Likes tea.' });
    expect(await run(tools, 'pin', { id: id! })).toMatchObject({ pinned: true });
    expect(await run(tools, 'pin', { id: 'likes tea', pinned: false })).toMatchObject({ id, pinned: false });
    expect(await run(tools, 'forget', { id: 'Likes tea.' })).toMatchObject({ id, gone: 'forgotten' });
    await expect(run(tools, 'forget', { id: 'nothing' })).rejects.toMatchObject({ code: 'FACT_NOT_FOUND' });
    expect(await memory.facts.list()).toStrictEqual([]);
  });

  it('have no parameter that names an agent, a scope or a source, and take no other', () => {
    const tools = factTools({ memory: () => expect.fail('nothing is called') });
    const names = tools.flatMap(({ inputSchema }) => Object.keys(inputSchema['properties'] as JsonObject));
    expect(new Set(names)).toStrictEqual(new Set(['text', 'category', 'key', 'id', 'pinned']));
    for (const { inputSchema } of tools) expect(inputSchema['additionalProperties']).toBe(false);
  });

  it('open a stored agent for each call, and refuse one that is not there', async () => {
    const place = await filePlace();
    const storage = place.storage();
    const { memory, close } = await openAgent(place, { storage });
    await talk(memory, 'Hi.', 'Hello.');
    await close();
    await run(factTools({ backend: storage, agentId: AGENT }), 'remember', { text: 'Likes tea.' });
    const next = await openAgent(place, { storage });
    expect(await next.memory.facts.list()).toMatchObject([
      { text: 'Likes tea.', trace: { turnId: 'turn_0001' } },
    ]);
    const other = factTools({ backend: storage, agentId: 'nobody' });
    await expect(run(other, 'remember', { text: 'x' })).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });
});
