/**
 * The conversation that is read of a web chat's export: the first one with a message, and in it the path to the newest
 * message of the branch in use. Only ids and offsets are held, because an export has all conversations of a person.
 */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { valueAt } from '../reading/value-at.js';
import type { TranscriptSource } from '../transcript.js';

/** What an export calls its parts. */
export interface ExportLayout {
  /** Key of a conversation's messages: a list, or an object with a member per message. */
  readonly messages: string;
  /** Key of the id of the newest message of the branch in use. */
  readonly tip: string;
  /** Key of the only conversation, if the document wraps it. */
  readonly wrapper?: string | undefined;
  nodeOf(key: string | number, json: JsonObject): ExportNode;
}

export interface ExportNode {
  readonly id: string;
  /** Null for a root; undefined if messages do not name their parents and follow each other. */
  readonly parent: string | null | undefined;
  readonly hasMessage: boolean;
}

export interface PlacedNode {
  readonly json: JsonObject;
  readonly place: string;
}

interface HeldNode extends ExportNode {
  readonly parent: string | null;
  readonly start: number;
  readonly place: string;
}

export class ExportOutline {
  readonly #layout: ExportLayout;
  readonly #losses: LossAccount;
  readonly #nodes = new Map<string, HeldNode>();
  #tip: JsonValue | undefined;
  /** The conversation whose nodes are held, and whether it has a message. */
  #holder = -1;
  #isFound = false;
  #last: HeldNode | null = null;

  private constructor(layout: ExportLayout, losses: LossAccount) {
    this.#layout = layout;
    this.#losses = losses;
  }

  /** @throws TRANSCRIPT_INVALID if no conversation has a message */
  static async of(
    source: TranscriptSource,
    layout: ExportLayout,
    losses: LossAccount,
  ): Promise<ExportOutline> {
    const outline = new ExportOutline(layout, losses);
    const slices = sliceJson(source.chunks(), (path) => outline.#choose(path));
    for await (const { path, value, start } of slices) outline.#note(path, value, start);
    if (!outline.#isFound) throw noConversation(source, layout);
    return outline;
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
    if (key === undefined) return this.#isOther(conversation) ? this.#otherConversation(path) : 'enter';
    if (key === this.#layout.tip) return 'take';
    if (key === this.#layout.messages) return member === undefined ? 'enter' : 'take';
    return this.#beside(path);
  }

  /** A list has one conversation per member; else the document, or a member of it, is the only one. */
  #split(path: JsonPath): { readonly conversation: number; readonly rest: JsonPath } {
    const [first, ...rest] = path;
    if (typeof first === 'number') return { conversation: first, rest };
    const { wrapper } = this.#layout;
    if (wrapper === undefined) return { conversation: path.length === 0 ? -1 : 0, rest: path };
    return first === wrapper ? { conversation: 0, rest } : { conversation: -1, rest };
  }

  #isOther(conversation: number): boolean {
    return this.#isFound && conversation !== this.#holder;
  }

  #otherConversation(path: JsonPath): SliceChoice {
    this.#losses.record();
    this.#losses.drop('another conversation', `conversations/${path[0]}`);
    return 'skip';
  }

  #beside(path: JsonPath): SliceChoice {
    this.#losses.drop('a field beside the messages', path.join('/').slice(0, 80));
    return 'skip';
  }

  #note(path: JsonPath, value: JsonValue, start: number): void {
    const { conversation, rest } = this.#split(path);
    const [key, member] = rest;
    if (conversation < 0 || key === undefined) return;
    if (conversation !== this.#holder) this.#holdAnother(conversation);
    if (key === this.#layout.tip) this.#tip = value;
    else if (member !== undefined) this.#add(member, value, start);
  }

  #holdAnother(conversation: number): void {
    if (this.#holder >= 0)
      this.#losses.drop('a conversation without messages', `conversations/${this.#holder}`);
    this.#nodes.clear();
    this.#tip = undefined;
    this.#last = null;
    this.#holder = conversation;
  }

  #add(key: string | number, value: JsonValue, start: number): void {
    const place = `messages/${String(key).slice(0, 80)}`;
    if (!isJsonObject(value)) {
      this.#losses.drop('a member that is no message', place);
      return;
    }
    const { id, parent, hasMessage } = this.#layout.nodeOf(key, value);
    const before = this.#last?.id ?? null;
    const node = { id, parent: parent === undefined ? before : parent, hasMessage, start, place };
    this.#nodes.set(id, node);
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
      this.#losses.approximate('a newest message that is missing; the last one is taken', this.#layout.tip);
    return [...this.#nodes.values()].findLast(({ hasMessage }) => hasMessage);
  }
}

function noConversation(source: TranscriptSource, layout: ExportLayout): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `${JSON.stringify(source.name)} has no conversation with messages.`,
    { details: { name: source.name, lookedFor: layout.messages } },
  );
}
