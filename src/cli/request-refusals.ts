/** Checks a transcript that consists of a provider's own messages against that provider's rules. */
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../core/json.js';
import { LossAccount } from '../messages/importers/loss-account.js';
import { readJsonLines } from '../messages/importers/reading/json-lines.js';
import type { TranscriptSource } from '../messages/importers/transcript.js';
import type { RequestViolation } from '../messages/projections/checks/request-check.js';
import { checkRequest } from '../messages/projections/project.js';
import type { TargetName } from '../messages/projections/targets.js';

const TARGETS_OF_FORMATS: ReadonlyMap<string, TargetName> = new Map([
  ['openai-chat', 'openai-chat'],
  ['anthropic', 'anthropic'],
]);
/** A request is loaded into memory. No provider accepts one of this size. */
const REQUEST_BYTES_MAX = 64 * 1024 * 1024;

export interface Refusals {
  /** The provider whose rules were applied; null for other transcripts. */
  readonly target: TargetName | null;
  readonly refused: readonly RequestViolation[];
}

export async function refusalsOf(format: string, source: TranscriptSource): Promise<Refusals> {
  const target = TARGETS_OF_FORMATS.get(format) ?? null;
  if (target === null || source.size > REQUEST_BYTES_MAX) return { target: null, refused: [] };
  const request = await requestIn(source);
  if (!request) return { target: null, refused: [] };
  return { target, refused: checkRequest(target, asAsked(request)) };
}

/** A request, a list of messages, or one message per line. */
async function requestIn(source: TranscriptSource): Promise<JsonObject | null> {
  const text = Buffer.from(await source.slice(0, source.size))
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  const whole = tryParseJson(text);
  if (Array.isArray(whole)) return { messages: whole };
  if (isJsonObject(whole)) return Array.isArray(whole['messages']) ? whole : null;
  const lines: JsonObject[] = [];
  for await (const { value } of readJsonLines(source.chunks(), new LossAccount())) lines.push(value);
  return lines.every((line) => typeof line['role'] === 'string') ? { messages: lines } : null;
}

/** A transcript is not a request: the next user message is missing, and the tools belong to the host. */
function asAsked(request: JsonObject): JsonObject {
  const messages = request['messages'] as JsonValue[];
  const last = messages[messages.length - 1];
  const ends = isJsonObject(last) && last['role'] === 'assistant';
  return {
    ...request,
    messages: ends ? [...messages, { role: 'user', content: 'next' }] : messages,
    ...(request['tools'] === undefined ? { tools: [ANY_TOOL] } : {}),
  };
}

/** A tool in both providers' fields. */
const ANY_TOOL: JsonObject = {
  type: 'function',
  name: 'any',
  input_schema: { type: 'object' },
  function: { name: 'any', parameters: { type: 'object' } },
};
