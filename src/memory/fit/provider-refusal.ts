/**
 * Detects whether a provider refused a request because it was too long, and reads the sizes from its error. Supports
 * OpenAI and compatible servers (vLLM, llama.cpp, Mistral, xAI, Groq), Anthropic, Gemini, Bedrock. A limit of tokens
 * per minute is a different refusal.
 */
import { isJsonObject, type JsonObject } from '../../core/json.js';

/** In the provider's tokens; null if its error does not say. */
export interface LengthRefusal {
  /** Largest accepted input, without the tokens that the request reserved for the answer. */
  readonly limitTokens: number | null;
  /** Size of the refused input. */
  readonly usedTokens: number | null;
}

/** Clients wrap errors in errors, and some contain the body as text. */
const DEPTH_MAX = 6;
const TEXT_CHARS_MAX = 20_000;

const CODES = /context_length_exceeded|exceed_context_size_error|model_context_window_exceeded/;
const WORDS = [
  /maximum (?:context|prompt|model) length/i,
  /(?:exceeds?|larger than|too large for|longer than) (?:the |this )?(?:model'?s? )?(?:available |maximum )?(?:context|input)(?: window| size| length| limit)?\b/i,
  /exceeds the (?:context window|maximum number of tokens)/i,
  /exceed context limit/i,
  /(?:prompt|input) is too long/i,
  /too large for model with \d+ maximum context/i,
  /reduce the length of the (?:messages|prompt|input)/i,
];
const RATE = /tokens? per (?:minute|day)|rate.?limit|\bTPM\b/i;

const NUMBER = '([\\d][\\d,_]*)';
/** Patterns for the limit and for the size of the input: the first match counts. */
const LIMITS = [
  new RegExp(`maximum (?:context|prompt|model) length (?:is|of) ${NUMBER}`, 'i'),
  new RegExp(`> ${NUMBER} maximum`),
  new RegExp(`context limit: ${NUMBER} \\+ ${NUMBER} > ${NUMBER}`),
  new RegExp(`tokens allowed \\(${NUMBER}\\)`, 'i'),
  new RegExp(`context (?:size|window) \\(${NUMBER}`, 'i'),
  new RegExp(`with ${NUMBER} maximum context`, 'i'),
  new RegExp(`"n_ctx"\\s*:\\s*${NUMBER}`),
];
const USED = [
  new RegExp(`${NUMBER} in the messages`, 'i'),
  new RegExp(`context limit: ${NUMBER} \\+`),
  new RegExp(`too long:? ${NUMBER} tokens`, 'i'),
  new RegExp(`token count \\(${NUMBER}\\)`, 'i'),
  new RegExp(`"n_prompt_tokens"\\s*:\\s*${NUMBER}`),
  new RegExp(`(?:resulted in|contains|requested|length) \\(?${NUMBER}`, 'i'),
];
/** Tokens of the window that the request reserved for the answer. */
const ANSWER = [
  new RegExp(`${NUMBER} in the completion`, 'i'),
  new RegExp(`context limit: ${NUMBER} \\+ ${NUMBER} >`),
];

/** Null for any other failure. */
export function lengthRefusalOf(thrown: unknown): LengthRefusal | null {
  const text = textsOf(thrown, DEPTH_MAX).join('\n').slice(0, TEXT_CHARS_MAX);
  const isLength = CODES.test(text) || (WORDS.some((word) => word.test(text)) && !RATE.test(text));
  if (!isLength) return null;
  const window = numberIn(text, LIMITS);
  const answer = numberIn(text, ANSWER) ?? 0;
  return {
    limitTokens: window === null ? null : Math.max(1, window - answer),
    usedTokens: numberIn(text, USED),
  };
}

/** The last group of the first pattern that matches. */
function numberIn(text: string, patterns: readonly RegExp[]): number | null {
  for (const pattern of patterns) {
    const digits = pattern.exec(text)?.at(-1)?.replace(/[,_]/g, '');
    if (digits !== undefined && digits !== '') return Number(digits);
  }
  return null;
}

function textsOf(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  const { message, code, type, cause, error, data, responseBody, lastError } = value as Record<
    string,
    unknown
  >;
  const inner = [cause, error, data, lastError].flatMap((one) => textsOf(one, depth - 1));
  const own = [message, code, type, responseBody].filter((one) => typeof one === 'string');
  const sizes = isJsonObject(value as JsonObject) ? sizesOf(value as JsonObject) : [];
  return [...own, ...sizes, ...inner];
}

/** Fields of llama.cpp. */
function sizesOf(value: JsonObject): string[] {
  return ['n_ctx', 'n_prompt_tokens'].flatMap((field) =>
    typeof value[field] === 'number' ? [`"${field}": ${value[field]}`] : [],
  );
}
