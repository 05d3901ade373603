/** What the Responses, Gemini and Codex exporters write is read again: nothing is lost between writing and reading. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codexExporter, codexSessionId } from '../../../src/messages/exporters/codex-exporter.js';
import {
  geminiExporter,
  openAiResponsesExporter,
} from '../../../src/messages/exporters/request-exporters.js';
import type { TranscriptExporter } from '../../../src/messages/exporters/transcript-exporter.js';
import { contextOf, openTranscript } from '../../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import { checkHistory, repairHistory } from '../../../src/messages/legality/history.js';
import { type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { runParameters } from '../../property/seed.js';
import { faultyHistory, richLegalHistory } from '../legality/histories.js';

const EXPORTERS = [openAiResponsesExporter, geminiExporter, codexExporter];

function written(exporter: TranscriptExporter, messages: readonly Message[]): string {
  return [...exporter.write(messages, { agentId: 'coder', startedAtMs: 1_700_000_000_000 })].join('');
}

async function readAgain(text: string): Promise<{ format: string; messages: Message[] }> {
  const transcript = await openTranscript(sourceOf(text));
  const messages = await contextOf(transcript);
  return { format: transcript.format, messages: repairHistory(messages).messages as Message[] };
}

const origin = { provider: 'openai', model: 'gpt-5' };
const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const answer = (content: string | null, fields: Partial<Message> = {}): Message => ({
  ...{ role: 'assistant', content, origin },
  ...fields,
});
const call = (id: string) => ({ id, name: 'look', arguments: { path: id } });
const result = (id: string): Message => ({
  role: 'tool',
  content: null,
  toolPayload: { toolCallId: id, toolName: 'look', toolResult: `saw ${id}`, toolError: null },
});
const conversation: Message[] = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: null,
    parts: [
      { type: 'text', text: 'Look.' },
      { type: 'media', media: { kind: 'image', mime: 'image/png', ref: image } },
    ],
  },
  answer('I look.', { toolPayload: { toolCalls: [call('call_1'), call('call_2')] } }),
  result('call_1'),
  result('call_2'),
  answer('Both are there.'),
  { role: 'user', content: 'Thanks.' },
];

const withOrigin = (messages: readonly Message[], given: Message['origin']): Message[] =>
  messages.map(({ origin: _, ...message }) =>
    message.role === 'assistant' && given ? { ...message, origin: given } : message,
  );

describe.each(EXPORTERS.map((exporter) => [exporter.format, exporter] as const))(
  'an export as %s',
  (format, exporter) => {
    it('comes back as it was, except for the origin of the answers', async () => {
      const read = await readAgain(written(exporter, conversation));
      expect(read.format).toBe(format);
      expect(withOrigin(read.messages, undefined)).toEqual(withOrigin(conversation, undefined));
    });

    it('is recognised with nothing but a text', async () => {
      const hi: Message = { role: 'user', content: 'hi' };
      expect(await readAgain(written(exporter, [hi]))).toEqual({ format, messages: [hi] });
    });

    it('gives the same list when what was read and repaired is written and read again', async () => {
      const property = fc.asyncProperty(fc.oneof(richLegalHistory, faultyHistory), async (messages) => {
        const text = written(exporter, messages);
        if (!text.includes('"role"')) return;
        const read = await readAgain(text);
        expect(read.format).toBe(format);
        expect(checkHistory(read.messages)).toEqual([]);
        expect(await readAgain(written(exporter, read.messages))).toEqual(read);
      });
      await fc.assert(property, runParameters(`round trip ${format}`, 80));
    });

    it('brings back every call and result of a legal history in order', async () => {
      const shape = (messages: readonly Message[]) =>
        messages.flatMap((message) => [
          ...toolCallsOf(message).map(() => 'call'),
          ...(toolResultOf(message) ? ['result'] : []),
        ]);
      const property = fc.asyncProperty(richLegalHistory, async (messages) => {
        const text = written(exporter, messages);
        if (!text.includes('"role"')) return;
        const { messages: read } = await readAgain(text);
        expect(shape(read)).toEqual(shape(repairHistory(messages).messages));
      });
      await fc.assert(property, runParameters(`exchanges ${format}`, 40));
    });
  },
);

describe('a rollout for Codex', () => {
  const recordsOf = (messages: readonly Message[]) =>
    written(codexExporter, messages)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; payload: Record<string, unknown> });

  it('keeps the models of OpenAI, encrypted reasoning, answers in a row and that one was cut off', async () => {
    const reasoning = [{ text: 'Hm.', encrypted: 'gAAA', id: 'rs_1', origin }];
    const messages = [
      ...conversation.slice(0, 2),
      answer('First.', { reasoning }),
      answer('Second.', { origin: { ...origin, model: 'gpt-5-mini' } }),
      answer('Thi', { status: 'aborted', origin: { ...origin, model: 'gpt-5-mini' } }),
      { role: 'user' as const, content: 'go on' },
    ];
    expect((await readAgain(written(codexExporter, messages))).messages).toEqual(messages);
  });

  it('writes a summary as a compaction that keeps what is still in the context before it', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Never push.' },
      { role: 'user', content: 'Earlier: much.', kind: 'memory' },
      answer('So I go on.'),
    ];
    const compacted = recordsOf(messages).find(({ type }) => type === 'compacted');
    expect(compacted?.payload['message']).toBe('Earlier: much.');
    expect(compacted?.payload['replacement_history']).toHaveLength(2);
    expect(withOrigin((await readAgain(written(codexExporter, messages))).messages, undefined)).toEqual(
      withOrigin(messages, undefined),
    );
  });

  it('begins with a header that names the session, and repeats what was said as events', () => {
    const [header, ...rest] = recordsOf(conversation);
    expect(header).toMatchObject({
      type: 'session_meta',
      payload: { id: codexSessionId('coder'), timestamp: '2023-11-14T22:13:20.000Z' },
    });
    const events = rest.filter(({ type }) => type === 'event_msg').map(({ payload }) => payload['message']);
    expect(events).toEqual(['Look.', 'I look.', 'Both are there.', 'Thanks.']);
  });

  it('replaces a document, which Codex cannot read, by a line of text', () => {
    const ref = 'data:application/pdf;base64,JVBERi0xLjQK';
    const media = { kind: 'file' as const, mime: 'application/pdf', name: 'a.pdf', ref };
    const message: Message = {
      role: 'user',
      content: null,
      parts: [
        { type: 'text', text: 'Read.' },
        { type: 'media', media },
      ],
    };
    expect(written(codexExporter, [message])).not.toContain('input_file');
    expect(written(codexExporter, [message])).toContain('[file not available: a.pdf]');
  });
});
