import { describe, expect, it } from 'vitest';
import { knownInputTokens } from '../../../src/memory/fit/model-sizes.js';
import { lengthRefusalOf } from '../../../src/memory/fit/provider-refusal.js';

const REFUSALS: readonly [
  name: string,
  thrown: unknown,
  limitTokens: number | null,
  usedTokens: number | null,
][] = [
  [
    'OpenAI chat',
    {
      status: 400,
      error: {
        code: 'context_length_exceeded',
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130021 tokens. Please reduce the length of the messages.",
      },
    },
    128_000,
    130_021,
  ],
  [
    'OpenAI chat with an answer kept free',
    new Error(
      "This model's maximum context length is 8192 tokens. However, you requested 9210 tokens (5210 in the messages, 4000 in the completion).",
    ),
    4_192,
    5_210,
  ],
  [
    'OpenAI Responses',
    {
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    },
    null,
    null,
  ],
  [
    'Anthropic',
    {
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210042 tokens > 200000 maximum' },
    },
    200_000,
    210_042,
  ],
  [
    'Anthropic with max_tokens',
    new Error(
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    ),
    180_000,
    190_000,
  ],
  [
    'Gemini',
    {
      error: {
        status: 'INVALID_ARGUMENT',
        message: 'The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).',
      },
    },
    1_048_576,
    1_200_345,
  ],
  [
    'llama.cpp',
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 5_120,
        n_ctx: 4_096,
      },
    },
    4_096,
    5_120,
  ],
  [
    'vLLM',
    new Error(
      'The decoder prompt (length 5100) is longer than the maximum model length of 4096. Make sure that it is no longer.',
    ),
    4_096,
    5_100,
  ],
  [
    'xAI',
    new Error("This model's maximum prompt length is 131072 but the request contains 140000 tokens."),
    131_072,
    140_000,
  ],
  ['Bedrock', new Error('Input is too long for requested model.'), null, null],
  [
    'a client that wraps it, with the body as text',
    Object.assign(new Error('Bad Request'), {
      cause: { responseBody: '{"error":{"message":"prompt is too long: 210042 tokens > 200000 maximum"}}' },
    }),
    200_000,
    210_042,
  ],
];

describe('a refusal for length', () => {
  it.each(REFUSALS)('of %s is known, with its sizes', (_, thrown, limitTokens, usedTokens) => {
    expect(lengthRefusalOf(thrown)).toEqual({ limitTokens, usedTokens });
  });

  it.each([
    [
      'a rate limit',
      new Error(
        'Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7000. Please reduce the length of the messages.',
      ),
    ],
    ['a bad key', new Error('Incorrect API key provided.')],
    ['an open call', new Error("An assistant message with 'tool_calls' must be followed by tool messages.")],
    [
      'a long value of another field',
      new Error(
        "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.",
      ),
    ],
    ['nothing', undefined],
    ['an error that holds itself', Object.assign(new Error('x'), { cause: null })],
  ])('is not %s', (_, thrown) => {
    expect(lengthRefusalOf(thrown)).toBeNull();
  });

  it('is found in an error that holds itself, without an end', () => {
    const error = new Error('prompt is too long: 3 tokens > 2 maximum');
    expect(lengthRefusalOf(Object.assign(error, { cause: error }))).toEqual({
      limitTokens: 2,
      usedTokens: 3,
    });
  });
});

describe('the input of a model', () => {
  it.each([
    ['gpt-4o-2024-11-20', 128_000],
    ['openai/gpt-4.1-mini', 1_047_576],
    ['gpt-4-0613', 8_192],
    ['claude-sonnet-4-5', 200_000],
    ['models/gemini-2.5-pro', 1_048_576],
    ['gpt-42', null],
    ['o10', null],
    ['my-own-model', null],
  ])('%s', (model, tokens) => expect(knownInputTokens(model)).toBe(tokens));
});
