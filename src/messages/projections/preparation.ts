/** What every projection begins with: a legal list, translators, a media plan, and the notes. */
import type { ToolDescription } from '../../core/tool-definition.js';
import { repairHistory } from '../legality/history.js';
import { type Media, type Message, mediaOf, textOf, toolCallsOf, toolResultOf } from '../message.js';
import { IdTranslator, NameTranslator } from './id-translator.js';
import {
  isSent,
  type MediaPlan,
  type OmittedMedia,
  placeholderOf,
  planMedia,
  type SentMedia,
} from './media-plan.js';
import type { NoteCode, Projection, ProjectionNote, ProjectionTarget } from './projection.js';
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
  #index: number | null = null;

  constructor(
    name: TargetName,
    messages: readonly Message[],
    target: ProjectionTarget,
    accepts: (media: Media, mime: string) => boolean,
  ) {
    this.target = target;
    this.limits = limitsFor(name, target.flavor, target.limits);
    const { messages: legal, repairs } = repairHistory(this.#withoutItemsOfOthers(messages));
    this.messages = legal;
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

  /** Notes from now on are about this message. */
  at(index: number | null): void {
    this.#index = index;
  }

  note(code: NoteCode, detail: string): void {
    this.#notes.push({ code, messageIndex: this.#index, detail });
  }

  get systemText(): string {
    const [first] = this.messages;
    return first?.role === 'system' ? textOf(first) : '';
  }

  /** The messages after the system prompt, with their indexes. */
  *conversation(): Generator<{ readonly message: Message; readonly index: number }> {
    for (const [index, message] of this.messages.entries()) {
      this.at(index);
      if (message.role === 'system' || message.role === 'assistant') this.#noteMedia(message);
      if (message.role === 'system') continue;
      yield { message, index };
    }
    this.at(null);
  }

  /** Ids of the message's calls as the target takes them, in order. */
  callIds(message: Message): string[] {
    const calls = toolCallsOf(message);
    const translated = this.ids.openBatch(calls.map((call) => call.id));
    for (const [index, call] of calls.entries()) {
      if (translated[index] !== call.id)
        this.note('call-id-translated', `${call.id} is ${translated[index]} here`);
    }
    return translated;
  }

  toolName(name: string): string {
    const translated = this.#names.of(name);
    if (translated !== name) this.note('tool-name-translated', `${name} is ${translated} here`);
    return translated;
  }

  /** A medium as it is sent, or the line of text that stands for it. */
  media(media: Media): SentMedia | string {
    const planned = this.#media.of(media);
    if (isSent(planned)) return planned;
    this.note('media-omitted', placeholderOf(planned satisfies OmittedMedia));
    return placeholderOf(planned);
  }

  omitReasoning(reason: string | null): void {
    if (reason !== null) this.note('reasoning-omitted', reason);
  }

  omitProviderItems(message: Message): void {
    const count = message.providerItems?.length ?? 0;
    if (count > 0) this.note('provider-item-omitted', `${count} items that only their provider understands`);
  }

  /** The tools that the request declares; stubs for those of the history where there are none. */
  tools(stubs: boolean): readonly ToolDescription[] {
    this.at(null);
    const given = this.target.tools ?? [];
    if (given.length > 0 || !stubs) return given.map((tool) => ({ ...tool, name: this.toolName(tool.name) }));
    const names = new Set(this.messages.flatMap((message) => toolCallsOf(message).map((call) => call.name)));
    return [...names].map((name) => {
      this.note('tool-stub-declared', `the history has calls of ${name}, and the request has no tools`);
      return { name: this.toolName(name), description: STUB_DESCRIPTION, inputSchema: { type: 'object' } };
    });
  }

  /** True when the list ends where the user has to speak, and the target asked for a turn there. */
  needsUserTurn(): boolean {
    const last = this.messages[this.messages.length - 1];
    if (this.target.ending === 'as-is' || (last && (last.role === 'user' || toolResultOf(last))))
      return false;
    this.at(null);
    this.note('user-turn-added', last ? 'the list ends with the assistant' : 'the list is empty');
    return true;
  }

  finish<Request>(request: Request): Projection<Request> {
    return {
      request,
      notes: this.#notes,
      callIds: this.ids.originals,
      toolNames: this.#names.originals,
    };
  }

  /** Only the model has items of its own: a message of anybody else that holds nothing but such is blank. */
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
        known.add(call.name); // once
        this.#notes.push({
          code: 'tool-unknown',
          messageIndex: index,
          detail: `${call.name} exists no longer`,
        });
      }
    }
  }
}

function hasItemsOfOthers({ role, providerItems }: Message): boolean {
  return role !== 'assistant' && providerItems !== undefined && providerItems.length > 0;
}

const STUB_DESCRIPTION = 'This tool is not available any more. Do not call it.';
