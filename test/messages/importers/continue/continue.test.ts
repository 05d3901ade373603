import { describe, expect, it } from 'vitest';
import { continueImporter } from '../../../../src/messages/importers/continue/continue.js';
import { textOf, toolCallsOf, toolResultOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, readAll, sharedFiles } from '../read-all.js';

const entry = (message: object, fields: object = {}) => ({ message, contextItems: [], ...fields });
const session = (...history: object[]) => ({ sessionId: 's', title: 't', workspaceDirectory: '/w', history });
const call = (id: string) => ({ id, type: 'function', function: { name: 'Read', arguments: '{"a":1}' } });
const state = (toolCallId: string, status: string, ...output: string[]) => ({
  ...{ toolCallId, status },
  output: output.map((content) => ({ content, name: 'Tool Result' })),
});

describe('the importer of Continue sessions', () => {
  it('recognises a session by its history', async () => {
    const hi = entry({ role: 'user', content: 'hi' });
    expect(await isRecognised(continueImporter, session(hi))).toBe(true);
    expect(await isRecognised(continueImporter, { history: [hi] })).toBe(false);
    expect(await isRecognised(continueImporter, session({ message: 'hi' }))).toBe(false);
  });

  it('reads results and failures from the states of the calls', async () => {
    const { messages } = await readAll(
      continueImporter,
      session(
        entry(
          { role: 'assistant', content: '', toolCalls: [call('c1'), call('c2'), call('c3')] },
          {
            toolCallStates: [state('c1', 'done', 'one', 'two'), state('c2', 'errored'), { toolCallId: 'c3' }],
          },
        ),
      ),
    );
    expect(toolCallsOf(messages[0]!).map(({ id, arguments: given }) => [id, given])).toEqual([
      ['c1', { a: 1 }],
      ['c2', { a: 1 }],
      ['c3', { a: 1 }],
    ]);
    expect(messages.slice(1).map((message) => toolResultOf(message))).toMatchObject([
      { toolCallId: 'c1', toolName: 'Read', toolResult: 'one\ntwo', toolError: null },
      { toolCallId: 'c2', toolResult: null, toolError: 'The tool failed without a message.' },
    ]);
  });

  it('reads results that are messages of their own, and thinking before an answer', async () => {
    const { messages } = await readAll(
      continueImporter,
      session(
        entry({ role: 'thinking', content: 'hm' }),
        entry({ role: 'assistant', content: 'I look.', toolCalls: [call('c1')] }),
        entry({ role: 'tool', content: 'short', toolCallId: 'c1' }),
        entry({ role: 'assistant', content: 'It is short.' }),
      ),
    );
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
    expect(messages.map(({ reasoning }) => reasoning?.[0]?.text)).toEqual(['hm', undefined, undefined]);
    expect(toolResultOf(messages[1]!)).toMatchObject({ toolCallId: 'c1', toolResult: 'short' });
  });

  it('keeps thinking that no answer followed out of the next answer', async () => {
    const { messages } = await readAll(
      continueImporter,
      session(
        entry({ role: 'thinking', content: 'hm' }),
        entry({ role: 'user', content: 'stop' }),
        entry({ role: 'assistant', content: 'a' }),
        entry({ role: 'thinking', content: 'last' }),
      ),
    );
    expect(messages.map(({ content, reasoning }) => [content, reasoning?.[0]?.text])).toEqual([
      [null, 'hm'],
      ['stop', undefined],
      ['a', undefined],
      [null, 'last'],
    ]);
  });

  it('keeps what Claude signed or encrypted of its thinking', async () => {
    const { messages } = await readAll(
      continueImporter,
      session(
        entry({ role: 'thinking', content: 'hm', signature: 'sig' }),
        entry({ role: 'thinking', content: '', redactedThinking: 'enc' }),
        entry({ role: 'assistant', content: 'a' }),
      ),
    );
    const origin = { provider: 'anthropic' };
    expect(messages[0]?.reasoning).toEqual([
      { text: 'hm', signature: 'sig', origin },
      { text: null, encrypted: 'enc', redacted: true, origin },
    ]);
  });

  it('reads the images of a message', async () => {
    const url = 'data:image/png;base64,AAAA';
    const { messages, report } = await readAll(
      continueImporter,
      session(
        entry({
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'imageUrl', imageUrl: { url } },
          ],
        }),
      ),
    );
    expect(messages[0]?.parts).toMatchObject([{ text: 'look' }, { media: { kind: 'image', ref: url } }]);
    expect(report.approximated).toEqual([]);
  });

  it('puts the context of a message before its text', async () => {
    const contextItems = [{ name: 'a.ts', content: '// a' }];
    const { messages, report } = await readAll(
      continueImporter,
      session(
        entry({ role: 'user', content: 'look' }, { contextItems }),
        entry({ role: 'user', content: [{ type: 'text', text: 'again' }] }, { contextItems }),
      ),
    );
    expect(messages.map(textOf)).toEqual(['// a\n\nlook', '// aagain']);
    expect(report.approximated).toMatchObject([{ what: 'context of a message, before its text', count: 2 }]);
  });
});

describe.skipIf(!hasShared('corpus/misc/continue'))('a real Continue session', () => {
  it('is read with a result for each call', async () => {
    for (const file of sharedFiles('corpus/misc/continue')) {
      const { report } = await readAll(continueImporter, file);
      expect(report.kept).toMatchObject({ 'tool call': 2, 'tool result': 2, 'assistant message': 3 });
      expect(report.dropped).toEqual([]);
    }
  });
});
