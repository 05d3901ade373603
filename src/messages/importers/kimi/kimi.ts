/** Sessions of Kimi Code: one event per line. Parts and calls between the start and the end of a step form an answer. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { textOf } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { keptItem, summaryItem } from '../reading/kept-item.js';
import { objectField, secondsOf, textField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { KimiSteps } from './kimi-steps.js';

export const kimiImporter: TranscriptImporter = {
  format: 'kimi',
  title: 'Kimi Code session',
  lookedFor: 'JSON lines {type:"metadata", protocol_version}, then {type:"context.append_loop_event", event}',
  recognises,
  async *read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
    const session = new KimiSession(losses);
    for await (const { value, line } of readJsonLines(source.chunks(), losses))
      yield* session.read(value, `line ${line}`);
    yield* session.end();
  },
};

function recognises({ shape, items }: TranscriptHead): boolean {
  return shape === 'lines' && items.some(isMark);
}

function isMark(line: JsonValue): boolean {
  if (!isJsonObject(line)) return false;
  const isHeader = line['type'] === 'metadata' && typeof line['protocol_version'] === 'string';
  return isHeader || (line['type'] === 'context.append_loop_event' && isJsonObject(line['event']));
}

class KimiSession {
  readonly #losses: LossAccount;
  readonly #steps: KimiSteps;
  #system: string | undefined;
  /** A prompt that is not in the context yet. */
  #prompt: TranscriptItem | undefined;

  constructor(losses: LossAccount) {
    this.#losses = losses;
    this.#steps = new KimiSteps(losses);
  }

  *read(record: JsonObject, place: string): Generator<TranscriptItem> {
    const time = secondsOf(record['time']);
    switch (record['type']) {
      case 'turn.prompt':
        yield* this.end();
        this.#prompt = this.#said(record['input'], place, time);
        return;
      case 'context.append_message':
        yield* this.#message(objectField(record, 'message'), place, time);
        return;
      case 'context.append_loop_event':
        yield* this.#promptBeforeStep();
        for (const message of this.#steps.read(objectField(record, 'event'), place))
          yield keptItem(message, this.#losses, time);
        return;
      case 'context.apply_compaction':
        yield* this.#compaction(record, place, time);
        return;
      default:
        yield* this.#other(record, place, time);
    }
  }

  *end(): Generator<TranscriptItem> {
    yield* this.#promptBeforeStep();
    for (const message of this.#steps.end()) yield keptItem(message, this.#losses);
  }

  /** The message repeats the prompt of its turn. */
  *#message(message: JsonObject, place: string, time: { ts?: number }): Generator<TranscriptItem> {
    const { role, content } = message;
    if (role === 'assistant' || role === 'tool') {
      yield* this.end();
      for (const read of this.#steps.message(message, place)) yield keptItem(read, this.#losses, time);
      return;
    }
    const item = this.#said(content, place, time);
    if (textIn(this.#prompt) !== textIn(item)) yield* this.#promptBeforeStep();
    this.#prompt = undefined;
    for (const read of this.#steps.end()) yield keptItem(read, this.#losses);
    yield this.#kept(item);
  }

  *#compaction(record: JsonObject, place: string, time: { ts?: number }): Generator<TranscriptItem> {
    yield* this.end();
    const item = summaryItem(textField(record, 'contextSummary', 'summary'), this.#losses, place, time);
    if (item) yield item;
  }

  *#other(record: JsonObject, place: string, time: { ts?: number }): Generator<TranscriptItem> {
    const type = textField(record, 'type') ?? '';
    const system = textField(record, 'systemPrompt');
    const model = textField(record, 'model') ?? textField(record, 'modelAlias')?.split('/').at(-1);
    if (model !== undefined && type !== 'usage.record') this.#steps.model = model;
    if (system !== undefined && system !== this.#system) {
      this.#system = system;
      yield keptItem({ role: 'system', content: system }, this.#losses, time);
    } else if (/^context\.(?:undo|clear|rewind)/.test(type))
      this.#losses.approximate('turns that the user took back, kept', place);
    else this.#losses.drop(/^(?:usage|token)/.test(type) ? 'token counts' : 'state of the tool', place);
  }

  #said(content: JsonValue | undefined, place: string, time: { ts?: number }): TranscriptItem {
    const message = this.#steps.userMessage(content, place);
    return { kind: 'message', message, ...time };
  }

  *#promptBeforeStep(): Generator<TranscriptItem> {
    const prompt = this.#prompt;
    this.#prompt = undefined;
    if (prompt) yield this.#kept(prompt);
  }

  #kept(item: TranscriptItem): TranscriptItem {
    if (item.kind !== 'message') return item;
    return keptItem(item.message, this.#losses, item.ts === undefined ? {} : { ts: item.ts });
  }
}

function textIn(item: TranscriptItem | undefined): string | undefined {
  return item?.kind === 'message' ? textOf(item.message) : undefined;
}
