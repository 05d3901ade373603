import { describe, expect, it } from 'vitest';
import { detectTranscript } from '../../../../src/messages/importers/detect-format.js';
import { lettaImporter as importer } from '../../../../src/messages/importers/letta/letta.js';
import { sourceOf } from '../../../../src/messages/importers/source.js';
import { toolCallsOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, orphansOf, readAll, sharedFiles } from '../read-all.js';

const text = (value: string) => [{ type: 'text', text: value, signature: null }];
const message = (id: string, role: string, rest: object) => ({
  ...{ type: 'message', id, role, name: null, tool_calls: null, tool_call_id: null, tool_returns: [] },
  created_at: '2025-01-01T00:00:10Z',
  ...rest,
});

const system = message('message-0', 'system', { content: text('You help.\n<value>Likes tea.</value>') });
const user = message('message-1', 'user', { content: text('{"type":"user_message","message":"Hi."}') });
const call = {
  id: 'c1',
  type: 'function',
  function: { name: 'send_message', arguments: '{"message":"Hi."}' },
};
const calling = message('message-2', 'assistant', {
  content: text('They greet.'),
  model: 'gpt-4o-mini',
  tool_calls: [call],
});
const returned = { tool_call_id: 'c1', status: 'success', func_response: 'None', stdout: [], stderr: [] };
const result = message('message-3', 'tool', {
  content: text('{"status":"OK"}'),
  name: 'send_message',
  tool_call_id: 'c1',
  tool_returns: [returned],
});
const heartbeat = message('message-4', 'user', { content: text('{"type":"heartbeat","reason":"timer"}') });
const all = [system, user, calling, result, heartbeat];

const agentWith = (messages: readonly { id: string; [key: string]: unknown }[], rest: object = {}) => ({
  id: 'agent-0',
  agent_type: 'letta_v1_agent',
  system: 'You help.',
  llm_config: { model: 'gpt-4o-mini', model_endpoint_type: 'openai' },
  in_context_message_ids: messages.map(({ id }) => id),
  messages,
  ...rest,
});
const block = { label: 'human', value: 'Likes tea.', id: 'block-0' };
const fileWith = (...agents: unknown[]) => ({ agents, groups: [], blocks: [block], tools: [], sources: [] });

const messagesOf = async (given: unknown) => (await readAll(importer, given)).messages;

describe('the import of Letta agent files', () => {
  it('reads the messages of the context', async () => {
    const file = fileWith(agentWith(all));
    expect(await isRecognised(importer, file)).toBe(true);
    expect(await messagesOf(file)).toStrictEqual([
      { role: 'system', content: 'You help.\n<value>Likes tea.</value>' },
      { role: 'user', content: '{"type":"user_message","message":"Hi."}' },
      {
        role: 'assistant',
        content: 'They greet.',
        origin: { provider: 'openai', model: 'gpt-4o-mini' },
        messageId: 'message-2',
        toolPayload: { toolCalls: [{ id: 'c1', name: 'send_message', arguments: { message: 'Hi.' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: {
          toolCallId: 'c1',
          toolName: 'send_message',
          toolResult: '{"status":"OK"}',
          toolError: null,
        },
      },
      { role: 'user', content: '{"type":"heartbeat","reason":"timer"}' },
    ]);
  });

  it('reads a document that is written as one JSON string', async () => {
    const doubled = sourceOf(JSON.stringify(JSON.stringify(fileWith(agentWith(all)))));
    const detected = await detectTranscript(doubled, [importer]);
    expect(await messagesOf(detected.source)).toHaveLength(5);
  });

  it('reads the time of a message in seconds', async () => {
    const { items } = await readAll(importer, fileWith(agentWith([system])));
    expect(items).toMatchObject([{ kind: 'message', ts: 1735689610 }]);
  });

  it('drops messages that are outside of the context', async () => {
    const agent = agentWith(all, { in_context_message_ids: ['message-0', 'message-4'] });
    const { messages, report } = await readAll(importer, fileWith(agent));
    expect(messages.map(({ role }) => role)).toStrictEqual(['system', 'user']);
    expect(report.dropped).toMatchObject([
      {
        what: 'a message outside of the context',
        count: 3,
        places: ['messages/1', 'messages/2', 'messages/3'],
      },
    ]);
  });

  it('follows the order of the context where the file has another one', async () => {
    const agent = agentWith(all, { messages: [heartbeat, user, result, calling, system] });
    const messages = await messagesOf(fileWith(agent));
    expect(messages.map(({ role }) => role)).toStrictEqual(['system', 'user', 'assistant', 'tool', 'user']);
  });

  it('accounts for messages of the context that the file does not have', async () => {
    const agent = agentWith(all, { in_context_message_ids: ['message-0', 'message-x', 'message-4'] });
    const { messages, report } = await readAll(importer, fileWith(agent));
    expect(messages).toHaveLength(2);
    expect(report.dropped).toContainEqual({
      what: 'a message of the context that the file does not have',
      count: 1,
      places: ['context/1'],
    });
  });

  it('reads all messages where nothing says what the context is', async () => {
    const { messages, report } = await readAll(
      importer,
      fileWith(agentWith(all, { in_context_message_ids: [] })),
    );
    expect(messages).toHaveLength(5);
    expect(report.approximated[0]?.what).toBe(
      'a list of messages that does not say which are in the context',
    );
  });

  it('finds the context when its list comes after the messages', async () => {
    const { in_context_message_ids, ...rest } = agentWith(all);
    const file = fileWith({ ...rest, in_context_message_ids });
    expect(await messagesOf(file)).toHaveLength(5);
  });

  it('puts the system prompt first where the context has no system message', async () => {
    const { messages, report } = await readAll(importer, fileWith(agentWith([user])));
    expect(messages[0]).toStrictEqual({ role: 'system', content: 'You help.' });
    expect(report.approximated[0]?.what).toBe('the system prompt, without the memory that is put into it');
  });

  it('tells memory blocks that the system message shows from those that it does not show', async () => {
    const file = { ...fileWith(agentWith([system])), blocks: [block, { label: 'x', value: 'Hates rain.' }] };
    const { report } = await readAll(importer, file);
    expect(report.approximated).toStrictEqual([
      { what: 'a memory block, as its text in the system message', count: 1, places: ['blocks/0'] },
    ]);
    expect(report.dropped).toStrictEqual([
      { what: 'a memory block that the system message does not show', count: 1, places: ['blocks/1'] },
    ]);
  });

  it('reads the first agent with messages and accounts for the others', async () => {
    const empty = agentWith([], { system: 'Other.' });
    const { messages, report } = await readAll(importer, fileWith(empty, agentWith(all), agentWith([user])));
    expect(messages).toHaveLength(5);
    expect(report.dropped).toContainEqual({
      what: 'another agent',
      count: 2,
      places: ['agents/0', 'agents/2'],
    });
  });

  it('reads the older form, whose context is given by indices', async () => {
    const old = {
      agent_type: 'memgpt_agent',
      core_memory: [{ label: 'human', value: 'Likes tea.' }],
      in_context_message_indices: [0, 2],
      llm_config: { model: 'gpt-4o-mini', model_endpoint_type: 'openai' },
      messages: [system, user, heartbeat].map(({ id: _, ...rest }) => rest),
      system: 'You help.',
      version: '0.6.47',
    };
    expect(await isRecognised(importer, old)).toBe(true);
    expect(await messagesOf(old)).toMatchObject([{ role: 'system' }, { content: /heartbeat/ }]);
  });

  it('marks the alert that sums up what was taken out of the context', async () => {
    const alert = {
      type: 'system_alert',
      message:
        'Note: prior messages (5 of 9 total messages) have been hidden from view due to its limits. Sum: tea.',
    };
    const file = fileWith(
      agentWith([message('message-9', 'user', { content: text(JSON.stringify(alert)) })]),
    );
    expect((await messagesOf(file))[1]).toMatchObject({ role: 'user', kind: 'memory' });
  });

  it('reads a failed return as an error', async () => {
    const failed = { ...result, tool_returns: [{ ...returned, status: 'error' }] };
    expect((await messagesOf(fileWith(agentWith([system, calling, failed]))))[2]).toMatchObject({
      toolPayload: { toolResult: null, toolError: '{"status":"OK"}' },
    });
  });

  it('gives each of several returns a message of its own', async () => {
    const both = {
      ...result,
      tool_returns: [returned, { ...returned, tool_call_id: 'c2', func_response: 'two' }],
    };
    const messages = await messagesOf(fileWith(agentWith([system, calling, both])));
    expect(messages.slice(2).map(({ toolPayload }) => toolPayload)).toMatchObject([
      { toolCallId: 'c1', toolResult: 'None' },
      { toolCallId: 'c2', toolResult: 'two' },
    ]);
  });

  it('keeps reasoning, with signatures and encrypted text as they are', async () => {
    const content = [
      { type: 'reasoning', is_native: true, reasoning: 'Tea?', signature: 'c2ln' },
      { type: 'redacted_reasoning', data: 'ZGF0YQ==' },
      {
        type: 'summarized_reasoning',
        id: 'rs_1',
        summary: [{ index: 0, text: 'Tea.' }],
        encrypted_content: 'e',
      },
      { type: 'text', text: 'Tea?' },
    ];
    const said = { ...calling, content, tool_calls: null };
    expect((await messagesOf(fileWith(agentWith([system, said]))))[1]).toMatchObject({
      content: 'Tea?',
      reasoning: [
        { text: 'Tea?', signature: 'c2ln', origin: { provider: 'openai', model: 'gpt-4o-mini' } },
        { text: null, encrypted: 'ZGF0YQ==', redacted: true },
        { text: 'Tea.', encrypted: 'e', id: 'rs_1' },
      ],
    });
  });

  it('reads calls and returns that stand in the content', async () => {
    const calls = { ...calling, tool_calls: null };
    const input = { type: 'tool_call', id: 'c7', name: 'look', input: { at: 'tea' } };
    const output = { type: 'tool_return', tool_call_id: 'c7', content: 'hot', is_error: false };
    const file = fileWith(
      agentWith([system, { ...calls, content: [input] }, { ...result, content: [output], tool_returns: [] }]),
    );
    const [, asked, answered] = await messagesOf(file);
    expect(toolCallsOf(asked!)).toStrictEqual([{ id: 'c7', name: 'look', arguments: { at: 'tea' } }]);
    expect(answered?.toolPayload).toMatchObject({ toolCallId: 'c7', toolName: 'look', toolResult: 'hot' });
  });

  it('reads images of both kinds', async () => {
    const content = [
      ...text('See.'),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } },
    ];
    const [, seen] = await messagesOf(fileWith(agentWith([system, { ...user, content }])));
    expect(seen?.parts).toMatchObject([
      { type: 'text' },
      { media: { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,AAAA' } },
      { media: { ref: 'https://example.test/a.png' } },
    ]);
  });

  it('reads a request for approval as the calls in it', async () => {
    const { messages, report } = await readAll(
      importer,
      fileWith(agentWith([system, { ...calling, role: 'approval' }])),
    );
    expect(toolCallsOf(messages[1]!)).toHaveLength(1);
    expect(report.approximated.map(({ what }) => what)).toContain(
      'a request for approval, as the tool calls in it',
    );
  });

  it('counts what is no message and reads on', async () => {
    const odd = { ...agentWith([system]), in_context_message_ids: null };
    const { messages, report } = await readAll(
      importer,
      fileWith({ ...odd, messages: [system, null, 7, { role: 4 }, { role: 'tool', tool_returns: 'x' }] }),
    );
    expect(messages.map(({ role }) => role)).toStrictEqual(['system', 'tool']);
    expect(report.dropped).toContainEqual({
      what: 'a member that is not a message',
      count: 3,
      places: ['messages/1', 'messages/2', 'messages/3'],
    });
  });

  it('refuses a document without an agent', async () => {
    await expect(readAll(importer, { agents: [], blocks: [] })).rejects.toMatchObject({
      code: 'TRANSCRIPT_INVALID',
    });
  });
});

describe.skipIf(!hasShared('corpus/letta-af'))('the import of real Letta agent files', () => {
  it.each(sharedFiles('corpus/letta-af').map((file) => [file.name, file] as const))(
    'reads %s, whose context is its system message',
    async (_, file) => {
      const detected = await detectTranscript(file, [importer]);
      const { messages } = await readAll(importer, detected.source);
      expect(messages.map(({ role }) => role)).toStrictEqual(['system']);
      expect(orphansOf(messages)).toStrictEqual([]);
    },
  );
});
