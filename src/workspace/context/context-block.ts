/**
 * Builds the text of a context, key by key, within the budget. The cost of a key is independent of the keys
 * before it, so it is counted once.
 */
import { type CountValue, fitValue, mayBeWithin } from '../../core/fit-value.js';
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
  readonly #total: number;
  readonly #perKey: { readonly [key: string]: number };
  readonly #excluded: ReadonlySet<string>;
  readonly #summaries: ReadonlySet<string> | null;
  readonly #keys: ContextKey[] = [];
  readonly #joined: string[] = [];
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

  constructor(count: CountTokens, request: ContextRequest) {
    this.#count = count;
    this.#request = request;
    this.#total = request.budget?.total ?? Number.POSITIVE_INFINITY;
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
    const fits = shown.text === '' || this.#fits(key, shown.text);
    const { text, status, leftOut } = fits ? shown : withoutText(shown);
    if (text !== '') {
      this.#push(text);
      this.#tokens += this.#tokensOf(text) + this.#breakAfter(text);
    }
    this.#misses = fits && status !== 'left-out' ? 0 : this.#misses + 1;
    this.#keys.push({ key, required, status, tokens: text === '' ? 0 : this.#tokensOf(text), leftOut });
  }

  #push(line: string): void {
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
    const count: CountValue = (value) => this.#count(jsonText(value));
    if (mayBeWithin(entry.value, this.#room(entry.key))) {
      const text = entryElement(entry, entry.value, 0);
      if (this.#fits(entry.key, text)) return { text, status: 'full', leftOut: 0 };
    }
    // First subtract the enclosing element. Counting parts is inexact, so try up to three times.
    let room = this.#room(entry.key) - this.#count(entryElement(entry, null, 1));
    for (let tries = 0; tries < 3 && room > 0; tries += 1) {
      const fitted = fitValue(entry.value, room, count);
      if (!fitted) break;
      const text = entryElement(entry, fitted.value, fitted.leftOut);
      const status = fitted.leftOut > 0 ? 'truncated' : 'full';
      if (this.#fits(entry.key, text)) return { text, status, leftOut: fitted.leftOut };
      room -= Math.max(8, this.#tokensOf(text) - this.#room(entry.key));
    }
    return summary();
  }

  /** Tokens by which this key may still grow the block. */
  #room(key: string): number {
    const perKey = Object.hasOwn(this.#perKey, key) ? this.#perKey[key]! : Number.POSITIVE_INFINITY;
    return Math.min(perKey, this.#total - this.tokens);
  }

  #fits(key: string, text: string): boolean {
    if (Object.hasOwn(this.#perKey, key) && this.#tokensOf(text) > this.#perKey[key]!) return false;
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
