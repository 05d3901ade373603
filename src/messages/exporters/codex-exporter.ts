/**
 * Writes a Codex rollout: one record per line. Saved below `sessions/` of the Codex folder as
 * `rollout-<time>-<session id>.jsonl`, it can be resumed there. The header holds the id.
 *
 * The items are those of the Responses projection, so the API accepts them. Events repeat texts, because Codex shows
 * only events. A summary is written as a compaction of the tool, which keeps the messages before it that are still in
 * the context. The system prompt is in a field that Codex does not send: the tool has its own.
 */
import type { JsonObject, JsonValue } from '../../core/json.js';
import { isBlankText, type Message, textOf } from '../message.js';
import {
  type ResponsesContent,
  type ResponsesGroup,
  type ResponsesItem,
  responsesGroups,
} from '../projections/openai-responses.js';
import { type ExportOptions, type TranscriptExporter, uuidOf } from './transcript-exporter.js';

/** The Codex release whose record format is written. */
const RECORD_VERSION = '0.106.0';

export const codexExporter: TranscriptExporter = {
  format: 'codex',
  title: 'Codex rollout',
  extension: '.jsonl',
  *write(messages, options) {
    const { artifacts } = options;
    const target = { ending: 'as-is' as const, cutOffLine: false, ...(artifacts ? { artifacts } : {}) };
    const { preparation, groups } = responsesGroups(messages, target);
    const rollout = new Rollout(groups, options);
    for (const record of rollout.records(preparation.systemText)) yield `${JSON.stringify(record)}\n`;
  },
};

/** The id of the session of an agent. */
export function codexSessionId(agentId: string): string {
  return uuidOf('codex', agentId);
}

class Rollout {
  readonly #groups: readonly ResponsesGroup[];
  readonly #id: string;
  readonly #startedAtMs: number;
  readonly #summaryAt: number;
  #count = 0;
  #turn = 0;
  #model: string | undefined;

  constructor(groups: readonly ResponsesGroup[], options: ExportOptions) {
    this.#groups = groups.filter(({ items }) => items.length > 0);
    this.#summaryAt = this.#groups.findLastIndex(({ message }) => isSummary(message));
    this.#id = codexSessionId(options.agentId);
    this.#startedAtMs = options.startedAtMs ?? 0;
  }

  *records(system: string): Generator<JsonObject> {
    yield this.#header(system);
    for (const [index, group] of this.#groups.entries()) {
      const before = this.#groups[index - 1]?.message;
      if (index === this.#summaryAt) yield this.#compaction(index);
      else {
        // Without these events, two answers would be one.
        if (group.message.role === 'assistant' && before?.role === 'assistant') yield* this.#nextTurn();
        yield* this.#group(group);
      }
    }
  }

  #header(system: string): JsonObject {
    const timestamp = new Date(this.#startedAtMs).toISOString();
    return this.#record('session_meta', {
      ...{ id: this.#id, timestamp, cwd: '', originator: 'codex_cli_rs', cli_version: RECORD_VERSION },
      ...{ source: 'cli', model_provider: 'openai', instructions: system === '' ? null : system },
    });
  }

  *#group({ message, items }: ResponsesGroup): Generator<JsonObject> {
    const model = message.origin?.provider === 'openai' ? message.origin.model : undefined;
    if (model !== undefined && model !== this.#model) yield this.#settings(model);
    for (const item of items) {
      const said = message.role === 'tool' ? '' : saidIn(item);
      if (message.role === 'user') yield this.#event('user_message', { message: said, images: [] });
      yield this.#record('response_item', rolloutItem(item));
      if (message.role === 'assistant' && !isBlankText(said))
        yield this.#event('agent_message', { message: said });
    }
    if (message.status === 'aborted') yield this.#event('turn_aborted', { reason: 'interrupted' });
  }

  #settings(model: string): JsonObject {
    this.#model = model;
    const sandbox_policy = { type: 'read-only' };
    const policies = { approval_policy: 'on-request', sandbox_policy, summary: 'auto' };
    return this.#record('turn_context', { cwd: '', ...policies, model });
  }

  *#nextTurn(): Generator<JsonObject> {
    yield this.#event('task_complete', { turn_id: String(this.#turn), last_agent_message: null });
    this.#turn += 1;
    yield this.#event('task_started', { turn_id: String(this.#turn), model_context_window: null });
  }

  /** The history that the tool continues from: what is still in the context before the summary, and the summary. */
  #compaction(index: number): JsonObject {
    const kept = this.#groups.slice(0, index + 1).flatMap(({ items }) => items.map(rolloutItem));
    const message = textOf(this.#groups[index]!.message);
    return this.#record('compacted', { message, replacement_history: kept });
  }

  #event(type: string, fields: JsonObject): JsonObject {
    return this.#record('event_msg', { type, ...fields });
  }

  /** Times are one millisecond apart. */
  #record(type: string, payload: JsonObject): JsonObject {
    const timestamp = new Date(this.#startedAtMs + this.#count).toISOString();
    this.#count += 1;
    return { timestamp, type, payload };
  }
}

function isSummary(message: Message): boolean {
  return message.role === 'user' && message.kind === 'memory' && !isBlankText(textOf(message));
}

/** Messages have a type and a list of parts here. */
function rolloutItem(item: ResponsesItem): JsonObject {
  if (!('role' in item)) return withKnownOutput(item) as unknown as JsonObject;
  const type = item.role === 'assistant' ? 'output_text' : 'input_text';
  const content: JsonValue =
    typeof item.content === 'string'
      ? [{ type, text: item.content }]
      : item.content.map((part) => knownPart(part) as unknown as JsonObject);
  return { type: 'message', role: item.role, content };
}

function withKnownOutput(item: Exclude<ResponsesItem, { role: string }>): typeof item {
  if (!('output' in item) || typeof item.output === 'string') return item;
  return { ...item, output: item.output.map(knownPart) };
}

/** Codex reads no files, and skips an item with a part that it does not know. */
function knownPart(part: ResponsesContent): ResponsesContent {
  if (part.type !== 'input_file') return part;
  return { type: 'input_text', text: `[file not available: ${part.filename}]` };
}

function saidIn(item: ResponsesItem): string {
  if (!('role' in item)) return '';
  const { content } = item;
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'input_text' ? part.text : [])).join('\n');
}
