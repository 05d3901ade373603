import { describe, expect, it } from 'vitest';
import { sweAgentImporter as importer } from '../../../../src/messages/importers/swe-agent/swe-agent.js';
import { toolCallsOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, orphansOf, readAll, sharedFiles } from '../read-all.js';

const system = { role: 'system', content: 'You fix code.', agent: 'main' };
const issue = { role: 'user', content: 'Fix a.py.', agent: 'main' };
const said = 'I look.\n```\ncat a.py\n```';
const acted = { role: 'assistant', content: said, thought: 'I look.\n', action: 'cat a.py\n', agent: 'main' };
const seen = { role: 'user', content: 'x = 1', agent: 'main' };
const step = {
  action: 'cat a.py\n',
  observation: 'x = 1',
  response: said,
  thought: 'I look.\n',
  state: '{}',
};

const call = { id: 'c1', type: 'function', function: { name: 'open', arguments: '{"path":"a.py"}' } };
const calling = {
  role: 'assistant',
  content: 'I look.',
  thought: 'I look.',
  action: 'open a.py',
  tool_calls: [call],
};
const shown = { role: 'tool', content: 'x = 1', message_type: 'observation', tool_call_ids: ['c1'] };

const messagesOf = async (given: unknown) => (await readAll(importer, given)).messages;
const plain = [
  { role: 'system', content: 'You fix code.' },
  { role: 'user', content: 'Fix a.py.' },
  { role: 'assistant', content: said },
  { role: 'user', content: 'x = 1' },
];

describe('the import of SWE-agent trajectories', () => {
  const history = [system, issue, acted, seen];
  const mini = history.map(({ role, content }) => ({ role, content, extra: { response: {} } }));
  const told = { trajectory: [{ ...step, query: [system, issue] }] };
  it.each([
    ['a document with a history', { trajectory: [step], history, info: {} }],
    ['a history alone', { history }],
    ['a list', history],
    ['a list of mini-swe-agent', mini],
    ['messages of mini-swe-agent', { info: {}, messages: mini, trajectory_format: 'mini-swe-agent-1' }],
    ['steps without a history', told],
    ['steps beside an empty history', { ...told, history: [] }],
  ])('recognises %s and reads it', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(true);
    expect(await messagesOf(given)).toStrictEqual(plain);
  });

  it('recognises a list by the texts of its prompts alone', async () => {
    const prompt = { role: 'system', content: 'End with echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT.' };
    expect(await isRecognised(importer, [prompt, { role: 'user', content: 'Go.' }])).toBe(true);
  });

  it('does not recognise chat messages', async () => {
    const given = { messages: [{ role: 'user', content: 'Hello.' }] };
    expect(await isRecognised(importer, given)).toBe(false);
    expect(await isRecognised(importer, given.messages)).toBe(false);
  });

  it('accounts for steps that the history tells too', async () => {
    const { report } = await readAll(importer, { trajectory: [step, step], history, info: {} });
    expect(report.dropped).toStrictEqual([
      { what: 'a step that the history tells too', count: 2, places: ['trajectory/0', 'trajectory/1'] },
      { what: 'a field next to the messages', count: 1, places: ['info'] },
    ]);
  });

  it('pairs a result with its call by the list of ids', async () => {
    expect(await messagesOf({ history: [system, issue, calling, shown] })).toMatchObject([
      {},
      {},
      {
        content: 'I look.',
        toolPayload: { toolCalls: [{ id: 'c1', name: 'open', arguments: { path: 'a.py' } }] },
      },
      {
        role: 'tool',
        toolPayload: { toolCallId: 'c1', toolName: 'open', toolResult: 'x = 1', toolError: null },
      },
    ]);
  });

  it('keeps a demonstration, as what the model was shown', async () => {
    const demo = { role: 'user', content: 'So it is done.', is_demo: true, agent: 'main' };
    const { messages, report } = await readAll(importer, { history: [system, demo, issue] });
    expect(messages.map(({ content }) => content)).toStrictEqual([
      'You fix code.',
      'So it is done.',
      'Fix a.py.',
    ]);
    expect(report.approximated).toStrictEqual([
      { what: 'a demonstration, as a message like the others', count: 1, places: ['messages/1'] },
    ]);
  });

  it('leaves out what other agents said', async () => {
    const { messages, report } = await readAll(importer, {
      history: [system, issue, { ...acted, agent: 'reviewer' }],
    });
    expect(messages).toHaveLength(2);
    expect(report.dropped).toMatchObject([{ what: 'a message of another agent', count: 1 }]);
  });

  it('puts a thought and an action together where there is no other text', async () => {
    const { messages, report } = await readAll(importer, { history: [system, { ...acted, content: null }] });
    expect(messages[1]).toStrictEqual({ role: 'assistant', content: said });
    expect(report.approximated).toMatchObject([{ what: 'a thought and an action, as one text' }]);
  });

  it('adds the action to the text of a step that was a call', async () => {
    const called = { ...step, response: 'I look.' };
    expect(await messagesOf({ trajectory: [called] })).toStrictEqual([
      { role: 'assistant', content: said },
      { role: 'user', content: 'x = 1' },
    ]);
  });

  it('keeps signed thoughts and the model, which stands after the history', async () => {
    const blocks = [{ type: 'thinking', thinking: 'Which file?', signature: 'c2ln' }];
    const file = {
      history: [system, { ...calling, thinking_blocks: blocks }],
      replay_config: JSON.stringify({ agent: { model: { name: 'claude-sonnet-4' } } }),
    };
    expect((await messagesOf(file))[1]).toMatchObject({
      origin: { provider: 'anthropic', model: 'claude-sonnet-4' },
      reasoning: [{ text: 'Which file?', signature: 'c2ln', origin: { provider: 'anthropic' } }],
    });
  });

  it('takes id, model and time from what mini-swe-agent noted', async () => {
    const extra = { response: { id: 'chatcmpl-1', model: 'gpt-5' }, timestamp: 1735689610.5 };
    const { items } = await readAll(importer, [{ role: 'assistant', content: 'Hello.', extra }]);
    expect(items).toStrictEqual([
      {
        kind: 'message',
        message: {
          role: 'assistant',
          content: 'Hello.',
          origin: { provider: 'openai', model: 'gpt-5' },
          messageId: 'chatcmpl-1',
        },
        ts: 1735689610.5,
      },
    ]);
  });

  it('drops the note on how a run ended', async () => {
    const exit = { role: 'exit', content: 'Submitted', extra: { exit_status: 'Submitted' } };
    const { messages, report } = await readAll(importer, [...mini, exit]);
    expect(messages).toHaveLength(4);
    expect(report.dropped.map(({ what }) => what)).toContain('how the run ended');
  });

  it('reads an observation of text and image', async () => {
    const content = [
      { type: 'text', text: 'shot' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ];
    expect((await messagesOf({ history: [system, calling, { ...shown, content }] }))[2]).toMatchObject({
      toolPayload: { toolResult: 'shot' },
      parts: [{ type: 'media', media: { kind: 'image', mime: 'image/png' } }],
    });
  });

  it('keeps the empty last observation as it is', async () => {
    expect((await messagesOf([...history, { ...seen, content: '' }])).at(-1)).toStrictEqual({
      role: 'user',
      content: '',
    });
  });

  it('leaves a call without a result as it is', async () => {
    const messages = await messagesOf({ history: [system, calling] });
    expect(toolCallsOf(messages.at(-1)!)).toHaveLength(1);
  });

  it('counts what is no message and reads on', async () => {
    const odd = [system, null, 7, { role: 3, content: 'x' }, issue];
    const { messages, report } = await readAll(importer, { history: odd });
    expect(messages).toHaveLength(2);
    expect(report.dropped).toMatchObject([{ what: 'a member that is not a message', count: 3 }]);
  });

  it('reads odd steps without failing', async () => {
    const odd = [step, null, 7, { action: 3, observation: { a: 1 } }];
    expect(await messagesOf({ trajectory: odd })).toHaveLength(3);
  });

  it('refuses a document without a history', async () => {
    await expect(readAll(importer, { info: {} })).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});

describe.skipIf(!hasShared('corpus/swe-agent'))('the import of real SWE-agent trajectories', () => {
  it.each(sharedFiles('corpus/swe-agent').map((file) => [file.name, file] as const))(
    'reads %s, with a call before each result',
    async (_, file) => {
      expect(await isRecognised(importer, file)).toBe(true);
      const { messages } = await readAll(importer, file);
      expect(messages.length).toBeGreaterThan(5);
      expect(messages[0]?.role).toBe('system');
      expect(orphansOf(messages)).toStrictEqual([]);
    },
  );
});
