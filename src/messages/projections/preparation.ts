/** The first step of every projection: a legal list, translators, a media plan, and the notes. */

import type { JsonObject } from '../../core/json.js';
import type { ToolDescription } from '../../core/tool-definition.js';
import { repairHistory } from '../legality/history.js';
import { OUTCOME_UNKNOWN_TEXT } from '../legality/pairing-rule.js';
import {
  isBlankText,
  type Media,
  type Message,
  mediaOf,
  type ToolCallSpec,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../message.js';
import { IdTranslator, NameTranslator } from './id-translator.js';
import {
  isSent,
  type MediaPlan,
  type OmittedMedia,
  placeholderOf,
  planMedia,
  type SentMedia,
} from './media-plan.js';
import { ownCompactionOf } from './own-compaction.js';
import {
  CONTINUE_TEXT,
  CUT_OFF_LINE,
  CUT_OFF_TEXT,
  type NoteCode,
  type Projection,
  type ProjectionNote,
  type ProjectionTarget,
  type WaitingCall,
} from './projection.js';
import { limitsFor, type TargetLimits } from './target-limits.js';
import type { TargetName } from './targets.js';

export class Preparation {
  readonly messages: readonly Message[];
  readonly target: ProjectionTarget;
  readonly limits: TargetLimits;
  readonly ids: IdTranslator;
  readonly #names: NameTranslator;
  readonly #media: MediaPlan;
  readonly #notes: ProjectionNote[] = [];
  /** Calls that stay without a result. */
  readonly #open: ReadonlySet<ToolCallSpec>;
  #index: number | null = null;
  /** Index of the first message that is sent. */
  #start = 0;

  constructor(
    name: TargetName,
    messages: readonly Message[],
    target: ProjectionTarget,
    accepts: (media: Media, mime: string) => boolean,
  ) {
    this.target = target;
    this.limits = limitsFor(name, target.flavor, target.limits);
    const { messages: legal, repairs } = repairHistory(this.#withoutItemsOfOthers(messages), {
      interruptedText: (callId) => waitingText(target.waiting?.get(callId)),
      keepOpen: { has: (callId) => name === 'ai-sdk' && isAsked(target.waiting?.get(callId)) },
    });
    this.messages = this.#withCutOffLines(legal);
    this.#open = target.waiting?.size ? unansweredIn(legal) : new Set();
    for (const { code, messageIndex, reason } of repairs) {
      this.#notes.push({ code: 'repaired', messageIndex, detail: `${code}: ${reason}` });
    }
    this.ids = new IdTranslator(this.limits.callId);
    this.#names = new NameTranslator(this.limits.toolName);
    const imageMimes = this.limits.imageMimes;
    const showing = legal.filter(({ role }) => role === 'user' || role === 'tool');
    this.#media = planMedia(showing, this.limits, target.artifacts ?? new Map(), (media, mime) =>
      media.kind === 'image' ? imageMimes.has(mime) : accepts(media, mime),
    );
    this.#noteUnknownTools();
  }

  /**
   * Skips the messages before the provider's own compaction.
   * @param provider of this target
   */
  beginAtCompaction(provider: string): void {
    const isAt = (message: Message) => ownCompactionOf(message, provider, this.target) !== null;
    this.#start = Math.max(0, this.messages.findLastIndex(isAt));
    if (this.#start === 0) return;
    this.at(this.#start);
    this.note('message-omitted', 'the messages before it: the provider has its own compaction of them');
    this.at(null);
  }

  /** Sets the message that the following notes are about. */
  at(index: number | null): void {
    this.#index = index;
  }

  note(code: NoteCode, detail: string): void {
    this.#notes.push({ code, messageIndex: this.#index, detail });
  }

  get systemText(): string {
    const [first] = this.messages;
    const text = first?.role === 'system' ? textOf(first) : '';
    return isBlankText(text) ? '' : text; // a prompt with only media has no text to send
  }

  /** The messages after the system prompt, with their indexes. */
  *conversation(): Generator<{ readonly message: Message; readonly index: number }> {
    for (const [index, message] of this.messages.entries()) {
      if (index < this.#start && message.role !== 'system') continue;
      this.at(index);
      if (message.role === 'system' || message.role === 'assistant') this.#noteMedia(message);
      if (message.role === 'system') continue;
      yield { message, index };
    }
    this.at(null);
  }

  /** The translated ids of the message's calls, in order. */
  callIds(message: Message): string[] {
    const calls = toolCallsOf(message);
    const translated = this.ids.openBatch(calls.map((call) => call.id));
    for (const [index, call] of calls.entries()) {
      if (translated[index] !== call.id)
        this.note('call-id-translated', `${call.id} is ${translated[index]} here`);
    }
    return translated;
  }

  /** The AI SDK's approval request for a call that is still open. */
  openRequest(call: ToolCallSpec): JsonObject | undefined {
    return this.#open.has(call) ? this.target.waiting?.get(call.id)?.request : undefined;
  }

  openResponses(): JsonObject[] {
    return [...this.#open].flatMap((call) => {
      const response = this.target.waiting?.get(call.id)?.response;
      return response ? [response] : [];
    });
  }

  toolName(name: string): string {
    const translated = this.#names.of(name);
    if (translated !== name) this.note('tool-name-translated', `${name} is ${translated} here`);
    return translated;
  }

  /** A media item as it is sent, or the line of text that replaces it. */
  media(media: Media): SentMedia | string {
    const planned = this.#media.of(media);
    if (isSent(planned)) return planned;
    this.note('media-omitted', placeholderOf(planned satisfies OmittedMedia));
    return placeholderOf(planned);
  }

  omitReasoning(reason: string | null): void {
    if (reason !== null) this.note('reasoning-omitted', reason);
  }

  /** @param sent how many of them are sent anyway */
  omitProviderItems(message: Message, sent = 0): void {
    const count = (message.providerItems?.length ?? 0) - sent;
    if (count > 0) this.note('provider-item-omitted', `${count} items that only their provider understands`);
  }

  /** The declared tools; if there are none, stubs for the tools of the history. */
  tools(stubs: boolean): readonly ToolDescription[] {
    this.at(null);
    const given = this.target.tools ?? [];
    if (given.length > 0 || !stubs) return given.map((tool) => ({ ...tool, name: this.toolName(tool.name) }));
    const sent = this.messages.slice(this.#start);
    const names = new Set(sent.flatMap((message) => toolCallsOf(message).map((call) => call.name)));
    return [...names].map((name) => {
      this.note('tool-stub-declared', `the history has calls of ${name}, and the request has no tools`);
      return { name: this.toolName(name), description: STUB_DESCRIPTION, inputSchema: { type: 'object' } };
    });
  }

  /** The user turn to add at the end; null if none is needed, or if the target asked for none. */
  addedUserTurn(): string | null {
    const last = this.messages[this.messages.length - 1];
    if (this.target.ending === 'as-is' || (last && (last.role === 'user' || toolResultOf(last)))) return null;
    this.at(null);
    this.note('user-turn-added', last ? 'the list ends with the assistant' : 'the list is empty');
    return last?.status === undefined ? CONTINUE_TEXT : CUT_OFF_TEXT;
  }

  finish<Request>(request: Request): Projection<Request> {
    return {
      request,
      notes: this.#notes,
      callIds: this.ids.originals,
      toolNames: this.#names.originals,
    };
  }

  /** Adds a line to each answer that was cut off and that a user message follows. An answer that the assistant continues gets none. */
  #withCutOffLines(messages: readonly Message[]): readonly Message[] {
    if (this.target.cutOffLine === false || messages.every(({ status }) => status === undefined))
      return messages;
    return messages.map((message, messageIndex) => {
      const isMarked = message.status !== undefined && !isBlankText(textOf(message));
      if (!isMarked || messages[messageIndex + 1]?.role !== 'user') return message;
      this.#notes.push({ code: 'cut-off-marked', messageIndex, detail: CUT_OFF_LINE });
      return withLine(message, CUT_OFF_LINE);
    });
  }

  /** Only the model that made provider items can use them. For other models, a message with nothing else is blank. */
  #withoutItemsOfOthers(messages: readonly Message[]): readonly Message[] {
    if (!messages.some(hasItemsOfOthers)) return messages;
    return messages.map((message, messageIndex) => {
      if (!hasItemsOfOthers(message)) return message;
      const { providerItems: _, ...rest } = message;
      const detail = `a message of the role ${message.role} has none of its own`;
      this.#notes.push({ code: 'provider-item-omitted', messageIndex, detail });
      return rest;
    });
  }

  #noteMedia(message: Message): void {
    for (const { kind } of mediaOf(message)) {
      this.note('media-omitted', `${message.role} messages cannot show the ${kind} here`);
    }
  }

  #noteUnknownTools(): void {
    const { tools } = this.target;
    if (!tools || tools.length === 0) return;
    const known = new Set(tools.map((tool) => tool.name));
    for (const [index, message] of this.messages.entries()) {
      for (const call of toolCallsOf(message)) {
        if (known.has(call.name)) continue;
        known.add(call.name); // each name once
        this.#notes.push({
          code: 'tool-unknown',
          messageIndex: index,
          detail: `${call.name} exists no longer`,
        });
      }
    }
  }
}

/** The AI SDK keeps a call open if it asked a person itself. */
export function isAsked(waiting: WaitingCall | undefined): boolean {
  return waiting?.request !== undefined;
}

function waitingText(waiting: WaitingCall | undefined): string {
  if (waiting?.waitsFor === 'approval') return WAITS_FOR_APPROVAL_TEXT;
  return waiting ? WAITS_FOR_CLIENT_TEXT : OUTCOME_UNKNOWN_TEXT;
}

/** In a legal list, results directly follow their calls. */
function unansweredIn(messages: readonly Message[]): ReadonlySet<ToolCallSpec> {
  const open = new Set<ToolCallSpec>();
  let batch = new Map<string, ToolCallSpec>();
  for (const message of messages) {
    const result = toolResultOf(message);
    const answered = result ? batch.get(result.toolCallId) : undefined;
    if (answered) open.delete(answered);
    if (result) continue;
    batch = new Map(toolCallsOf(message).map((call) => [call.id, call]));
    for (const call of batch.values()) open.add(call);
  }
  return open;
}

const WAITS_FOR_APPROVAL_TEXT =
  'This call waits for a person to approve it. It has not run, and had no effect.';
const WAITS_FOR_CLIENT_TEXT = 'This call waits for its result from the client. There is no result yet.';

function hasItemsOfOthers({ role, providerItems }: Message): boolean {
  return role !== 'assistant' && providerItems !== undefined && providerItems.length > 0;
}

const STUB_DESCRIPTION = 'This tool is not available any more. Do not call it.';

function withLine(message: Message, line: string): Message {
  const { content, parts } = message;
  if (parts) return { ...message, parts: [...parts, { type: 'text', text: line }] };
  return { ...message, content: `${content}\n\n${line}` };
}
