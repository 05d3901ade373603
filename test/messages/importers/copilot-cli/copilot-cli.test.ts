import { describe, expect, it } from 'vitest';
import { copilotCliImporter } from '../../../../src/messages/importers/copilot-cli/copilot-cli.js';
import { toolResultOf } from '../../../../src/messages/message.js';
import { hasShared, isRecognised, lines, readAll, sharedFiles } from '../read-all.js';

const timestamp = '2026-02-01T08:00:00.000Z';
let made = 0;
const event = (type: string, data: object) => {
  made += 1;
  return { type, data, id: `e${made}`, timestamp, parentId: null };
};
const start = event('session.start', { sessionId: 's', selectedModel: 'gpt-5' });
const call = { toolCallId: 'c1', name: 'bash', arguments: '{"command":"ls"}', type: 'function' };
const importEvents = (...events: object[]) => readAll(copilotCliImporter, lines(start, ...events));

describe('the importer of Copilot sessions', () => {
  it('recognises a session by its events, and no other lines with a type', async () => {
    expect(await isRecognised(copilotCliImporter, lines(start))).toBe(true);
    expect(await isRecognised(copilotCliImporter, lines({ type: 'user.message', text: 'hi' }))).toBe(false);
  });

  it('reads a prompt as the model was sent it', async () => {
    const { messages, report } = await importEvents(
      event('user.message', {
        content: 'hi',
        transformedContent: '<now/>\nhi',
        attachments: [{ path: 'a' }],
      }),
      event('user.message', { content: 'typed', transformedContent: '' }),
    );
    expect(messages.map(({ content }) => content)).toEqual(['<now/>\nhi', 'typed']);
    expect(report.dropped).toContainEqual(
      expect.objectContaining({ what: 'attachment, except its text in the prompt' }),
    );
  });

  it('reads an answer with its calls, its reasoning and the model of the session', async () => {
    const { items, messages } = await importEvents(
      event('assistant.message', {
        ...{ messageId: 'm1', content: 'I look.', toolRequests: [call] },
        ...{ reasoningText: 'hm', reasoningOpaque: 'opaque' },
      }),
    );
    const origin = { provider: 'github-copilot', model: 'gpt-5' };
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        reasoning: [{ text: 'hm', encrypted: 'opaque', origin }],
        toolPayload: {
          toolCalls: [
            {
              id: 'c1',
              name: 'bash',
              arguments: { command: 'ls' },
            },
          ],
        },
        origin,
        messageId: 'm1',
      },
    ]);
    expect(items[0]?.ts).toBe(Date.parse(timestamp) / 1000);
  });

  it('takes reasoning from an event before the answer', async () => {
    const { messages } = await importEvents(
      event('assistant.reasoning', { content: 'hm' }),
      event('assistant.message', { content: 'a', toolRequests: [] }),
      event('assistant.message', { content: 'b', toolRequests: [] }),
    );
    expect(messages.map(({ reasoning }) => reasoning?.[0]?.text)).toEqual(['hm', undefined]);
  });

  it('keeps reasoning that no answer followed out of the next answer', async () => {
    const { messages } = await importEvents(
      event('assistant.reasoning', { content: 'hm' }),
      event('user.message', { content: 'stop' }),
      event('assistant.message', { content: 'a', toolRequests: [] }),
      event('assistant.reasoning', { content: 'last' }),
    );
    expect(messages.map(({ content, reasoning }) => [content, reasoning?.[0]?.text])).toEqual([
      [null, 'hm'],
      ['stop', undefined],
      ['a', undefined],
      [null, 'last'],
    ]);
  });

  it('reads results and failures', async () => {
    const done = (data: object) => event('tool.execution_complete', { toolCallId: 'c1', ...data });
    const { messages } = await importEvents(
      event('assistant.message', { content: '', toolRequests: [call] }),
      done({ success: true, result: { content: 'a.txt', detailedContent: 'a.txt' } }),
      done({ success: false, error: { message: 'denied' } }),
      done({ success: false }),
    );
    expect(messages.slice(1).map((message) => toolResultOf(message))).toMatchObject([
      { toolCallId: 'c1', toolName: 'bash', toolResult: 'a.txt', toolError: null },
      { toolResult: null, toolError: 'denied' },
      { toolResult: null, toolError: 'The tool failed without a message.' },
    ]);
  });

  it('counts events of sub-agents and of the tool as dropped', async () => {
    const { messages, report } = await importEvents(
      event('assistant.message', { parentToolCallId: 'c1', content: 'inner', toolRequests: [] }),
      event('hook.start', {}),
      event('something.new', {}),
    );
    expect(messages).toEqual([]);
    expect(report.dropped.map(({ what }) => what)).toEqual([
      ...['session header', 'event of a sub-agent', 'call of a hook', 'event of an unknown type'],
    ]);
  });

  it('begins the context again with the summary of a compaction', async () => {
    const { items } = await importEvents(
      event('user.message', { content: 'old' }),
      event('session.compaction_complete', { success: true, summaryContent: 'Much was done.' }),
      event('session.compaction_complete', { success: false }),
    );
    expect(items.map(({ kind }) => kind)).toEqual(['message', 'compaction']);
    expect(items[1]).toMatchObject({ messages: [{ kind: 'memory', content: 'Much was done.' }] });
  });
});

describe.skipIf(!hasShared('corpus/misc/copilot'))('real sessions of the Copilot command line', () => {
  it('are read without an event of an unknown type', async () => {
    const files = sharedFiles('corpus/misc/copilot').filter(({ name }) => name.startsWith('agentsess'));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const { messages, report } = await readAll(copilotCliImporter, file);
      expect(messages.length).toBeGreaterThan(3);
      expect(report.dropped.map(({ what }) => what)).not.toContain('event of an unknown type');
    }
  });
});
