/**
 * The part of a workspace that one agent needs, as a block for its prompt: required keys first, each in the declared order, within
 * the agent's budget of tokens. The same workspace and the same request give the same text.
 */

import { type CountValue, fitValue, isWithin } from '../../core/fit-value.js';
import type { JsonValue } from '../../core/json.js';
import { type CountTokens, loadTokenizer } from '../../core/text-tokens.js';
import type { Entry, Workspace } from '../workspace.js';
import type { ContextKey, ContextRequest, ContextStatus, SelectiveContext } from './context-request.js';
import { summarizeValue } from './summarize-value.js';
import { xmlAttribute, xmlJson, xmlText } from './xml.js';

const OPEN = '<workspace_context>';
const CLOSE = '</workspace_context>';
const EMPTY = `${OPEN}${CLOSE}`;

interface Shown {
  readonly text: string;
  readonly status: ContextStatus;
  readonly leftOut: number;
}

export async function selectContext(
  workspace: Workspace,
  request: ContextRequest,
): Promise<SelectiveContext> {
  const count = await loadTokenizer();
  const block = new ContextBlock(count, request);
  for (const { key, required } of keysOf(request)) {
    const entry = await workspace.read(key);
    block.add(key, required, entry, entry ? workspace.ageSeconds(entry) : 0);
  }
  return block.finish();
}

/** Each key once, in order; a key that is both is required. */
function keysOf({ dependencies }: ContextRequest): { readonly key: string; readonly required: boolean }[] {
  const required = [...new Set(dependencies.required)];
  const optional = [...new Set(dependencies.optional ?? [])].filter((key) => !required.includes(key));
  return [
    ...required.map((key) => ({ key, required: true })),
    ...optional.map((key) => ({ key, required: false })),
  ];
}

class ContextBlock {
  readonly #count: CountTokens;
  readonly #request: ContextRequest;
  readonly #total: number;
  readonly #keys: ContextKey[] = [];
  #lines: string[] = [];

  constructor(count: CountTokens, request: ContextRequest) {
    this.#count = count;
    this.#request = request;
    this.#total = request.budget?.total ?? Number.POSITIVE_INFINITY;
  }

  add(key: string, required: boolean, entry: Entry | null, ageSeconds: number): void {
    const shown = this.#shown(key, required, entry, ageSeconds);
    const fits = shown.text === '' || this.#fits(key, shown.text);
    const { text, status, leftOut } = fits ? shown : withoutText(shown);
    if (text !== '') this.#lines.push(text);
    this.#keys.push({ key, required, status, tokens: text === '' ? 0 : this.#count(text), leftOut });
  }

  #shown(key: string, required: boolean, entry: Entry | null, ageSeconds: number): Shown {
    const { dependencies, agent, maxAgeSeconds = Number.POSITIVE_INFINITY } = this.#request;
    if (dependencies.excluded?.includes(key)) return { text: '', status: 'excluded', leftOut: 0 };
    if (!entry) return { text: required ? this.#missing(key) : '', status: 'missing', leftOut: 0 };
    if (entry.writtenBy === agent) return { text: '', status: 'own', leftOut: 0 };
    if (ageSeconds > maxAgeSeconds)
      return { text: required ? this.#stale(entry, ageSeconds) : '', status: 'stale', leftOut: 0 };
    return this.#value(entry);
  }

  #value(entry: Entry): Shown {
    const { summaries = [] } = this.#request;
    const summary = { text: summaryElement(entry), status: 'summary' as const, leftOut: 0 };
    if (summaries === true || summaries.includes(entry.key)) return summary;
    const count: CountValue = (value) => this.#count(jsonText(value));
    if (isWithin(entry.value, this.#room(entry.key), count)) {
      const text = entryElement(entry, entry.value, 0);
      if (this.#fits(entry.key, text)) return { text, status: 'full', leftOut: 0 };
    }
    // What surrounds the value is taken off first; what the count of parts got wrong, in a second and third try.
    let room = this.#room(entry.key) - this.#count(entryElement(entry, null, 1));
    for (let tries = 0; tries < 3 && room > 0; tries += 1) {
      const fitted = fitValue(entry.value, room, count);
      if (!fitted) break;
      const text = entryElement(entry, fitted.value, fitted.leftOut);
      const status = fitted.leftOut > 0 ? 'truncated' : 'full';
      if (this.#fits(entry.key, text)) return { text, status, leftOut: fitted.leftOut };
      room -= Math.max(8, this.#count(text) - this.#room(entry.key));
    }
    return summary;
  }

  /** What the block may still grow by for this key. */
  #room(key: string): number {
    const perKey = Object.hasOwn(this.#request.budget?.perKey ?? {}, key)
      ? this.#request.budget!.perKey![key]!
      : this.#total;
    return Math.min(perKey, this.#total - this.#count(this.#block([])));
  }

  #fits(key: string, text: string): boolean {
    const budget = this.#request.budget?.perKey ?? {};
    if (Object.hasOwn(budget, key) && this.#count(text) > budget[key]!) return false;
    return this.#total === Number.POSITIVE_INFINITY || this.#count(this.#block([text])) <= this.#total;
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

  #block(more: readonly string[]): string {
    const lines = [...this.#lines, ...more];
    return lines.length === 0 ? EMPTY : [OPEN, ...lines, CLOSE].join('\n');
  }

  finish(): SelectiveContext {
    const text = this.#block([]);
    const unmet = this.#keys.filter(
      ({ required, status }) => required && (status === 'missing' || status === 'stale'),
    );
    return { text, tokens: this.#count(text), keys: this.#keys, unmet: unmet.map(({ key }) => key) };
  }
}

/** That a dependency is not met stays true where there is no room to say so. */
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
