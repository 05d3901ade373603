/** A rich legal request for each API, typed by its SDK, and ways to break a copy of one. */
import type Anthropic from '@anthropic-ai/sdk';
import type { GenerateContentParameters } from '@google/genai';
import type { ModelMessage } from 'ai';
import type OpenAI from 'openai';
import type { RequestViolation } from '../../../../src/messages/projections/checks/request-check.js';

/** One pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const parameters = { type: 'object', properties: { path: { type: 'string' } } } as const;

const chatCall = (id: string, args: string) =>
  ({ id, type: 'function', function: { name: 'read_file', arguments: args } }) as const;

export const legalChat = {
  model: 'gpt-5.1',
  messages: [
    { role: 'system', content: 'Be kind.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look. 👀',
      tool_calls: [chatCall('call_1', '{"path":"a"}'), chatCall('call_2', '{}')],
    },
    { role: 'tool', tool_call_id: 'call_2', content: 'two' },
    { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'one' }] },
    { role: 'assistant', content: null, tool_calls: [chatCall('call_3', '{"n":12345678901234567890}')] },
    { role: 'tool', tool_call_id: 'call_3', content: '' },
    { role: 'assistant', content: 'A pixel.' },
    { role: 'user', content: 'Thanks' },
  ],
  tools: [{ type: 'function', function: { name: 'read_file', parameters } }],
} satisfies OpenAI.ChatCompletionCreateParams;

const mistralCall = {
  id: 'abcDEF123',
  type: 'function',
  function: { name: 'read_file', arguments: '{}' },
} as const;

export const legalMistral = {
  model: 'mistral-large-latest',
  messages: [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Read it.' },
    { role: 'assistant', content: '', tool_calls: [mistralCall] },
    { role: 'tool', tool_call_id: 'abcDEF123', name: 'read_file', content: 'one' },
    { role: 'assistant', content: 'It says one.' },
    { role: 'user', content: 'Thanks' },
  ],
};

export const legalResponses = {
  model: 'gpt-5.1',
  store: false,
  include: ['reasoning.encrypted_content'],
  instructions: 'Be kind.',
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAB' },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a"}' },
    { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'read_file', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_2', output: 'two' },
    { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'one' }] },
    {
      type: 'reasoning',
      id: 'rs_2',
      summary: [{ type: 'summary_text', text: 'Now I know.' }],
      encrypted_content: 'gAAAAC',
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'A pixel.', annotations: [] }],
    },
    { role: 'user', content: 'Thanks' },
  ],
  tools: [{ type: 'function', name: 'read_file', parameters, strict: false }],
} satisfies OpenAI.Responses.ResponseCreateParams;

const pngSource = { type: 'base64', media_type: 'image/png', data: PNG } as const;

export const legalAnthropic = {
  model: 'claude-sonnet-4-5',
  max_tokens: 1000,
  system: [{ type: 'text', text: 'Be kind.' }],
  thinking: { type: 'enabled', budget_tokens: 1024 },
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: pngSource },
      ],
    },
    { role: 'user', content: 'Look closely.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I have to look.', signature: 'c2ln' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a' } },
        { type: 'redacted_thinking', data: 'b3BhcXVl' },
        { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_2' },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [
            { type: 'text', text: 'one' },
            { type: 'image', source: pngSource },
          ],
        },
        { type: 'text', text: 'Quickly, please.' },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_3', name: 'read_file', input: {} }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_3', content: 'broken', is_error: true }],
    },
  ],
  tools: [{ name: 'read_file', input_schema: parameters }],
} satisfies Anthropic.MessageCreateParams;

export const legalGemini = {
  model: 'gemini-3-pro-preview',
  config: {
    systemInstruction: { parts: [{ text: 'Be kind.' }] },
    tools: [{ functionDeclarations: [{ name: 'read_file' }] }],
  },
  contents: [
    { role: 'user', parts: [{ text: 'Earlier.' }] },
    { role: 'model', parts: [{ functionCall: { name: 'read_file', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'read_file', response: { output: 'zero' } } }] },
    {
      role: 'user',
      parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PNG } }],
    },
    {
      role: 'model',
      parts: [
        { text: 'I look.' },
        { functionCall: { id: 'c1', name: 'read_file', args: { path: 'a' } }, thoughtSignature: 'c2lnbmVk' },
        { functionCall: { id: 'c2', name: 'read_file', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'c1', name: 'read_file', response: { output: 'one' } } },
        { functionResponse: { id: 'c2', name: 'read_file', response: { error: 'broken' } } },
      ],
    },
    {
      role: 'model',
      parts: [
        {
          functionCall: { name: 'read_file', args: {} },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ],
    },
    { role: 'user', parts: [{ functionResponse: { name: 'read_file', response: { output: 'three' } } }] },
  ],
} satisfies GenerateContentParameters;

export const legalAiSdk = {
  system: 'Be kind.',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', image: PNG },
        { type: 'file', data: new Uint8Array([1]), mediaType: 'application/pdf' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: '', providerOptions: { openai: { itemId: 'rs_1' } } },
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'read_file', input: { path: 'a' } },
        { type: 'tool-call', toolCallId: 'b', toolName: 'read_file', input: {} },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'b',
          toolName: 'read_file',
          output: { type: 'json', value: null },
        },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'a',
          toolName: 'read_file',
          output: {
            type: 'content',
            value: [
              { type: 'text', text: 'one' },
              { type: 'media', data: PNG, mediaType: 'image/png' },
            ],
          },
        },
      ],
    },
    { role: 'assistant', content: 'A pixel.' },
    { role: 'user', content: 'Thanks' },
  ],
} satisfies { system: string; messages: ModelMessage[] };

/** A copy with other values at some places, named as in a violation; `undefined` takes the place away. */
export function changed(request: object, changes: Record<string, unknown>): unknown {
  const copy: object = structuredClone(request);
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('/');
    const last = keys.pop()!;
    let at = copy as Record<string, unknown>;
    for (const key of keys) at = at[key] as Record<string, unknown>;
    if (value === undefined && Array.isArray(at)) at.splice(Number(last), 1);
    else if (value === undefined) delete at[last];
    else at[last] = value;
  }
  return copy;
}

/** What is at a place of a request. */
export function at<T>(request: object, path: string): T {
  let value: unknown = request;
  for (const key of path.split('/')) value = (value as Record<string, unknown>)[key];
  return value as T;
}

/** The rules that are broken, each once. */
export function rulesOf(violations: readonly RequestViolation[]): string[] {
  return [...new Set(violations.map(({ rule }) => rule))];
}

/** What no check may choke on. */
export const GARBAGE: readonly unknown[] = [
  undefined,
  null,
  0,
  '',
  'text',
  [],
  [[]],
  {},
  { messages: null, input: null, contents: null, tools: 1, system: 1, config: 1, thinking: 1 },
  {
    messages: {},
    input: {},
    contents: {},
    tools: {},
    system: {},
    config: { tools: {}, systemInstruction: {} },
  },
  {
    messages: [null, 1, 'a', [], {}],
    input: [null, 1, 'a', [], {}],
    contents: [null, 1, 'a', [], {}],
    tools: [null],
  },
  ...['system', 'user', 'assistant', 'tool', 'model', 'constructor', 1, null].map((role) => ({
    messages: [{ role }, { role, content: 1 }, { role, content: [null, 1, [], {}, { type: 'constructor' }] }],
    input: [{ role }, { role, content: 1 }, { role, content: [null, 1, [], {}, { type: 'constructor' }] }],
    contents: [{ role }, { role, parts: 1 }, { role, parts: [null, 1, [], {}, { functionCall: 1 }] }],
  })),
  ...[
    { type: 'tool_use' },
    { type: 'tool_result', content: [null] },
    { type: 'thinking', thinking: 1 },
    { type: 'image', source: 1 },
    { type: 'text', text: null },
    { type: 'tool-call', input: [] },
    { type: 'tool-result', output: { type: 'content', value: [null] } },
    { type: 'file', data: {} },
    { type: 'constructor', id: {}, call_id: 1 },
    { type: 'reasoning', summary: [null] },
    { type: 'function_call', arguments: 1 },
    { functionCall: null, functionResponse: null, inlineData: null, fileData: null },
  ].map((part) => ({
    messages: [
      { role: 'user', content: [part] },
      { role: 'assistant', content: [part], tool_calls: [part, null, 1] },
      { role: 'tool', content: [part], tool_call_id: {} },
    ],
    input: [part, part],
    contents: [
      { role: 'user', parts: [part] },
      { role: 'model', parts: [part] },
    ],
  })),
];

/** Nested deeper than the stack. */
export function deeply(): unknown {
  let value: unknown = 'core';
  for (let i = 0; i < 50_000; i++) value = i % 2 === 0 ? [value] : { in: value };
  return value;
}
