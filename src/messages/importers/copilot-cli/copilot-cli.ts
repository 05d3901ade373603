/** Sessions of the GitHub Copilot command line: one event per line. Events of sub-agents name the call that started them. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { keptItem, summaryItem } from '../reading/kept-item.js';
import { OpenCalls } from '../reading/open-calls.js';
import { idText, isAbsent, objectField, textField } from '../reading/record-fields.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { copilotAnswerOf, copilotOrigin, copilotPromptOf, copilotResultOf } from './copilot-events.js';

export const copilotCliImporter: TranscriptImporter = {
  format: 'copilot-cli',
  title: 'GitHub Copilot session',
  lookedFor:
    'JSON lines {type:"session.start"|"user.message"|"assistant.message"|..., data, id, timestamp, parentId}',
  recognises,
  async *read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
    const session = new CopilotSession(losses);
    for await (const { value, line } of readJsonLines(source.chunks(), losses))
      yield* session.read(value, `line ${line}`);
    yield* session.end();
  },
};

const MARKS: ReadonlySet<JsonValue | undefined> = new Set([
  'session.start',
  'user.message',
  'assistant.message',
  'tool.execution_complete',
]);

function recognises({ shape, items }: TranscriptHead): boolean {
  return shape === 'lines' && items.some(isMark);
}

function isMark(line: JsonValue): boolean {
  return isJsonObject(line) && MARKS.has(line['type']) && isJsonObject(line['data']) && 'parentId' in line;
}

/** What is not part of the conversation, by the first word of its type or by its type. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['session.start', 'session header'],
  ['session.resume', 'session header'],
  ['session.model_change', 'change of the model'],
  ['session.shutdown', 'token counts'],
  ['session.usage_checkpoint', 'token counts'],
  ['session.error', 'error of the session'],
  ['session', 'state of the session'],
  ['assistant', 'start or end of a turn'],
  ['tool', 'start or progress of a call'],
  ['subagent', 'start or end of a sub-agent'],
  ['hook', 'call of a hook'],
  ['system', 'notification'],
]);

/** After these events, the reasoning before them gets no answer. */
const ENDS_OF_ANSWERS: ReadonlySet<string> = new Set([
  ...['user.message', 'system.message', 'assistant.reasoning', 'session.compaction_complete', 'abort'],
]);

class CopilotSession {
  readonly #losses: LossAccount;
  readonly #open = new OpenCalls();
  #model: string | undefined;
  #thought: string | undefined;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  *read(event: JsonObject, place: string): Generator<TranscriptItem> {
    const type = textField(event, 'type') ?? '';
    const data = objectField(event, 'data');
    const time = timeOf(event['timestamp']);
    if (!isAbsent(data['parentToolCallId'])) {
      this.#losses.drop('event of a sub-agent', place);
      return;
    }
    if (ENDS_OF_ANSWERS.has(type)) yield* this.end();
    if (type === 'session.compaction_complete') {
      const item = summaryItem(textField(data, 'summaryContent'), this.#losses, place, time);
      if (item) yield item;
      return;
    }
    const message = this.#messageOf(type, data, place);
    if (message) yield keptItem(message, this.#losses, time);
  }

  /** Reasoning that no answer followed, because the person stopped it. It does not belong to the next answer. */
  *end(): Generator<TranscriptItem> {
    if (this.#thought === undefined) return;
    const origin = copilotOrigin(this.#model);
    const reasoning = [{ text: this.#thought, origin }];
    this.#thought = undefined;
    yield keptItem({ role: 'assistant', content: null, reasoning, origin }, this.#losses);
  }

  #messageOf(type: string, data: JsonObject, place: string): Message | null {
    switch (type) {
      case 'user.message':
        return copilotPromptOf(data, this.#losses, place);
      case 'system.message':
        return { role: 'system', content: textField(data, 'content') ?? '' };
      case 'assistant.message':
        return this.#answerOf(data, place);
      case 'tool.execution_complete':
        return copilotResultOf(data, this.#open.answered(idText(data['toolCallId'])), this.#losses, place);
      case 'assistant.reasoning':
        this.#thought = textField(data, 'content');
        return null;
      default:
        this.#other(type, data, place);
        return null;
    }
  }

  #answerOf(data: JsonObject, place: string): Message {
    const origin = copilotOrigin(textField(data, 'model') ?? this.#model);
    const answer = copilotAnswerOf({ data, origin, thought: this.#thought }, this.#losses, place);
    this.#thought = undefined;
    this.#open.called(answer);
    return answer;
  }

  #other(type: string, data: JsonObject, place: string): void {
    this.#model = textField(data, 'newModel', 'selectedModel') ?? this.#model;
    const [group = ''] = type.split('.');
    if (type === 'abort') this.#losses.drop('note that the user stopped the turn', place);
    else if (type === 'session.truncation')
      this.#losses.approximate('messages that the tool removed from its context, kept', place);
    else if (type === 'session.snapshot_rewind')
      this.#losses.approximate('turns that the user took back, kept', place);
    else this.#losses.drop(OTHERS.get(type) ?? OTHERS.get(group) ?? 'event of an unknown type', place);
  }
}
