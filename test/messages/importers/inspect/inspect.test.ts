import { describe, expect, it } from 'vitest';
import { inspectImporter as importer } from '../../../../src/messages/importers/inspect/inspect.js';
import { toolCallsOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, orphansOf, readAll, sharedFiles } from '../read-all.js';

const system = { id: 'm0', role: 'system', content: 'Answer briefly.' };
const user = { id: 'm1', role: 'user', content: 'What is in a.txt?', source: 'input' };
const call = { id: 'c1', function: 'bash', arguments: { cmd: 'cat a.txt' }, type: 'function' };
const calling = {
  id: 'm2',
  role: 'assistant',
  content: '',
  source: 'generate',
  model: 'gpt-4o-mini',
  tool_calls: [call],
};
const result = { id: 'm3', role: 'tool', content: 'tea', tool_call_id: 'c1', function: 'bash' };

const sampleOf = (messages: unknown, rest: object = {}) => ({
  id: 1,
  epoch: 1,
  input: 'x',
  messages,
  ...rest,
});
const logOf = (...samples: unknown[]) => ({
  version: 2,
  status: 'success',
  eval: { task: 'tea', run_id: 'r', model: 'openai/gpt-4o-mini', dataset: {} },
  samples,
});

const messagesOf = async (given: unknown) => (await readAll(importer, given)).messages;
const digest = 'd9a079613c70c3ebfb913c007dd9c9a4';

describe('the import of Inspect logs', () => {
  it('reads the messages of a sample', async () => {
    const log = logOf(sampleOf([system, user, calling, result]));
    expect(await isRecognised(importer, log)).toBe(true);
    expect(await messagesOf(log)).toStrictEqual([
      { role: 'system', content: 'Answer briefly.' },
      { role: 'user', content: 'What is in a.txt?' },
      {
        role: 'assistant',
        content: '',
        origin: { provider: 'openai', model: 'gpt-4o-mini' },
        messageId: 'm2',
        toolPayload: { toolCalls: [{ id: 'c1', name: 'bash', arguments: { cmd: 'cat a.txt' } }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'bash', toolResult: 'tea', toolError: null },
      },
    ]);
  });

  it('recognises a log without samples', async () => {
    const { samples: _, ...header } = logOf();
    expect(await isRecognised(importer, header)).toBe(true);
  });

  it('does not recognise other documents with a version and a status', async () => {
    expect(await isRecognised(importer, { version: 2, status: 'success', messages: [user] })).toBe(false);
  });

  it('reads the first sample with messages and names the others', async () => {
    const log = logOf(
      sampleOf([], { id: 'empty' }),
      sampleOf([user], { id: 'first' }),
      sampleOf([user, calling], { id: 7, epoch: 2 }),
    );
    const { messages, report } = await readAll(importer, log);
    expect(messages).toHaveLength(1);
    expect(report.dropped).toContainEqual({
      what: 'another sample',
      count: 2,
      places: ['samples/0 (id empty)', 'samples/2 (id 7, epoch 2)'],
    });
  });

  it('puts attachments of the sample back where they are referred to', async () => {
    const attachments = { [digest]: 'A "long" text\nof two lines.' };
    const content = [{ type: 'text', text: `Read: attachment://${digest}` }];
    const log = logOf(sampleOf([{ ...user, content }], { attachments }), sampleOf([], { attachments: {} }));
    expect(await messagesOf(log)).toMatchObject([{ content: 'Read: A "long" text\nof two lines.' }]);
  });

  it('takes no attachment of another sample', async () => {
    const asked = { ...user, content: `attachment://${digest}` };
    const log = logOf(
      sampleOf([], { attachments: { [digest]: 'wrong' } }),
      sampleOf([asked], { attachments: {} }),
      sampleOf([asked], { attachments: { [digest]: 'wrong too' } }),
    );
    const { messages, report } = await readAll(importer, log);
    expect(messages).toStrictEqual([{ role: 'user', content: `attachment://${digest}` }]);
    expect(report.dropped).toContainEqual({
      what: 'an attachment that the log does not have',
      count: 1,
      places: ['messages/0'],
    });
  });

  it('finds attachments that stand before the messages', async () => {
    const asked = { ...user, content: `attachment://${digest}` };
    const sample = { id: 1, attachments: { [digest]: 'right' }, messages: [asked] };
    expect(await messagesOf(logOf(sample))).toMatchObject([{ content: 'right' }]);
  });

  it('reads an image out of an attachment', async () => {
    const content = [
      { type: 'text', text: 'See.' },
      { type: 'image', image: `attachment://${digest}`, detail: 'auto' },
    ];
    const attachments = { [digest]: 'data:image/png;base64,AAAA' };
    const [message] = await messagesOf(logOf(sampleOf([{ ...user, content }], { attachments })));
    expect(message).toStrictEqual({
      role: 'user',
      content: null,
      parts: [
        { type: 'text', text: 'See.' },
        { type: 'media', media: { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,AAAA' } },
      ],
    });
  });

  it('reads the error of a tool', async () => {
    const failed = { ...result, content: '', error: { type: 'timeout', message: 'Took too long.' } };
    expect(await messagesOf(logOf(sampleOf([calling, failed])))).toMatchObject([
      {},
      { toolPayload: { toolResult: null, toolError: 'Took too long.' } },
    ]);
  });

  it('keeps the output of a tool that failed beside its error', async () => {
    const failed = { ...result, error: { type: 'output_limit', message: 'Too long.' } };
    const { messages, report } = await readAll(importer, logOf(sampleOf([calling, failed])));
    expect(messages[1]?.toolPayload).toMatchObject({ toolResult: null, toolError: 'Too long.\ntea' });
    expect(report.approximated).toMatchObject([{ what: 'an error and an output, as one text', count: 1 }]);
  });

  it('keeps reasoning with its signature', async () => {
    const content = [
      { type: 'reasoning', reasoning: 'Tea?', signature: 'c2ln', redacted: false },
      { type: 'text', text: 'Tea.' },
    ];
    const said = { ...calling, tool_calls: null, content, model: 'claude-sonnet-4' };
    const origin = { provider: 'anthropic', model: 'claude-sonnet-4' };
    expect(await messagesOf(logOf(sampleOf([said])))).toStrictEqual([
      {
        role: 'assistant',
        content: 'Tea.',
        origin,
        messageId: 'm2',
        reasoning: [{ text: 'Tea?', signature: 'c2ln', origin }],
      },
    ]);
  });

  it('reads redacted reasoning as encrypted, with its summary as the text', async () => {
    const thought = {
      type: 'reasoning',
      reasoning: 'gAAAA==',
      summary: 'Tea.',
      signature: 'rs_1',
      redacted: true,
    };
    const [message] = await messagesOf(logOf(sampleOf([{ ...calling, content: [thought] }])));
    expect(message?.reasoning).toMatchObject([
      { text: 'Tea.', encrypted: 'gAAAA==', redacted: true, id: 'rs_1' },
    ]);
  });

  it('reads reasoning that stands beside the content', async () => {
    const old = { role: 'assistant', content: 'Tea.', reasoning: 'Tea?' };
    expect(await messagesOf(logOf(sampleOf([old])))).toMatchObject([{ reasoning: [{ text: 'Tea?' }] }]);
  });

  it('takes the provider from the model of the run', async () => {
    const said = { ...calling, tool_calls: null, model: 'gemma3' };
    const log = { ...logOf(sampleOf([said])), eval: { task: 't', run_id: 'r', model: 'ollama/gemma3' } };
    expect((await messagesOf(log))[0]?.origin).toStrictEqual({ provider: 'ollama', model: 'gemma3' });
  });

  it('keeps a call whose arguments did not parse', async () => {
    const torn = { ...call, arguments: {}, parse_error: 'no JSON' };
    const { messages, report } = await readAll(
      importer,
      logOf(sampleOf([{ ...calling, tool_calls: [torn] }])),
    );
    expect(toolCallsOf(messages[0]!)).toHaveLength(1);
    expect(report.dropped.map(({ what }) => what)).toContain('what the parser said about a tool call');
  });

  it('leaves results without a call, and empty lists of calls, as they are', async () => {
    expect(await messagesOf(logOf(sampleOf([result, { ...calling, tool_calls: [] }])))).toMatchObject([
      { toolPayload: { toolCallId: 'c1' } },
      { toolPayload: { toolCalls: [] } },
    ]);
  });

  it('counts what is no message and reads on', async () => {
    const odd = [null, 7, { role: 4 }, { role: 'tool', tool_call_id: 5, error: 'x' }, user];
    const { messages, report } = await readAll(importer, logOf(sampleOf(odd)));
    expect(messages).toHaveLength(2);
    expect(report).toMatchObject({ records: 5 });
    expect(report.dropped).toContainEqual({
      what: 'a member that is not a message',
      count: 3,
      places: ['messages/0', 'messages/1', 'messages/2'],
    });
  });

  it('refuses a log of a newer version', async () => {
    await expect(readAll(importer, { ...logOf(sampleOf([user])), version: 3 })).rejects.toMatchObject({
      code: 'UNSUPPORTED_VERSION',
    });
  });
});

describe.skipIf(!hasShared('corpus/inspect-ai'))('the import of real Inspect logs', () => {
  it.each(sharedFiles('corpus/inspect-ai').map((file) => [file.name, file] as const))(
    'reads %s, with a call before each result',
    async (name, file) => {
      expect(await isRecognised(importer, file)).toBe(true);
      const { messages } = await readAll(importer, file);
      expect(messages.length).toBeGreaterThan(2);
      // One of them is a fixture of results alone.
      expect(orphansOf(messages)).toHaveLength(name === 'log_tool_call_error.json' ? 11 : 0);
    },
  );
});
