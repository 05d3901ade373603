/**
 * The checks beside what the SDKs themselves refuse at run time, without a network. `openai` and `@anthropic-ai/sdk` hold no such
 * code: they send what they are given. For them, the legal requests are held against their types where they are written.
 */
import { GoogleGenAI } from '@google/genai';
import { generateText, type ModelMessage, modelMessageSchema } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { checkAiSdkRequest } from '../../../../src/messages/projections/checks/ai-sdk-check.js';
import { checkGeminiRequest } from '../../../../src/messages/projections/checks/gemini-check.js';
import { changed, legalAiSdk, legalGemini } from './legal-requests.js';

type Changes = Record<string, unknown>;

/** What the schema of the SDK refuses. */
const BAD_SHAPES: readonly [title: string, changes: Changes][] = [
  ['an unknown role', { 'messages/5/role': 'developer' }],
  ['content that is a number', { 'messages/5/content': 1 }],
  ['a tool message that is a text', { 'messages/2/content': 'two' }],
  ['a part of an unknown type', { 'messages/1/content/1/type': 'thought' }],
  ['a text that is a number', { 'messages/1/content/1/text': 1 }],
  ['reasoning without a text', { 'messages/1/content/0/text': undefined }],
  [
    'a call of the user',
    { 'messages/5/content': [{ type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {} }] },
  ],
  ['a call without an id', { 'messages/1/content/2/toolCallId': undefined }],
  ['a call without a name', { 'messages/1/content/2/toolName': undefined }],
  ['a result without an output', { 'messages/2/content/0/output': undefined }],
  ['an output that is a text', { 'messages/2/content/0/output': 'two' }],
  ['an output of an unknown type', { 'messages/2/content/0/output/type': 'blob' }],
  ['an output with a part of an unknown type', { 'messages/3/content/0/output/value/0/type': 'blob' }],
  ['an output with media without a type', { 'messages/3/content/0/output/value/1/mediaType': undefined }],
  ['an image without data', { 'messages/0/content/1/image': undefined }],
  ['a file without a type', { 'messages/0/content/2/mediaType': undefined }],
];

/** What the SDK refuses only when it makes its prompt. */
const BAD_PROMPTS: readonly [title: string, changes: Changes, error: string][] = [
  ['no messages', { messages: [] }, 'AI_InvalidPromptError'],
  ['a call without a result', { 'messages/2': undefined }, 'AI_MissingToolResultsError'],
  ['calls at the end', { messages: legalAiSdk.messages.slice(0, 2) }, 'AI_MissingToolResultsError'],
  [
    'a user message before the results',
    { 'messages/2': { role: 'user', content: 'Wait.' } },
    'AI_MissingToolResultsError',
  ],
  ['a system prompt of another role', { system: [{ role: 'user', content: 'x' }] }, 'AI_InvalidPromptError'],
];

interface Prompt {
  readonly system: string;
  readonly messages: ModelMessage[];
}

function isOfSchema(request: unknown): boolean {
  return (request as Prompt).messages.every((message) => modelMessageSchema.safeParse(message).success);
}

async function generate(request: unknown): Promise<string> {
  const model = new MockLanguageModelV3({
    doGenerate: {
      content: [{ type: 'text', text: 'You are welcome.' }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    },
  });
  return (await generateText({ model, ...(request as Prompt) })).text;
}

function startChat(contents: unknown): unknown {
  const ai = new GoogleGenAI({ apiKey: 'none' });
  return ai.chats.create({ model: 'gemini-3-pro-preview', history: contents as typeof legalGemini.contents });
}

describe('the AI SDK', () => {
  it('takes the request that the check passes', async () => {
    expect(checkAiSdkRequest(legalAiSdk)).toEqual([]);
    expect(isOfSchema(legalAiSdk)).toBe(true);
    await expect(generate(legalAiSdk)).resolves.toBe('You are welcome.');
  });

  it.each(BAD_SHAPES)('refuses %s, as the check does', (_, changes) => {
    const request = changed(legalAiSdk, changes);
    expect(isOfSchema(request)).toBe(false);
    expect(checkAiSdkRequest(request)).not.toEqual([]);
  });

  it.each(BAD_PROMPTS)('does not generate from %s, which the check reports', async (_, changes, error) => {
    const request = changed(legalAiSdk, changes);
    await expect(generate(request)).rejects.toMatchObject({ name: error });
    expect(checkAiSdkRequest(request)).not.toEqual([]);
  });

  it('takes a call approved at the end, as the check does', () => {
    const messages = [
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {} },
          { type: 'tool-approval-request', approvalId: 'p', toolCallId: 'c' },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'p', approved: true }] },
    ];
    expect(isOfSchema({ messages })).toBe(true);
    expect(checkAiSdkRequest({ messages })).toEqual([]);
  });
});

describe('the Google SDK', () => {
  it('takes the history that the check passes', () => {
    expect(checkGeminiRequest(legalGemini)).toEqual([]);
    expect(() => startChat(legalGemini.contents)).not.toThrow();
  });

  it.each(['assistant', 'function', 'system', 'tool'])('refuses the role %s, as the check does', (role) => {
    const request = changed(legalGemini, { 'contents/0/role': role });
    expect(() => startChat((request as { contents: unknown }).contents)).toThrow(
      /Role must be user or model/,
    );
    expect(checkGeminiRequest(request)).not.toEqual([]);
  });

  it.each([
    ['no parts', []],
    ['an empty part', [{}]],
  ])('leaves a content of the model with %s out of what it sends, and the check reports it', (_, parts) => {
    const history = [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts },
    ];
    const chat = startChat(history) as ReturnType<GoogleGenAI['chats']['create']>;
    expect(chat.getHistory(true)).toEqual([]);
    const contents = [...history, { role: 'user', parts: [{ text: 'And?' }] }];
    expect(checkGeminiRequest({ contents }).map(({ rule }) => rule)).toEqual(['gemini/4.2']);
  });
});
