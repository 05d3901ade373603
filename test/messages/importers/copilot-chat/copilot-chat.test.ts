import { describe, expect, it } from 'vitest';
import { copilotChatImporter } from '../../../../src/messages/importers/copilot-chat/copilot-chat.js';
import { sourceOf } from '../../../../src/messages/importers/source.js';
import { textOf, toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';

const request = (text: string, fields: object = {}) => ({
  ...{ requestId: `r-${text}`, timestamp: 1_770_000_000_000, modelId: 'copilot/gpt-4o' },
  ...{ message: { text, parts: [] }, response: [{ value: `shown ${text}` }] },
  ...fields,
});
const first = (...requests: object[]) => ({ kind: 0, v: { version: 3, creationDate: 1, requests } });
const change = (kind: number, k: unknown[], fields: object) => ({ kind, k, ...fields });
const said = async (...records: object[]) =>
  (await readAll(copilotChatImporter, lines(...records))).messages.map(textOf);

describe('the importer of Copilot chats', () => {
  it('recognises a log, a log of one line and a document', async () => {
    const recognises = (given: unknown) => isRecognised(copilotChatImporter, given);
    expect(await recognises(lines(first(), change(1, ['inputState'], { v: 'x' })))).toBe(true);
    expect(await recognises(lines(first(request('a'))))).toBe(true);
    expect(await recognises({ responderUsername: 'GitHub Copilot', requests: [request('a')] })).toBe(true);
    expect(await recognises({ requests: [{ messages: [] }] })).toBe(false);
  });

  it('applies the changes of a log in order', async () => {
    const records = [
      first(),
      change(2, ['requests'], { v: [request('a'), request('b')] }),
      change(2, ['requests'], { i: 1, v: [request('c')] }),
      change(1, ['requests', 1, 'response'], { v: [{ value: 'changed' }] }),
      change(3, ['requests', 0, 'response'], {}),
    ];
    expect(await said(...records)).toEqual(['a', 'c', 'changed']);
  });

  it('counts changes whose place is missing, and makes no gaps in lists', async () => {
    const { messages, report } = await readAll(
      copilotChatImporter,
      lines(
        ...[first(request('a')), change(1, ['requests', 7], { v: request('b') })],
        ...[
          change(1, ['nothing', 'here'], { v: 1 }),
          change(9, ['x'], {}),
          change(2, ['version'], { v: [1] }),
        ],
      ),
    );
    expect(messages).toHaveLength(2);
    expect(report.dropped).toContainEqual(
      expect.objectContaining({ what: 'change whose place is missing', count: 4 }),
    );
  });

  it('reads the rounds of the model with their calls and results, before what was shown', async () => {
    const toolCalls = [
      { id: 'c1', name: 'read_file', arguments: '{"path":"a"}' },
      { id: 'c2', name: 'run', arguments: '{}' },
    ];
    const node = {
      type: 1,
      children: [
        { type: 2, text: 'one', lineBreakBefore: true },
        { type: 1, children: [{ type: 2, text: 'two', lineBreakBefore: true }] },
      ],
    };
    const metadata = {
      toolCallRounds: [
        { response: 'I look.', toolCalls, thinking: { id: 't', text: 'hm' } },
        { response: 'Done.', toolCalls: [] },
      ],
      toolCallResults: { c1: { content: [{ value: { node } }, { value: 'three' }] } },
      renderedUserMessage: [{ type: 1, text: '<file/>\nlook' }],
    };
    const { messages } = await readAll(
      copilotChatImporter,
      lines(first(request('look', { result: { metadata } }))),
    );
    const origin = { provider: 'github-copilot', model: 'gpt-4o' };
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(textOf(messages[0]!)).toBe('<file/>\nlook');
    expect(messages[1]).toMatchObject({ origin, reasoning: [{ text: 'hm', id: 't', origin }] });
    expect(toolCallsOf(messages[1]!).map(({ arguments: given }) => given)).toEqual([{ path: 'a' }, {}]);
    expect(toolResultOf(messages[2]!)).toMatchObject({
      toolCallId: 'c1',
      toolName: 'read_file',
      toolResult: 'one\ntwo\nthree',
    });
  });

  it('joins what was shown if the rounds are missing, and counts calls that are only shown', async () => {
    const response = [
      ...[{ value: 'See ' }, { kind: 'inlineReference', inlineReference: { path: '/w/a.ts' } }],
      ...[{ kind: 'toolInvocationSerialized', toolId: 'x' }, { kind: 'undoStop' }, { value: '.' }],
    ];
    const { messages, report } = await readAll(copilotChatImporter, {
      requests: [request('a', { response, isCanceled: true })],
    });
    expect(messages[1]).toMatchObject({ content: 'See `a.ts`.', status: 'aborted' });
    expect(report.dropped.map(({ what }) => what)).toEqual([
      'call that is only shown, without its arguments',
      'piece of an answer, for display',
    ]);
  });

  it('refuses a log that is too large to hold', async () => {
    const log = { ...sourceOf(lines(first())), size: 65 * 1024 * 1024 };
    await expect(readAll(copilotChatImporter, log)).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });
});

describe.skipIf(!hasShared('corpus/misc/copilot'))('real chats of the editor', () => {
  it('are read whole, each result with its call', async () => {
    const files = sharedFiles('corpus/misc/copilot').filter(({ name }) => name.startsWith('gitai'));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const { messages } = await readAll(copilotChatImporter, file);
      expect(messages.length).toBeGreaterThan(1);
      expect(orphansOf(messages)).toEqual([]);
      expect(messages.flatMap((message) => toolCallsOf(message))).toHaveLength(
        messages.filter(({ role }) => role === 'tool').length,
      );
    }
  });
});
