import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAgent, openAgent, restoreAgent } from '../../../src/agent/factory/agent-factory.js';
import { ScriptedModel, type ScriptStep } from '../../../src/agent/model/scripted-model.js';
import type { ToolDefinition } from '../../../src/core/tool-definition.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { AGENT_ID, agentFixture, outline, rejection, tool } from '../agent-fixture.js';

describe('createAgent', () => {
  it('writes nothing before start()', async () => {
    const fixture = await agentFixture();
    fixture.created([]);
    expect(await fs.readdir(fixture.dir)).toEqual([]);
  });

  it('makes the agent exist from its first moment, with its system prompt', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([], { systemPrompt: 'You are Ada.' });
    expect(agent.restoreReport).toBeNull();
    expect(outline(agent.messages)).toEqual(['system: You are Ada.']);
    expect(await fixture.rows()).toMatchObject([
      { trace_type: 'boundary', boundary: 'system', system_prompt: 'You are Ada.' },
    ]);
  });

  it('makes an id of the name, the time and chance when none is given', async () => {
    const model = new ScriptedModel([]);
    const [one, other] = [createAgent({ name: 'scout', model }), createAgent({ name: 'scout', model })];
    expect(one.agentId).toMatch(/^scout_\d{13}_[0-9a-f]{10}$/);
    expect(one.agentId).not.toBe(other.agentId);
  });

  it('refuses an id that is taken with AGENT_EXISTS and leaves the other agent as it was', async () => {
    const fixture = await agentFixture();
    const first = await fixture.started([{ text: 'Hello.' }]);
    await first.send('hi');
    await first.stop();
    const before = await fixture.files();
    const second = fixture.created([]);
    expect(await rejection(second.start())).toBe('AGENT_EXISTS');
    expect(second.status).toBe('failed');
    expect(await fixture.files()).toEqual(before);
    const third = fixture.restored([]);
    await third.start();
    expect(outline(third.messages)).toEqual(['user: hi', 'assistant: Hello.']);
  });

  it('refuses the id of an agent that runs in this process, which goes on undisturbed', async () => {
    const fixture = await agentFixture();
    const first = await fixture.started([{ text: 'Still here.' }]);
    expect(await rejection(fixture.created([]).start())).toBe('AGENT_EXISTS');
    expect(await rejection(fixture.restored([]).start())).toBe('LEASE_HELD');
    expect((await first.send('hi')).text).toBe('Still here.');
  });

  it('lets one of two that start at once have the id', async () => {
    const fixture = await agentFixture();
    const agents = [fixture.created([]), fixture.created([])];
    const codes = await Promise.all(agents.map((agent) => rejection(agent.start())));
    expect(codes).toContain('nothing was thrown');
    expect(codes.find((code) => code !== 'nothing was thrown')).toMatch(/^(LEASE_HELD|AGENT_EXISTS)$/);
  });

  it.each(['', '..', 'a/b', 'nul\0'])('refuses the id %j at once', async (agentId) => {
    const fixture = await agentFixture();
    const make = async () => fixture.created([], { agentId });
    expect(await rejection(make())).toBe('INVALID_NAME');
  });

  it('refuses a model that is none at once', async () => {
    const fixture = await agentFixture();
    const make = async () => fixture.created([], { model: {} as ScriptedModel });
    expect(await rejection(make())).toBe('INVALID_ARGUMENT');
  });

  it('lets the system prompt be worked out at start()', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([], { systemPrompt: async () => 'It is Monday.' });
    expect(outline(agent.messages)).toEqual(['system: It is Monday.']);
  });

  it('leaves nothing on disk when the system prompt cannot be worked out', async () => {
    const fixture = await agentFixture();
    const systemPrompt = () => Promise.reject(new Error('no prompt today'));
    expect(await rejection(fixture.created([], { systemPrompt }).start())).toBe('Error: no prompt today');
    expect(await fs.readdir(fixture.dir)).toEqual([]);
  });
});

describe('bad tool definitions', () => {
  const execute = () => 'done';
  const bad: [string, unknown[]][] = [
    ['a name with a space', [tool({ name: 'do work', execute })]],
    ['a name of 65 letters', [tool({ name: 'w'.repeat(65), execute })]],
    ['no name', [{ ...tool({ execute }), name: undefined }]],
    ['one name twice', [tool({ execute }), tool({ execute })]],
    ['no execute', [{ ...tool({ execute }), execute: undefined }]],
    ['a schema that is not JSON Schema', [tool({ execute, inputSchema: { type: 'thing' } })]],
    ['no schema', [{ ...tool({ execute }), inputSchema: undefined }]],
    ['a schema of something else than an object', [tool({ execute, inputSchema: { type: 'string' } })]],
    ['a time-out of zero', [tool({ execute, timeoutMs: 0 })]],
    ['a time-out that no timer can hold', [tool({ execute, timeoutMs: Number.POSITIVE_INFINITY })]],
    ['no definition at all', [null]],
  ];

  it.each(bad)('with %s are refused before anything is on disk', async (_, tools) => {
    const fixture = await agentFixture();
    const agent = fixture.created([], { tools: tools as ToolDefinition[] });
    expect(await rejection(agent.start())).toBe('TOOL_INVALID');
    expect(await fs.readdir(fixture.dir)).toEqual([]);
  });
});

describe('restoreAgent', () => {
  it('refuses an id that nobody has with AGENT_NOT_FOUND and leaves nothing on disk', async () => {
    const fixture = await agentFixture();
    const memoryDir = path.join(fixture.dir, 'memory');
    const agent = fixture.restored([], { memoryDir });
    expect(await rejection(agent.start())).toBe('AGENT_NOT_FOUND');
    expect(agent.status).toBe('failed');
    expect(await fs.readdir(fixture.dir)).toEqual([]);
  });

  it('brings the context of the earlier agent back and says how', async () => {
    const fixture = await agentFixture();
    const first = await fixture.started([{ text: 'Nice to meet you.' }], { systemPrompt: 'Be kind.' });
    await first.send('I am Bo.');
    await first.stop();
    const second = fixture.restored([{ text: 'You are Bo.' }], { systemPrompt: 'Be kind.' });
    await second.start();
    expect(second.restoreReport).toMatchObject({ agentId: AGENT_ID, source: 'cache', repairs: [] });
    expect(second.messages).toEqual(first.messages);
    const { turnId } = await second.send('Who am I?');
    expect(turnId).toBe('turn_0002');
  });

  it('takes the folder of its third argument in place of the configured one', async () => {
    const fixture = await agentFixture();
    await (await fixture.started([])).stop();
    const model = new ScriptedModel([]);
    const agent = restoreAgent(AGENT_ID, { model, memoryDir: '/nowhere' }, fixture.dir);
    await agent.start();
    expect(agent.status).toBe('idle');
    await agent.stop();
  });

  it('works over a storage backend of the host', async () => {
    const fixture = await agentFixture();
    const storage = () => new FileStorage(path.join(fixture.dir, 'own'));
    await (await fixture.started([], { storage: storage() })).stop();
    const agent = fixture.restored([], { storage: storage() });
    await agent.start();
    expect(agent.restoreReport?.source).toBe('cache');
  });

  it('keeps the prompt that the agent had when none is given, and reports one that changed', async () => {
    const fixture = await agentFixture();
    await (await fixture.started([], { systemPrompt: 'Old.' })).stop();
    const kept = fixture.restored([]);
    await kept.start();
    expect(outline(kept.messages)).toEqual(['system: Old.']);
    await kept.stop();
    const changed = fixture.restored([], { systemPrompt: 'New.' });
    await changed.start();
    expect(outline(changed.messages)).toEqual(['system: New.']);
    expect(changed.restoreReport?.promptChanged).toBe(true);
  });
});

describe('openAgent', () => {
  it('begins an agent that nobody has, and restores it the next time', async () => {
    const fixture = await agentFixture();
    const open = (script: ScriptStep[]) =>
      openAgent('ada', {
        model: new ScriptedModel(script),
        memoryDir: fixture.dir,
        systemPrompt: 'Be kind.',
      });
    const first = await open([{ text: 'Hello.' }]);
    expect(first.restoreReport).toBeNull();
    await first.send('hi');
    await first.stop();
    const second = await open([]);
    expect(second.restoreReport?.source).toBe('cache');
    expect(second.messages).toEqual(first.messages);
    await second.stop();
  });

  it('refuses an id that is no name before anything is on disk', async () => {
    const fixture = await agentFixture();
    const model = new ScriptedModel([]);
    expect(await rejection(openAgent('../ada', { model, memoryDir: fixture.dir }))).toBe('INVALID_NAME');
    expect(await fs.readdir(fixture.dir)).toEqual([]);
  });

  it('lets the lease go when the start fails', async () => {
    const fixture = await agentFixture();
    const config = { model: new ScriptedModel([]), memoryDir: fixture.dir };
    await (await openAgent('ada', config)).stop();
    const bad = [tool({ name: 'no name', execute: () => 1 })];
    expect(await rejection(openAgent('ada', { ...config, tools: bad }))).toBe('TOOL_INVALID');
    const agent = await openAgent('ada', config);
    expect(agent.status).toBe('idle');
    await agent.stop();
  });
});
