import { describe, expect, it } from 'vitest';
import { atifImporter as importer } from '../../../../src/messages/importers/datasets/atif.js';
import { hasShared, isRecognised, orphansOf, readAll, sharedFiles } from '../read-all.js';

const TIME = '2026-01-02T03:04:05Z';
const asked = { step_id: 1, source: 'user', message: 'What is in a.txt?', timestamp: TIME };
const call = { tool_call_id: 'c1', function_name: 'bash', arguments: { cmd: 'cat a.txt' } };
const calling = {
  step_id: 2,
  source: 'agent',
  message: '',
  reasoning_content: 'Tea?',
  tool_calls: [call],
  observation: { results: [{ source_call_id: 'c1', content: 'tea' }] },
  metrics: { prompt_tokens: 1 },
};
const trajectory = (...steps: unknown[]) => ({
  schema_version: 'ATIF-v1.4',
  session_id: 's',
  agent: { name: 'a', version: '1', model_name: 'claude-opus-4-8' },
  steps,
});
const messagesOf = async (...steps: unknown[]) => (await readAll(importer, trajectory(...steps))).messages;

describe('the import of ATIF trajectories', () => {
  it('reads steps with reasoning, calls and their results', async () => {
    const document = trajectory({ step_id: 0, source: 'system', message: 'Be brief.' }, asked, calling);
    expect(await isRecognised(importer, document)).toBe(true);
    const { items, messages, report } = await readAll(importer, document);
    expect(items[1]).toMatchObject({ ts: Date.parse(TIME) / 1000 });
    expect(messages).toStrictEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is in a.txt?' },
      {
        role: 'assistant',
        content: null,
        reasoningContent: 'Tea?',
        toolPayload: { toolCalls: [{ id: 'c1', name: 'bash', arguments: { cmd: 'cat a.txt' } }] },
        origin: { provider: 'anthropic', model: 'claude-opus-4-8' },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'c1', toolName: 'bash', toolResult: 'tea', toolError: null },
      },
    ]);
    expect(report.dropped.map(({ what }) => what)).toEqual([
      'a field next to the messages',
      'what the run recorded about a step',
    ]);
  });

  it('prefers the model of the step', async () => {
    const [message] = await messagesOf({ source: 'agent', message: 'Tea.', model_name: 'gpt-4o' });
    expect(message?.origin).toEqual({ provider: 'openai', model: 'gpt-4o' });
  });

  it('gives an output without an id to the oldest open call, and one without a call to the user', async () => {
    const results = [{ content: 'tea' }, { content: 'The disk is full.' }, { content: null }];
    const { messages, report } = await readAll(
      importer,
      trajectory(asked, { ...calling, observation: { results } }),
    );
    expect(messages.slice(2)).toMatchObject([
      { toolPayload: { toolCallId: 'c1', toolResult: 'tea' } },
      { role: 'user', content: 'The disk is full.' },
    ]);
    expect(messages).toHaveLength(4);
    expect(report.approximated).toMatchObject([
      { what: 'an output without a call, as a message of the user', count: 1 },
    ]);
  });

  it('reads content in parts, and names images in other files', async () => {
    const message = [
      { type: 'text', text: 'See.' },
      { type: 'image', source: { media_type: 'image/png', path: 'images/a.png' } },
    ];
    const { messages, report } = await readAll(importer, trajectory({ ...asked, message }));
    expect(messages[0]?.content).toBe('See.\n[image: images/a.png]');
    expect(report.approximated).toMatchObject([{ what: 'an image in another file, as a line of text' }]);
  });

  it('counts empty steps, sub-agents and unknown sources, and reads on', async () => {
    const observation = {
      results: [{ source_call_id: 'c1', content: 'x', subagent_trajectory_ref: [{}] }, 7],
    };
    const { messages, report } = await readAll(
      importer,
      trajectory(
        { source: 'critic', message: 'Hm.' },
        { source: 'user', message: '' },
        { ...calling, observation },
        7,
        asked,
      ),
    );
    expect(messages).toHaveLength(3);
    expect(report.dropped.map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        'a step of an unknown source',
        'an empty message',
        'the trajectory of a sub-agent',
        'an output that is not an object',
        'a member that is not a message',
      ]),
    );
  });

  it('refuses a newer version, and a trajectory without steps', async () => {
    await expect(
      readAll(importer, { ...trajectory(asked), schema_version: 'ATIF-v2.0' }),
    ).rejects.toMatchObject({
      code: 'UNSUPPORTED_VERSION',
    });
    await expect(readAll(importer, trajectory())).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });

  it('does not recognise other documents with steps', async () => {
    expect(await isRecognised(importer, { schema_version: '1', steps: [asked] })).toBe(false);
  });
});

describe.skipIf(!hasShared('corpus/misc/atif'))('the import of a real ATIF trajectory', () => {
  it.each(sharedFiles('corpus/misc/atif').map((file) => [file.name, file] as const))(
    'reads %s',
    async (_, file) => {
      expect(await isRecognised(importer, file)).toBe(true);
      const { messages } = await readAll(importer, file);
      expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'tool', 'tool']);
      expect(orphansOf(messages)).toEqual([]);
    },
  );
});
