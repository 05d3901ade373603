import { describe, expect, it } from 'vitest';
import { fromAiSdkMessages } from '../../../../src/messages/importers/ai-sdk/ai-sdk.js';

const origin = { provider: 'anthropic', model: 'model-a' };

describe('the import of AI SDK response messages', () => {
  it('reads text, given as text or as parts', () => {
    const parts = [
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
    ];
    for (const content of ['Hello', parts]) {
      expect(fromAiSdkMessages([{ role: 'assistant', content }], origin)).toStrictEqual([
        { kind: 'assistant', content: 'Hello', toolCalls: [], providerItems: [] },
      ]);
    }
  });

  it('reads an answer that only calls tools as one without text', () => {
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'ls', input: { d: 1 } };
    expect(fromAiSdkMessages([{ role: 'assistant', content: [call] }], origin)).toMatchObject([
      { content: null, toolCalls: [{ id: 'c1', name: 'ls', arguments: { d: 1 } }] },
    ]);
  });

  it('keeps reasoning with its signature and where it came from', () => {
    const part = {
      type: 'reasoning',
      text: 'Hm.',
      providerOptions: { anthropic: { signature: 'c2ln' } },
    };
    expect(fromAiSdkMessages([{ role: 'assistant', content: [part] }], origin)).toMatchObject([
      { reasoning: [{ text: 'Hm.', signature: 'c2ln', origin }] },
    ]);
  });

  it('keeps parts that it does not know as items of the provider', () => {
    const part = { type: 'source-url', url: 'https://example.com' };
    expect(fromAiSdkMessages([{ role: 'assistant', content: [part] }], origin)).toMatchObject([
      { content: null, providerItems: [{ origin, item: part }] },
    ]);
  });

  it.each([
    [
      { type: 'text', value: 'ok' },
      { result: 'ok', error: null },
    ],
    [
      { type: 'json', value: { n: 1 } },
      { result: { n: 1 }, error: null },
    ],
    [
      { type: 'content', value: [{ type: 'text', text: 'x' }] },
      { result: [{ type: 'text', text: 'x' }], error: null },
    ],
    [
      { type: 'error-text', value: 'no' },
      { result: null, error: 'no' },
    ],
    [
      { type: 'error-json', value: { code: 1 } },
      { result: null, error: '{"code":1}' },
    ],
    [
      { type: 'error-text', value: ' ' },
      { result: null, error: 'The tool failed without a message.' },
    ],
    [
      { type: 'execution-denied', reason: 'Not now.' },
      { result: null, error: 'Not now.' },
    ],
    [{ type: 'execution-denied' }, { result: null, error: 'The call was not approved, so it did not run.' }],
  ])('reads the output %j of a tool', (output, expected) => {
    const content = [{ type: 'tool-result', toolCallId: 'c1', toolName: 'ls', output }];
    expect(fromAiSdkMessages([{ role: 'tool', content }], origin)).toStrictEqual([
      { kind: 'result', callId: 'c1', toolName: 'ls', ...expected },
    ]);
  });

  it('reads the result of a tool that the provider ran, behind the answer that holds it', () => {
    const content = [
      { type: 'tool-call', toolCallId: 'c1', toolName: 'web', input: {}, providerExecuted: true },
      { type: 'tool-result', toolCallId: 'c1', toolName: 'web', output: { type: 'text', value: 'found' } },
      { type: 'text', text: 'Here.' },
    ];
    expect(fromAiSdkMessages([{ role: 'assistant', content }], origin).map(({ kind }) => kind)).toStrictEqual(
      ['assistant', 'result'],
    );
  });

  it('turns values that are no JSON into JSON', () => {
    const content = [
      { type: 'tool-call', toolCallId: 'c1', toolName: 'ls', input: { at: new Date(0), n: 1n } },
    ];
    expect(fromAiSdkMessages([{ role: 'assistant', content }], origin)).toMatchObject([
      { toolCalls: [{ arguments: { at: '1970-01-01T00:00:00.000Z', n: '1' } }] },
    ]);
  });

  it.each([[{ role: 'user', content: 'x' }], [null], ['text'], [{}]])(
    'refuses %j with MESSAGE_INVALID',
    (message) => {
      expect(() => fromAiSdkMessages([message], origin)).toThrowError(
        expect.objectContaining({ code: 'MESSAGE_INVALID' }),
      );
    },
  );
});
