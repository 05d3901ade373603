/** Reads one Codex rollout: its items form the conversation, its events give the outcome of the turns. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Message } from '../../message.js';
import { textOf } from '../../message.js';
import { LossAccount } from '../loss-account.js';
import { keepMessage } from '../reading/keep-message.js';
import { listField, objectField, textField } from '../reading/record-fields.js';
import type { TranscriptItem } from '../transcript.js';
import { codexPartsOf, codexTextOf } from './codex-content.js';
import { CodexConversation, roleOf } from './codex-conversation.js';
import { EventEchoes } from './codex-events.js';

const TURN_STARTS: ReadonlySet<string> = new Set(['task_started', 'turn_started']);
const TURN_ENDS: ReadonlySet<string> = new Set(['task_complete', 'turn_complete']);

export class CodexSession {
  readonly #losses: LossAccount;
  readonly #conversation: CodexConversation;
  readonly #userEvents: EventEchoes;
  readonly #answerEvents: EventEchoes;
  readonly #reasoningEvents: EventEchoes;
  #items: TranscriptItem[] = [];
  #instructions: string | undefined;
  /** There was an answer since the user's last message. */
  #isAnswering = false;

  constructor(losses: LossAccount) {
    this.#losses = losses;
    this.#conversation = new CodexConversation(losses, (message, ts) => this.#emit(message, ts));
    this.#userEvents = new EventEchoes(losses);
    this.#answerEvents = new EventEchoes(losses);
    this.#reasoningEvents = new EventEchoes(losses);
  }

  /** Items that are complete. */
  take(): readonly TranscriptItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  header(meta: JsonObject, place: string, ts: number | undefined): void {
    const provider = textField(meta, 'model_provider');
    const isOwn = provider === undefined || /^(?:azure|openai)/.test(provider);
    this.#conversation.origin = { ...this.#conversation.origin, provider: isOwn ? 'openai' : provider };
    const instructions =
      textField(objectField(meta, 'base_instructions'), 'text') ??
      textField(meta, 'base_instructions', 'instructions');
    this.#losses.drop('session header', place);
    // A forked session also has the header of its parent session.
    if (instructions === undefined || instructions.trim() === '' || instructions === this.#instructions)
      return;
    this.#instructions = instructions;
    this.#emit({ role: 'system', content: instructions }, ts);
  }

  settings(context: JsonObject, place: string): void {
    const model = textField(context, 'model');
    if (model !== undefined) this.#conversation.origin = { ...this.#conversation.origin, model };
    this.#losses.drop('settings of a turn', place);
  }

  item(item: JsonObject, place: string, ts: number | undefined): void {
    const role = roleOf(item);
    if (role === 'user') this.#endTurn();
    if (role === 'user' && this.#isAnswering) {
      this.#userEvents.forget();
      this.#isAnswering = false;
    } else if (role === 'answer' || role === 'output') this.#beginAnswer();
    this.#echo(item, role);
    this.#conversation.add(item, place, ts);
    if (role === 'user') this.#conversation.isAborted = false;
  }

  #echo(item: JsonObject, role: ReturnType<typeof roleOf>): void {
    const silent = new LossAccount();
    const echoes = role === 'user' ? this.#userEvents : this.#answerEvents;
    if (item['type'] === 'reasoning') {
      const parts = [...listField(item, 'summary'), ...listField(item, 'content')];
      this.#reasoningEvents.item(codexTextOf(codexPartsOf(parts, silent, ''), '\n\n'));
    } else if ('role' in item && (role === 'user' || role === 'answer'))
      echoes.item(codexTextOf(codexPartsOf(item['content'] ?? item['message'], silent, ''), '\n'));
  }

  event(event: JsonObject, place: string, ts: number | undefined): void {
    const type = textField(event, 'type') ?? '';
    if (type === 'user_message') {
      if (this.#userEvents.isFull) this.#beginAnswer();
      this.#userEvents.event({ text: textField(event, 'message') ?? '', place, ts });
    } else if (type === 'agent_message') {
      this.#beginAnswer();
      this.#answerEvents.event({ text: textField(event, 'message') ?? '', place, ts });
    } else if (type === 'agent_reasoning' || type === 'agent_reasoning_raw_content') {
      this.#beginAnswer();
      this.#reasoningEvents.event({ text: textField(event, 'text') ?? '', place, ts });
    } else this.#turnEvent(type, place);
  }

  #turnEvent(type: string, place: string): void {
    if (type === 'turn_aborted') this.#conversation.isAborted = true;
    if (TURN_STARTS.has(type) || TURN_ENDS.has(type)) this.#conversation.endAnswer();
    if (TURN_STARTS.has(type)) this.#conversation.isAborted = false;
    if (type === 'thread_rolled_back') this.#losses.approximate('turns that the user took back, kept', place);
    else this.#losses.drop(type === 'token_count' ? 'token counts' : 'event of the user interface', place);
  }

  compaction(record: JsonObject, place: string, ts: number | undefined): void {
    this.#endTurn();
    const summary = textField(record, 'message') ?? '';
    const history = listField(record, 'replacement_history');
    if (history.length === 0) {
      if (summary.trim() === '') this.#losses.drop('compaction without a summary', place);
      else this.#losses.approximate('history after a compaction, as its summary alone', place);
    }
    const told = this.#historyOf(history, summary);
    const messages = told.length > 0 ? told : memoryOf(summary);
    if (messages.length === 0) return;
    for (const message of messages) if (message.kind === 'memory') keepMessage(message, this.#losses);
    this.#items.push({ kind: 'compaction', messages, ...(ts === undefined ? {} : { ts }) });
  }

  /** Its messages were yielded before, except the summary. */
  #historyOf(history: readonly JsonValue[], summary: string): Message[] {
    const messages: Message[] = [];
    const conversation = new CodexConversation(new LossAccount(), (message) => messages.push(message));
    conversation.origin = this.#conversation.origin;
    for (const [index, item] of history.entries())
      if (isJsonObject(item)) conversation.add(item, `history ${index}`);
    conversation.endAnswer();
    const at =
      summary.trim() === '' ? -1 : messages.findLastIndex((message) => textOf(message).includes(summary));
    return messages.map((message, index) =>
      index === at && message.role === 'user' ? { ...message, kind: 'memory' } : message,
    );
  }

  end(): void {
    this.#endTurn();
    this.#beginAnswer();
  }

  /** An answer follows: a user text known only from an event was said before it. */
  #beginAnswer(): void {
    this.#isAnswering = true;
    const asked = this.#userEvents.takeWaiting();
    if (asked.length === 0) return;
    this.#endTurn();
    this.#conversation.isAborted = false;
    for (const { text, place, ts } of asked) {
      this.#losses.approximate('message of the user that only an event shows', place);
      this.#emit({ role: 'user', content: text }, ts);
    }
  }

  /** An event counts as the answer only if the turn has no other: elsewhere it could repeat a text. */
  #endTurn(): void {
    this.#conversation.endAnswer();
    const isAnswered = this.#answerEvents.hasItems;
    for (const { text, place, ts } of this.#answerEvents.takeWaiting()) {
      if (isAnswered) this.#losses.drop('answer that only an event shows', place);
      else {
        this.#losses.approximate('answer that only an event shows', place);
        this.#emit({ role: 'assistant', content: text, origin: this.#conversation.origin }, ts);
      }
    }
    for (const { place } of this.#reasoningEvents.takeWaiting())
      this.#losses.drop('reasoning that only an event shows', place);
    this.#answerEvents.forget();
    this.#reasoningEvents.forget();
  }

  #emit(message: Message, ts: number | undefined): void {
    keepMessage(message, this.#losses);
    this.#items.push({ kind: 'message', message, ...(ts === undefined ? {} : { ts }) });
  }
}

function memoryOf(summary: string): Message[] {
  return summary.trim() === '' ? [] : [{ role: 'user', content: summary, kind: 'memory' }];
}
