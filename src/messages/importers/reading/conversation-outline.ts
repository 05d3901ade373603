/**
 * The conversation that is read of a document with several: the first one with a message, and in it the path to the
 * newest message of the branch in use. Only ids and offsets are held, because an export may have all conversations of a
 * person.
 */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import type { TranscriptSource } from '../transcript.js';
import { type JsonPath, type SliceChoice, sliceJson } from './json-slices.js';
import { valueAt } from './value-at.js';

/** What a document calls its parts. */
export interface ConversationLayout {
  /** Key of a conversation's messages: a list, or an object with a member per message. */
  readonly messages: string;
  /** Key of the id of the newest message of the branch in use, if conversations are trees. */
  readonly tip?: string;
  /** Key of the only conversation, or of the list of conversations, if the document wraps it. */
  readonly wrapper?: string | undefined;
  /** Key of a field of the conversation that is needed to read it. */
  readonly setting?: string;
  nodeOf(key: string | number, json: JsonObject): ConversationNode;
}

export interface ConversationNode {
  readonly id: string;
  /** Null for a root; undefined if messages do not name their parents and follow each other. */
  readonly parent: string | null | undefined;
  readonly hasMessage: boolean;
}

/** For conversations that are lists. */
export function memberNode(key: string | number): ConversationNode {
  return { id: String(key), parent: undefined, hasMessage: true };
}

export interface PlacedNode {
  readonly json: JsonObject;
  readonly place: string;
}

interface HeldNode extends ConversationNode {
  readonly parent: string | null;
  readonly start: number;
  readonly place: string;
}

export class ConversationOutline {
  readonly #layout: ConversationLayout;
  readonly #losses: LossAccount;
  readonly #nodes = new Map<string, HeldNode>();
  #tip: JsonValue | undefined;
  #setting: JsonValue | undefined;
  /** The conversation whose nodes are held, and whether it has a message. */
  #holder = -1;
  #isFound = false;
  #last: HeldNode | null = null;

  private constructor(layout: ConversationLayout, losses: LossAccount) {
    this.#layout = layout;
    this.#losses = losses;
  }

  /** @throws TRANSCRIPT_INVALID if no conversation has a message */
  static async of(
    source: TranscriptSource,
    layout: ConversationLayout,
    losses: LossAccount,
  ): Promise<ConversationOutline> {
    const outline = new ConversationOutline(layout, losses);
    const slices = sliceJson(source.chunks(), (path) => outline.#choose(path));
    for await (const { path, value, start } of slices) outline.#note(path, value, start);
    if (!outline.#isFound) throw noConversation(source, layout);
    return outline;
  }

  get setting(): JsonValue | undefined {
    return this.#setting;
  }

  /** The messages of the path, oldest first. The others are counted as dropped. */
  async *messages(source: TranscriptSource): AsyncGenerator<PlacedNode> {
    const path = this.#path();
    const used = new Set(path);
    for (const node of this.#nodes.values()) {
      if (!node.hasMessage) continue;
      this.#losses.record();
      if (!used.has(node)) this.#losses.drop('a message on another branch', node.place);
    }
    for (const { hasMessage, start, place } of path) {
      const json = hasMessage ? await valueAt(source, start) : undefined;
      if (isJsonObject(json)) yield { json, place };
    }
  }

  #choose(path: JsonPath): SliceChoice {
    const { conversation, rest } = this.#split(path);
    const [key, member] = rest;
    if (conversation < 0) return path.length === 0 ? 'enter' : this.#beside(path);
    if (key === undefined && this.#isOther(conversation)) return this.#otherConversation(path);
    if (conversation !== this.#holder) this.#holdAnother(conversation);
    if (key === undefined) return 'enter';
    if (key === this.#layout.tip || key === this.#layout.setting) return 'take';
    if (key === this.#layout.messages) return member === undefined ? 'enter' : 'take';
    return this.#beside(path);
  }

  /** A list has one conversation per member; else the document, or a member of it, is the only one. */
  #split(path: JsonPath): { readonly conversation: number; readonly rest: JsonPath } {
    const { wrapper } = this.#layout;
    const isBeside = wrapper !== undefined && path[0] !== wrapper;
    const inner = wrapper === undefined ? path : path.slice(1);
    const [first, ...rest] = inner;
    if (path.length === 0 || isBeside) return { conversation: -1, rest: path };
    return typeof first === 'number' ? { conversation: first, rest } : { conversation: 0, rest: inner };
  }

  #isOther(conversation: number): boolean {
    return this.#isFound && conversation !== this.#holder;
  }

  #otherConversation(path: JsonPath): SliceChoice {
    this.#losses.record();
    this.#losses.drop('another conversation', `conversations/${this.#split(path).conversation}`);
    return 'skip';
  }

  #beside(path: JsonPath): SliceChoice {
    this.#losses.drop('a field next to the messages', path.join('/').slice(0, 80));
    return 'skip';
  }

  #note(path: JsonPath, value: JsonValue, start: number): void {
    const { conversation, rest } = this.#split(path);
    const [key, member] = rest;
    if (conversation < 0 || key === undefined) return;
    if (key === this.#layout.tip) this.#tip = value;
    else if (key === this.#layout.setting) this.#setting = value;
    else if (member !== undefined) this.#add(member, value, start);
  }

  #holdAnother(conversation: number): void {
    if (this.#holder >= 0)
      this.#losses.drop('a conversation without messages', `conversations/${this.#holder}`);
    this.#nodes.clear();
    this.#tip = undefined;
    this.#setting = undefined;
    this.#last = null;
    this.#holder = conversation;
  }

  #add(key: string | number, value: JsonValue, start: number): void {
    const place = `messages/${String(key).slice(0, 80)}`;
    if (!isJsonObject(value)) {
      this.#losses.drop('a member that is not a message', place);
      return;
    }
    const { id, parent, hasMessage } = this.#layout.nodeOf(key, value);
    const before = this.#last?.id ?? null;
    const own = this.#nodes.has(id) ? `${id}/${key}` : id; // a repeated id would hide the earlier message
    const node = { id: own, parent: parent === undefined ? before : parent, hasMessage, start, place };
    this.#nodes.set(own, node);
    this.#last = node;
    this.#isFound ||= hasMessage;
  }

  #path(): HeldNode[] {
    const path: HeldNode[] = [];
    const seen = new Set<HeldNode>();
    for (let node = this.#newest(); node && !seen.has(node); node = this.#nodes.get(node.parent ?? '')) {
      seen.add(node);
      path.push(node);
    }
    return path.reverse();
  }

  #newest(): HeldNode | undefined {
    const named = typeof this.#tip === 'string' ? this.#nodes.get(this.#tip) : undefined;
    if (named) return named;
    if (this.#tip !== undefined && this.#tip !== null)
      this.#losses.approximate('a newest message that is missing; the last one is taken', 'messages');
    return [...this.#nodes.values()].findLast(({ hasMessage }) => hasMessage);
  }
}

function noConversation(source: TranscriptSource, layout: ConversationLayout): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `${JSON.stringify(source.name)} has no conversation with messages.`,
    { details: { name: source.name, lookedFor: layout.messages } },
  );
}
