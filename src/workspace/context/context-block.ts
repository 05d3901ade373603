/**
 * Builds the text of a context, key by key, within the budget. The cost of a key is independent of the keys
 * before it, so it is counted once.
 */
import { fitValue, mayBeWithin } from '../../core/fit-value.js';
import type { JsonValue } from '../../core/json.js';
import type { CountTokens } from '../../core/text-tokens.js';
import type { Entry } from '../workspace.js';
import type { ContextKey, ContextRequest, ContextStatus } from './context-request.js';
import { summarizeValue } from './summarize-value.js';
import { xmlAttribute, xmlJson, xmlText } from './xml.js';

const OPEN = '<workspace_context>';
const CLOSE = '</workspace_context>';
const EMPTY = `${OPEN}${CLOSE}`;
/** After this many consecutive keys without room even for a summary, the budget counts as used up. */
const MISSES_MAX = 64;
/**
 * Lines are joined in groups of this size, then the groups: joining all lines at once would block the event
 * loop.
 */
const JOIN_LINES = 256;
/** The note about left-out keys takes at most this many tokens, and at most this share of the budget from values. */
const NOTE_TOKENS_MAX = 200;
const NOTE_SHARE_MAX = 0.25;
/** A note of more keys has room for this much more. */
const NOTE_TOKENS_MORE = 24;

export interface WantedKey {
  readonly key: string;
  readonly required: boolean;
}

interface Shown {
  readonly text: string;
  readonly status: ContextStatus;
  readonly leftOut: number;
}

export class ContextBlock {
  readonly #count: CountTokens;
  readonly #request: ContextRequest;
  #total: number;
  readonly #perKey: { readonly [key: string]: number };
  readonly #excluded: ReadonlySet<string>;
  readonly #summaries: ReadonlySet<string> | null;
  #keys: ContextKey[] = [];
  #joined: string[] = [];
  #lines: string[] = [];
  /**
   * Tokens of the current block. A line ends with `>` and a line break, and the next one begins with `<`, so
   * no token spans two lines.
   */
  #tokens: number;
  /** Tokens that the line break adds to a line, depending on how the line ends. */
  readonly #breaks: { readonly tag: number; readonly emptyTag: number };
  #lastCount: { readonly text: string; readonly tokens: number } | null = null;
  #misses = 0;
  /** This block before the first key that took room which the note may need. */
  #before: ContextBlock | null = null;

  constructor(count: CountTokens, request: ContextRequest) {
    this.#count = count;
    this.#request = request;
    this.#total = totalOf(request);
    this.#perKey = request.budget?.perKey ?? {};
    this.#excluded = new Set(request.dependencies.excluded);
    this.#summaries = request.summaries === true ? null : new Set(request.summaries);
    this.#tokens = count(`${OPEN}\n`) + count(CLOSE);
    this.#breaks = { tag: count('y>\n') - count('y>'), emptyTag: count('" />\n') - count('" />') };
  }

  get keys(): readonly ContextKey[] {
    return this.#keys;
  }

  /** Tokens of the text. Costly with an infinite budget, so read it only when needed. */
  get tokens(): number {
    return this.#isEmpty ? this.#count(EMPTY) : this.#tokens;
  }

  get text(): string {
    return this.#isEmpty ? EMPTY : [OPEN, ...this.#joined, ...this.#lines, CLOSE].join('\n');
  }

  get #isEmpty(): boolean {
    return this.#lines.length === 0 && this.#joined.length === 0;
  }

  add(wanted: WantedKey, entry: Entry | null, ageSeconds: number): void {
    const { key, required } = wanted;
    const shown = this.#shown(wanted, entry, ageSeconds);
    const fits = shown.text === '' || this.#fits(shown.text, this.#limitOf(key));
    const { text, status, leftOut } = fits ? shown : withoutText(shown);
    if (text !== '') {
      if (!this.#before && this.#tokens + this.#tokensOf(text) > this.#total - this.#noteMax)
        this.#before = this.#copy();
      this.#push(text);
    }
    this.#misses = fits && status !== 'left-out' ? 0 : this.#misses + 1;
    this.#keys.push({ key, required, status, tokens: text === '' ? 0 : this.#tokensOf(text), leftOut });
  }

  /** Names the keys that the budget left out; called once, after the last key. False if the note does not fit. */
  noteLeftOut(): boolean {
    const keys = this.#leftOutKeys;
    if (keys.length === 0) return true;
    this.#total = totalOf(this.#request);
    const text = this.#note(keys, NOTE_TOKENS_MAX);
    if (text !== null) this.#push(text);
    return text !== null;
  }

  /**
   * A block in which values leave room for the note. It has the keys before the first one that took this room, and
   * the caller adds the others again. Null if no key took it.
   */
  tighter(): ContextBlock | null {
    const keys = this.#leftOutKeys;
    const names = this.#count(noteElement(keys.slice(0, NOTE_TOKENS_MAX), keys.length));
    if (this.#before) this.#before.#total -= Math.min(this.#noteMax, names + NOTE_TOKENS_MORE);
    return this.#before;
  }

  #copy(): ContextBlock {
    const copy = new ContextBlock(this.#count, this.#request);
    copy.#keys = [...this.#keys];
    copy.#joined = [...this.#joined];
    copy.#lines = [...this.#lines];
    copy.#tokens = this.#tokens;
    copy.#misses = this.#misses;
    return copy;
  }

  /** Tokens that values may be asked to leave for the note. */
  get #noteMax(): number {
    return Math.min(NOTE_TOKENS_MAX, totalOf(this.#request) * NOTE_SHARE_MAX);
  }

  get #leftOutKeys(): string[] {
    return this.#keys.flatMap(({ key, status }) => (status === 'left-out' ? [key] : []));
  }

  #note(keys: string[], limit: number): string | null {
    const named = this.#fitted(keys, limit, (names) => noteElement(names, keys.length));
    if (named) return named.text;
    const unnamed = `<budget_exceeded left_out="${keys.length}" />`;
    return this.#fits(unnamed, limit) ? unnamed : null;
  }

  #push(line: string): void {
    this.#tokens += this.#tokensOf(line) + this.#breakAfter(line);
    if (this.#lines.length === JOIN_LINES) {
      this.#joined.push(this.#lines.join('\n'));
      this.#lines = [];
    }
    this.#lines.push(line);
  }

  #shown({ key, required }: WantedKey, entry: Entry | null, ageSeconds: number): Shown {
    const { agent, maxAgeSeconds = Number.POSITIVE_INFINITY } = this.#request;
    if (this.#excluded.has(key)) return { text: '', status: 'excluded', leftOut: 0 };
    if (!entry) return { text: required ? this.#missing(key) : '', status: 'missing', leftOut: 0 };
    if (!required && entry.writtenBy === agent) return { text: '', status: 'own', leftOut: 0 };
    if (ageSeconds > maxAgeSeconds)
      return { text: required ? this.#stale(entry, ageSeconds) : '', status: 'stale', leftOut: 0 };
    return this.#misses < MISSES_MAX ? this.#value(entry) : { text: '', status: 'left-out', leftOut: 0 };
  }

  #value(entry: Entry): Shown {
    const summary = () => ({ text: summaryElement(entry), status: 'summary' as const, leftOut: 0 });
    if (this.#summaries?.has(entry.key) ?? true) return summary();
    const limit = this.#limitOf(entry.key);
    if (mayBeWithin(entry.value, this.#room(limit))) {
      const text = entryElement(entry, entry.value, 0);
      if (this.#fits(text, limit)) return { text, status: 'full', leftOut: 0 };
    }
    const fitted = this.#fitted(entry.value, limit, (value, leftOut) => entryElement(entry, value, leftOut));
    return fitted ? { ...fitted, status: fitted.leftOut > 0 ? 'truncated' : 'full' } : summary();
  }

  /** The element with as much of the value as fits; null if nothing does. */
  #fitted(
    value: JsonValue,
    limit: number,
    element: (value: JsonValue, leftOut: number) => string,
  ): Pick<Shown, 'text' | 'leftOut'> | null {
    // First subtract the enclosing element. Counting parts is inexact, so try up to three times.
    let room = this.#room(limit) - this.#count(element(null, 1));
    for (let tries = 0; tries < 3 && room > 0; tries += 1) {
      const fitted = fitValue(value, room, (part) => this.#count(jsonText(part)));
      if (!fitted) return null;
      const text = element(fitted.value, fitted.leftOut);
      if (this.#fits(text, limit)) return { text, leftOut: fitted.leftOut };
      room -= Math.max(8, this.#tokensOf(text) - this.#room(limit));
    }
    return null;
  }

  #limitOf(key: string): number {
    return Object.hasOwn(this.#perKey, key) ? this.#perKey[key]! : Number.POSITIVE_INFINITY;
  }

  /** Tokens by which an element with this limit may still grow the block. */
  #room(limit: number): number {
    return Math.min(limit, this.#total - this.tokens);
  }

  #fits(text: string, limit: number): boolean {
    if (limit !== Number.POSITIVE_INFINITY && this.#tokensOf(text) > limit) return false;
    if (this.#total === Number.POSITIVE_INFINITY) return true;
    return this.#tokens + this.#tokensOf(text) + this.#breakAfter(text) <= this.#total;
  }

  #tokensOf(text: string): number {
    if (this.#lastCount?.text !== text) this.#lastCount = { text, tokens: this.#count(text) };
    return this.#lastCount.tokens;
  }

  #breakAfter(line: string): number {
    return line.endsWith('/>') ? this.#breaks.emptyTag : this.#breaks.tag;
  }

  #missing(key: string): string {
    return `<missing_dependency key=${xmlAttribute(key)}${this.#producer(key)} />`;
  }

  #stale({ key, writtenBy }: Entry, ageSeconds: number): string {
    const age = xmlAttribute(String(Math.floor(ageSeconds)));
    return `<stale_dependency key=${xmlAttribute(key)} age_seconds=${age} written_by=${xmlAttribute(writtenBy)} />`;
  }

  #producer(key: string): string {
    const { producers = {} } = this.#request;
    return Object.hasOwn(producers, key) ? ` producer=${xmlAttribute(producers[key]!)}` : '';
  }
}

function totalOf({ budget }: ContextRequest): number {
  return budget?.total ?? Number.POSITIVE_INFINITY;
}

/** Tells the model that its budget ended before all keys were shown. The names are JSON, so any key can be one. */
function noteElement(names: JsonValue, leftOut: number): string {
  return `<budget_exceeded left_out="${leftOut}">${jsonText(names)}</budget_exceeded>`;
}

/** An unmet dependency is reported even if its note does not fit into the text. */
function withoutText({ status }: Shown): Shown {
  const isUnmet = status === 'missing' || status === 'stale';
  return { text: '', status: isUnmet ? status : 'left-out', leftOut: 0 };
}

function entryElement({ key, version, writtenBy }: Entry, value: JsonValue, leftOut: number): string {
  const cut = leftOut > 0 ? ` left_out=${xmlAttribute(String(leftOut))}` : '';
  const attributes = `key=${xmlAttribute(key)} version="${version}" written_by=${xmlAttribute(writtenBy)}${cut}`;
  return `<workspace_entry ${attributes}>\n${jsonText(value)}\n</workspace_entry>`;
}

function summaryElement({ key, version, writtenBy, value }: Entry): string {
  const attributes = `key=${xmlAttribute(key)} version="${version}" written_by=${xmlAttribute(writtenBy)}`;
  return `<workspace_summary ${attributes}>${xmlText(summarizeValue(value))}</workspace_summary>`;
}

function jsonText(value: JsonValue): string {
  return xmlJson(JSON.stringify(value));
}
