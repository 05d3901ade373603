import { describe, expect, it } from 'vitest';
import { openAiAgentsImporter as importer } from '../../../../src/messages/importers/openai-agents/openai-agents.js';
import { hasShared, isRecognised, orphansOf, readAll, sharedFiles } from '../read-all.js';

const raw = { type: 'function_call', id: 'fc_1', callId: 'c1', name: 'deploy', arguments: '{"to":"live"}' };
const output = {
  type: 'function_call_result',
  callId: 'c1',
  name: 'deploy',
  output: { type: 'text', text: 'done' },
};
const said = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Done.' }],
};
const item = (type: string, rawItem: object) => ({ type, rawItem, agent: { name: 'A' } });
const responses = [{ responseId: 'resp_1', output: [raw] }];

/** Keys in alphabetical order, as the Python SDK writes them: what was generated stands before the input. */
const state = (more: object = {}) => ({
  $schemaVersion: '1.0',
  currentAgent: { name: 'A' },
  generatedItems: [],
  modelResponses: [],
  originalInput: 'Deploy.',
  ...more,
});

const messagesOf = async (given: unknown) => (await readAll(importer, given)).messages;

const CALLED = {
  role: 'assistant',
  content: null,
  toolPayload: { toolCalls: [{ id: 'c1', name: 'deploy', arguments: { to: 'live' } }] },
  messageId: 'resp_1',
};

describe('the import of a RunState of the OpenAI Agents SDK', () => {
  it('reads the input first and then what was generated, each item once', async () => {
    const generatedItems = [item('tool_call_item', raw), item('tool_call_output_item', output)];
    const given = state({ generatedItems, modelResponses: responses });
    expect(await isRecognised(importer, given)).toBe(true);
    expect(await messagesOf(given)).toStrictEqual([
      { role: 'user', content: 'Deploy.' },
      CALLED,
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'deploy', toolResult: 'done', toolError: null },
      },
    ]);
  });

  it('reads the spelling of the Python SDK', async () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'deploy', arguments: '{"to":"live"}' };
    const given = {
      $schemaVersion: '1.13',
      current_agent: { name: 'A' },
      generated_items: [{ type: 'tool_call_item', raw_item: call }],
      model_responses: [{ response_id: 'resp_1', output: [call] }],
      original_input: [{ role: 'user', content: [{ type: 'input_text', text: 'Deploy.' }] }],
    };
    expect(await messagesOf(given)).toStrictEqual([{ role: 'user', content: 'Deploy.' }, CALLED]);
  });

  it('leaves a call that waits for approval without a result, and says so', async () => {
    const approval = item('tool_approval_item', raw);
    const { messages, report } = await readAll(
      importer,
      state({
        currentStep: { type: 'next_step_interruption', data: { interruptions: [approval] } },
        generatedItems: [item('tool_call_item', raw), approval],
        modelResponses: responses,
      }),
    );
    expect(messages).toStrictEqual([{ role: 'user', content: 'Deploy.' }, CALLED]);
    expect(report.approximated).toMatchObject([{ what: 'a call that waits for approval', count: 1 }]);
  });

  it('says nothing of an approval whose call was answered since', async () => {
    const generatedItems = [
      item('tool_call_item', raw),
      item('tool_approval_item', raw),
      item('tool_call_output_item', output),
    ];
    const { report } = await readAll(importer, state({ generatedItems }));
    expect(report.approximated).toStrictEqual([]);
  });

  it('adds an answer of which the run holds nothing yet', async () => {
    expect(await messagesOf(state({ modelResponses: responses }))).toStrictEqual([
      { role: 'user', content: 'Deploy.' },
      CALLED,
    ]);
  });

  it('does not add what the run left out when it handed over to another agent', async () => {
    const handoff = { ...raw, name: 'transfer_to_B' };
    const { messages, report } = await readAll(importer, state({ modelResponses: [{ output: [handoff] }] }));
    expect(messages).toHaveLength(1);
    expect(report.dropped).toMatchObject([{ what: 'an output of the model that the run left out' }]);
  });

  it('parts two answers that follow each other by the responses they are of', async () => {
    const other = { ...said, id: 'msg_2' };
    const generatedItems = [
      item('message_output_item', said),
      item('tool_call_item', raw),
      item('message_output_item', other),
    ];
    const modelResponses = [
      { responseId: 'r1', output: [said, raw] },
      { responseId: 'r2', output: [other] },
    ];
    expect(await messagesOf(state({ generatedItems, modelResponses }))).toMatchObject([
      { role: 'user' },
      { content: 'Done.', messageId: 'r1', toolPayload: { toolCalls: [{ id: 'c1' }] } },
      { content: 'Done.', messageId: 'r2' },
    ]);
  });

  it('keeps encrypted reasoning with its id, before the answer it led to', async () => {
    const reasoning = {
      type: 'reasoning',
      id: 'rs_1',
      content: [{ type: 'input_text', text: 'A summary.' }],
      providerData: { encryptedContent: 'gAAA==' },
    };
    const generatedItems = [item('reasoning_item', reasoning), item('message_output_item', said)];
    expect(await messagesOf(state({ generatedItems }))).toMatchObject([
      {},
      {
        content: 'Done.',
        reasoning: [{ text: 'A summary.', id: 'rs_1', encrypted: 'gAAA==', origin: { provider: 'openai' } }],
      },
    ]);
  });

  it('keeps calls that the provider ran as its items', async () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const generatedItems = [item('tool_call_item', search), item('message_output_item', said)];
    expect(await messagesOf(state({ generatedItems }))).toMatchObject([
      {},
      { content: 'Done.', providerItems: [{ origin: { provider: 'openai' }, item: search }] },
    ]);
  });

  it('reads built-in tools that the host runs as calls, with their results', async () => {
    const shell = {
      type: 'local_shell_call',
      call_id: 's1',
      action: { command: ['ls'] },
      status: 'completed',
    };
    const shown = { type: 'local_shell_call_output', call_id: 's1', output: 'a.ts' };
    const generatedItems = [item('tool_call_item', shell), item('tool_call_output_item', shown)];
    expect(await messagesOf(state({ generatedItems }))).toMatchObject([
      {},
      {
        toolPayload: {
          toolCalls: [{ id: 's1', name: 'local_shell', arguments: { action: { command: ['ls'] } } }],
        },
      },
      { toolPayload: { toolCallId: 's1', toolName: 'local_shell', toolResult: 'a.ts' } },
    ]);
  });

  it('reads the images of a result as parts beside its text', async () => {
    const list = [
      { type: 'input_text', text: 'shot' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
    ];
    const generatedItems = [
      item('tool_call_output_item', { type: 'function_call_output', call_id: 'x', output: list }),
    ];
    expect(await messagesOf(state({ generatedItems }))).toMatchObject([
      {},
      { toolPayload: { toolResult: 'shot' }, parts: [{ media: { kind: 'image', mime: 'image/png' } }] },
    ]);
  });

  it('keeps items of an unknown kind for their provider, and accounts for what is no item', async () => {
    const { messages, report } = await readAll(
      importer,
      state({ generatedItems: [item('x', { type: 'x' }), null, 3] }),
    );
    expect(messages.at(-1)).toMatchObject({ providerItems: [{ item: { type: 'x' } }] });
    expect(report.approximated).toMatchObject([{ what: expect.stringContaining('`x`'), count: 1 }]);
    expect(report.dropped).toMatchObject([{ what: 'an item that is not an object', count: 1 }]);
  });

  it.each(['1.0', '1.2', '1.9', '1.13', '1.18'])('reads version %s', async ($schemaVersion) => {
    expect(await messagesOf(state({ $schemaVersion }))).toHaveLength(1);
  });

  it.each(['1.19', '1.100', '2.0', '0.9', '999'])(
    'refuses version %s with UNSUPPORTED_VERSION',
    async ($schemaVersion) => {
      await expect(readAll(importer, state({ $schemaVersion }))).rejects.toMatchObject({
        code: 'UNSUPPORTED_VERSION',
      });
    },
  );

  it.each([
    ['a version that is none', { $schemaVersion: 'one' }],
    ['a version without its second part', { $schemaVersion: '1' }],
    ['a version that is a number', { $schemaVersion: 1.5 }],
    ['an agent that is a text', { currentAgent: 'SECRET' }],
    ['an input that is an object', { originalInput: { a: 'SECRET' } }],
    ['an input that is null', { originalInput: null }],
    [
      'tool search before it was there',
      {
        $schemaVersion: '1.7',
        generatedItems: [item('tool_search_call_item', { type: 'tool_search_call' })],
      },
    ],
  ])('refuses %s with TRANSCRIPT_INVALID, and quotes nothing of it', async (_, more) => {
    const refused = await readAll(importer, state(more)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'TRANSCRIPT_INVALID' });
    expect(JSON.stringify(refused)).not.toContain('SECRET');
  });

  const files = sharedFiles('corpus/openai-agents-runstate');
  it.skipIf(!hasShared('corpus/openai-agents-runstate'))(
    'reads every real state, and refuses the negative ones',
    async () => {
      expect(files.length).toBeGreaterThan(10);
      for (const file of files) {
        expect(await isRecognised(importer, file), file.name).toBe(true);
        const read = await readAll(importer, file).catch((error: { code: string }) => error.code);
        if (file.name.includes('negative'))
          expect(read, file.name).toMatch(/^(UNSUPPORTED_VERSION|TRANSCRIPT_INVALID)$/);
        else if (typeof read === 'string') expect.fail(`${file.name}: ${read}`);
        else {
          expect(read.messages.length, file.name).toBeGreaterThan(0);
          expect(orphansOf(read.messages), file.name).toStrictEqual([]);
        }
      }
    },
  );

  it.skipIf(!hasShared('corpus'))('recognises no other format', async () => {
    for (const file of sharedFiles('corpus'))
      expect(await isRecognised(importer, file), file.name).toBe(
        file.name.startsWith('openai-agents-runstate/'),
      );
  });
});
