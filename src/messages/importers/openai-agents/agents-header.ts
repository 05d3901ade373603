/** The first pass over a RunState: its version, whether it is complete, and its model responses. */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { isAbsent, listField, textField } from '../reading/record-fields.js';
import type { TranscriptSource } from '../transcript.js';
import { identityOf } from './agents-item.js';

/** The newest known minor version of 1. */
const MINOR_MAX = 18;
/** First minor version in which the JavaScript SDK has tool search items. */
const TOOL_SEARCH_SINCE = 8;

export const AGENTS_KEYS = {
  input: ['originalInput', 'original_input'],
  generated: ['generatedItems', 'generated_items'],
  responses: ['modelResponses', 'model_responses'],
  session: ['sessionItems', 'session_items'],
  pending: ['pendingInput', 'pending_input'],
} as const;

export interface AgentsHeader {
  /** Id of each response, by the identity of its first item. */
  readonly responses: Map<string, string | undefined>;
  /** The model's last output items, by identity. */
  readonly lastOutput: Map<string, JsonObject>;
}

/** @throws UNSUPPORTED_VERSION, TRANSCRIPT_INVALID */
export async function readAgentsHeader(source: TranscriptSource, losses: LossAccount): Promise<AgentsHeader> {
  const reader = new HeaderReader(losses);
  for await (const { path, value } of sliceJson(source.chunks(), (path) => reader.choose(path)))
    reader.take(path, value);
  return reader.finish();
}

class HeaderReader {
  readonly #losses: LossAccount;
  readonly #responses = new Map<string, string | undefined>();
  #lastOutput: readonly JsonObject[] = [];
  #version: JsonValue | undefined;
  #agent: JsonValue | undefined;
  #isJavaScript = false;
  #hasInput = false;
  #searchesTools = false;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  choose(path: JsonPath): SliceChoice {
    const [first, , third] = path;
    if (first === undefined) return 'enter';
    const key = String(first);
    if (path.length === 2 && /^pending_?agent_?tool_?runs$/i.test(key))
      this.#losses.drop('the state of a run inside a tool', key);
    if (/^pending_?agent_?tool_?runs$/i.test(key)) return path.length === 1 ? 'enter' : 'skip';
    if (isOneOf(key, AGENTS_KEYS.input)) return this.#inputChoice(path);
    if (isOneOf(key, AGENTS_KEYS.responses)) return path.length === 1 ? 'enter' : 'take';
    if (isOneOf(key, AGENTS_KEYS.generated))
      return third === undefined ? 'enter' : third === 'type' ? 'take' : 'skip';
    return isOneOf(key, ['$schemaVersion', 'currentAgent', 'current_agent']) ? 'take' : 'skip';
  }

  /** The input is a text or a list; an object has keys instead of indexes. */
  #inputChoice(path: JsonPath): SliceChoice {
    if (path.length === 1) this.#hasInput = true;
    else if (typeof path[1] !== 'number') this.#hasInput = false;
    return path.length === 1 ? 'enter' : 'skip';
  }

  take(path: JsonPath, value: JsonValue): void {
    const key = String(path[0]);
    if (key === '$schemaVersion') this.#version = value;
    else if (isOneOf(key, ['currentAgent', 'current_agent'])) {
      this.#agent = value;
      this.#isJavaScript = key === 'currentAgent';
    } else if (isOneOf(key, AGENTS_KEYS.input)) this.#hasInput = typeof value === 'string';
    else if (isOneOf(key, AGENTS_KEYS.responses) && isJsonObject(value)) this.#addResponse(value);
    else if (/^tool_search_/.test(String(value))) this.#searchesTools = true;
  }

  #addResponse(response: JsonObject): void {
    this.#losses.record();
    this.#lastOutput = listField(response, 'output').filter(isJsonObject);
    const [first] = this.#lastOutput;
    const id = textField(response, 'responseId', 'response_id');
    if (first) this.#responses.set(identityOf(first), id);
  }

  finish(): AgentsHeader {
    const minor = minorOf(this.#version);
    if (!isJsonObject(this.#agent) || typeof this.#agent['name'] !== 'string')
      throw invalid('the current agent has no name');
    if (!this.#hasInput) throw invalid('there is no original input');
    if (this.#isJavaScript && this.#searchesTools && minor < TOOL_SEARCH_SINCE)
      throw invalid(`tool search is not part of version 1.${minor}`);
    const lastOutput = new Map(this.#lastOutput.map((item) => [identityOf(item), item]));
    return { responses: this.#responses, lastOutput };
  }
}

/** Versions compare part by part: 1.9 is before 1.13. */
function minorOf(version: JsonValue | undefined): number {
  const parts = typeof version === 'string' ? /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(version) : null;
  if (!parts) throw invalid(isAbsent(version) ? 'it has no version' : 'its version is malformed');
  const [major, minor] = [Number(parts[1]), Number(parts[2] ?? Number.NaN)];
  if (major === 1 && Number.isNaN(minor)) throw invalid('its version is malformed');
  if (major === 1 && minor <= MINOR_MAX) return minor;
  throw new RekindleError('UNSUPPORTED_VERSION', `The RunState has version ${parts[0]}.`, {
    details: { version: parts[0], newest: `1.${MINOR_MAX}` },
  });
}

export function isOneOf(key: string, keys: readonly string[]): boolean {
  return keys.includes(key);
}

/** The error never quotes the content: malformed content may be a secret. */
function invalid(problem: string): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', `The RunState cannot be read: ${problem}.`, {
    details: { problem, lookedFor: ['$schemaVersion', 'current agent', 'original input'] },
  });
}
