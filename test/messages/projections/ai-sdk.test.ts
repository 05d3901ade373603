import { modelMessageSchema } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import type { Message } from '../../../src/messages/message.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { type AiSdkMessage, projectAiSdk } from '../../../src/messages/projections/ai-sdk.js';
import type { ProjectionTarget } from '../../../src/messages/projections/projection.js';
import { runParameters } from '../../property/seed.js';
import { assistant, calls, legalHistory, message, result, syntheticResult, user } from '../arbitraries.js';

/** What becomes of the messages between a first and a last word of the user. */
function toAiSdkMessages(messages: readonly Message[], target: ProjectionTarget = {}): AiSdkMessage[] {
  const [system, ...rest] = messages;
  const head = system?.role === 'system' ? [system] : [];
  const list = [...head, user('first'), ...(head.length > 0 ? rest : messages), user('last')];
  const projected = projectAiSdk(list, target).request.messages;
  return [...projected.slice(0, head.length), ...projected.slice(head.length + 1, -1)];
}

const png = `sha256:${'a'.repeat(64)}`;

describe('the projection to the AI SDK', () => {
  it('gives texts as they are', () => {
    const messages: Message[] = [{ role: 'system', content: 'Be kind.' }, user('Hi'), assistant('Hello')];
    expect(toAiSdkMessages(messages)).toStrictEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ]);
  });

  it('gives calls with their arguments, and the results of one block as one message', () => {
    const spoken: Message = { ...calls('a', 'b'), content: 'Two at once.' };
    const [call, results] = toAiSdkMessages([spoken, result('a', { n: 1 }), result('b', 'text')]);
    expect(call).toStrictEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'Two at once.' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'tool_a', input: {} },
        { type: 'tool-call', toolCallId: 'b', toolName: 'tool_b', input: {} },
      ],
    });
    expect(results).toStrictEqual({
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'a',
          toolName: 'tool_a',
          output: { type: 'json', value: { n: 1 } },
        },
        { type: 'tool-result', toolCallId: 'b', toolName: 'tool_b', output: { type: 'text', value: 'text' } },
      ],
    });
  });

  it('gives the error of a tool as an error', () => {
    expect(toAiSdkMessages([calls('a'), syntheticResult('a')])[1]).toMatchObject({
      content: [{ output: { type: 'error-text', value: 'unknown' } }],
    });
  });

  it('leaves out a blank message', () => {
    expect(toAiSdkMessages([user('Hi'), assistant('  '), { role: 'assistant', content: null }])).toHaveLength(
      1,
    );
  });

  it('gives media by URL, and artifacts by their bytes', () => {
    const bytes = new Uint8Array([1, 2]);
    const message: Message = {
      role: 'user',
      content: null,
      parts: [
        { type: 'text', text: 'See' },
        { type: 'media', media: { kind: 'image', mime: 'image/png', ref: png } },
        {
          type: 'media',
          media: { kind: 'file', mime: 'text/plain', ref: 'https://example.com/a.txt', name: 'a' },
        },
      ],
      imageUrls: ['https://example.com/b.png'],
    };
    expect(toAiSdkMessages([message], { artifacts: new Map([[png, bytes]]) })).toStrictEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', image: 'AQI=', mediaType: 'image/png' },
          {
            type: 'file',
            data: new URL('https://example.com/a.txt'),
            mediaType: 'text/plain',
            filename: 'a',
          },
          { type: 'image', image: new URL('https://example.com/b.png') },
        ],
      },
    ]);
  });

  it('says in words that a medium is not available', () => {
    const message: Message = {
      role: 'user',
      content: null,
      parts: [{ type: 'media', media: { kind: 'audio', ref: png, name: 'note.mp3' } }],
    };
    expect(toAiSdkMessages([message])).toStrictEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringMatching(/^\[audio omitted: note\.mp3, not available/) },
        ],
      },
    ]);
  });

  it('gives signed reasoning back to the provider that it came from, and to no other', () => {
    const thought: Message = {
      role: 'assistant',
      content: 'Done.',
      reasoning: [{ text: 'Hm.', signature: 'c2ln', origin: { provider: 'anthropic' } }],
    };
    expect(toAiSdkMessages([thought], { provider: 'anthropic' })).toStrictEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'c2ln' } } },
          { type: 'text', text: 'Done.' },
        ],
      },
    ]);
    for (const target of [{}, { provider: 'openai' }])
      expect(toAiSdkMessages([thought], target)).toStrictEqual([{ role: 'assistant', content: 'Done.' }]);
  });

  it('gives for every legal history what the SDK accepts', () => {
    fc.assert(
      fc.property(legalHistory, (messages) => {
        for (const projected of toAiSdkMessages(messages)) modelMessageSchema.parse(projected);
      }),
      runParameters('ai-sdk projection', 150),
    );
  });

  it('changes nothing that it is given and gives the same each time, whatever the messages', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
        const text = () => canonicalJson(messages.map(messageToJson));
        const before = text();
        const projected = toAiSdkMessages(messages, { provider: 'search' });
        expect(toAiSdkMessages(messages, { provider: 'search' })).toStrictEqual(projected);
        expect(text()).toBe(before);
      }),
      runParameters('ai-sdk projection, pure', 150),
    );
  });
});
