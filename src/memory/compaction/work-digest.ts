/**
 * A digest of the work in a part of a conversation: files read and changed, commands with their outcome, errors that no
 * later call resolved, the plan, and names that may be needed again. Deterministic, offline, one pass.
 *
 * Paths, commands, identifiers and numbers appear whole or not at all. Items that do not fit are counted.
 */
import { isJsonObject, type JsonValue } from '../../core/json.js';
import {
  type Message,
  resultText,
  type ToolCallSpec,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';
import type { SummarizerOptions } from './summarizer.js';

const PATH_KEYS =
  /^(path|file|file_?path|file_?name|target_?file|notebook_?path|uri|url|dir|directory|cwd)$/i;
const COMMAND_KEYS = /^(command|cmd|script)$/i;
const CHANGES = /write|edit|create|patch|replace|insert|append|delete|remove|rename|move|mkdir|save/i;
const PLANS = /todo|plan/i;
/** Lines of a patch that name the changed file. */
const PATCHED = /^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b\/)?)(\S+)/gm;
const EXIT_CODE = /exit[ _-]?code["']?\s*[:=]?\s*(\d+)/i;
/** Words that may be names; `isName` decides. */
const WORD = /#\d+|[\w@./-]+/g;
const SHAPES_OF_NAMES = [
  /^[\w@.-]*\/[\w@./-]*\w$/, // a path
  /^[\w-]+\.[a-z]\w{0,4}$/, // a file name
  /^[A-Za-z]\w*[a-z][A-Z]\w*$/, // camel case
  /^[A-Za-z]\w*_\w+$/, // snake case
  /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.[a-z_]*[A-Z]\w*$/, // a member of something
  /^[A-Za-z][\w-]*\d[\w-]*$/, // with digits
  /^[0-9a-f]{7,40}$/, // a hash
  /^#\d+$/, // the number of an issue
];
const LINE_BREAKS = /[\s\u2028\u2029]+/g;
const NAME_CHARS_MIN = 4;
const NAME_CHARS_MAX = 160;
const COMMAND_CHARS_MAX = 200;
const OUTCOME_CHARS = 100;
const PLAN_CHARS = 600;
/** Characters of one message that are searched for names. */
const SEARCHED_CHARS = 20_000;

/** Shares of the space, most important first. Unused space of a section goes to the next. */
const SECTIONS: readonly Section[] = [
  { key: 'failed', label: 'Failed and not resolved', share: 0.15, isList: false },
  { key: 'plan', label: 'Plan', share: 0.2, isList: false },
  { key: 'changed', label: 'Files changed', share: 0.25, isList: true },
  { key: 'ran', label: 'Commands', share: 0.4, isList: false },
  { key: 'read', label: 'Files read', share: 0.4, isList: true },
  { key: 'names', label: 'Names', share: 1, isList: true },
];

interface Section {
  readonly key: keyof WorkDone;
  readonly label: string;
  readonly share: number;
  /** Its items contain no `; `. */
  readonly isList: boolean;
}

interface WorkDone {
  readonly failed: readonly string[];
  readonly plan: readonly string[];
  readonly changed: readonly string[];
  readonly ran: readonly string[];
  readonly read: readonly string[];
  readonly names: readonly string[];
}

/** What stays in the context besides the digest: names in it are not repeated. */
type SaidElsewhere = Pick<SummarizerOptions, 'stays' | 'shortened' | 'previous'>;

/** The labels in order; a model's summary is asked for them too. */
export const WORK_LABELS: readonly string[] = SECTIONS.map(({ label }) => label);

/** Sections that must be complete. */
const MUST_KEEP: ReadonlySet<keyof WorkDone> = new Set(['failed', 'plan', 'changed']);

/** What a summary must contain, by section: open errors, the plan, changed files. */
export function workThatMustStay(
  messages: readonly Message[],
): { label: string; items: readonly string[] }[] {
  const work = workDone(messages, [], new NameCount());
  return SECTIONS.filter(({ key }) => MUST_KEEP.has(key)).map(({ key, label }) => ({
    label,
    items: work[key],
  }));
}

/** Whether a line of a summary has one of these labels. */
export function isWorkLine(line: string): boolean {
  return SECTIONS.some(({ label }) => line.startsWith(`${label}: `));
}

/**
 * Lines of a digest with fewer items. A command, a plan or an error is kept or dropped whole: it may contain the item
 * separator.
 */
export function shortenWork(lines: readonly string[], maxChars: number): string[] {
  const shorter: string[] = [];
  let room = maxChars;
  for (const { label, share, isList } of SECTIONS) {
    const line = lines.find((one) => one.startsWith(`${label}: `));
    const [, text = '', left = 0] =
      /^(.*?)(?: \((\d+) more left out\))?$/.exec(line?.slice(label.length + 2) ?? '') ?? [];
    const items = isList ? text.split('; ') : [text];
    const fitted = text === '' ? null : sectionLine(label, items, Math.floor(room * share), Number(left));
    if (fitted === null) continue;
    shorter.push(fitted);
    room -= fitted.length + 1;
  }
  return shorter;
}

/** Lines with at most `maxChars` characters in total; empty if there was nothing for any section. */
export function workDigest(
  messages: readonly Message[],
  maxChars: number,
  { stays = [], previous = [], shortened = [] }: SaidElsewhere = {},
): string[] {
  const said = new NameCount();
  for (const message of stays) said.addMessage(message);
  for (const summary of previous) said.add(summary, 1);
  const work = workDone(messages, shortened, said);
  const lines: string[] = [];
  let room = maxChars;
  for (const { key, label, share } of SECTIONS) {
    const line = sectionLine(label, work[key], Math.floor(room * share));
    if (line === null) continue;
    lines.push(line);
    room -= line.length + 1;
  }
  return lines;
}

/** The newest items that fit, oldest first. Null if none does. */
export function sectionLine(
  label: string,
  items: readonly string[],
  maxChars: number,
  leftBefore = 0,
): string | null {
  const taken: string[] = [];
  let room = maxChars - label.length - 24; // space for the count of omitted items
  for (const given of [...items].reverse()) {
    const item = given.replace(LINE_BREAKS, ' '); // an item must not start a new line
    if (item.length + 2 > room) continue;
    room -= item.length + 2;
    taken.push(item);
  }
  if (taken.length === 0) return null;
  const left = leftBefore + items.length - taken.length;
  return `${label}: ${taken.reverse().join('; ')}${left > 0 ? ` (${left} more left out)` : ''}`;
}

function workDone(messages: readonly Message[], shortened: readonly Message[], said: NameCount): WorkDone {
  const calls = new Map<string, ToolCallSpec>();
  const files = { changed: new Set<string>(), read: new Set<string>() };
  const ran = new Map<string, string>();
  const failed = new Map<string, string>();
  const names = new NameCount();
  let plan: string[] = [];
  for (const message of messages) {
    names.add(textOf(message), 1);
    for (const call of toolCallsOf(message)) {
      calls.set(call.id, call);
      names.add(JSON.stringify(call.arguments), 3);
      if (PLANS.test(call.name)) plan = [excerpt(textOfValue(call.arguments), PLAN_CHARS)];
    }
    const result = toolResultOf(message);
    const call = result ? calls.get(result.toolCallId) : undefined;
    if (!result || !call) continue;
    const text = resultText(result);
    names.add(text.slice(0, SEARCHED_CHARS), 1);
    const isFailed = result.toolError !== null || (EXIT_CODE.exec(text)?.[1] ?? '0') !== '0';
    const paths = pathsOf(call);
    const command = commandOf(call);
    const target = `${call.name} ${command ?? paths[0] ?? ''}`.trim();
    if (isFailed) renew(failed, target, `${target}: ${firstLine(text)}`);
    else failed.delete(target);
    if (command !== null) renew(ran, command, `${command} -> ${isFailed ? 'failed: ' : ''}${outcome(text)}`);
    if (isFailed) continue;
    for (const path of paths) {
      const list = CHANGES.test(call.name) ? files.changed : files.read;
      list.delete(path); // only its newest occurrence counts
      list.add(path);
    }
  }
  for (const message of shortened) names.addMessage(message);
  const changed = [...files.changed];
  return {
    failed: [...failed.values()],
    plan,
    changed,
    ran: [...ran.values()],
    read: [...files.read].filter((path) => !files.changed.has(path)),
    names: names.ranked(new Set([...changed, ...files.read, ...said.names()])),
  };
}

/** Sets the entry as the newest. */
function renew(map: Map<string, string>, key: string, value: string): void {
  map.delete(key);
  map.set(key, value);
}

function pathsOf({ arguments: args }: ToolCallSpec): string[] {
  if (!isJsonObject(args)) return [];
  const paths: string[] = [];
  for (const [key, value] of Object.entries(args)) {
    if (typeof value !== 'string') continue;
    if (PATH_KEYS.test(key) && value.length <= NAME_CHARS_MAX && value !== '') paths.push(value);
    else for (const [, path] of value.matchAll(PATCHED)) paths.push(path!);
  }
  return paths;
}

/** Null for a call that is not a command, or a command that is too long to be shown whole. */
function commandOf({ arguments: args }: ToolCallSpec): string | null {
  if (!isJsonObject(args)) return null;
  const found = Object.entries(args).find(([key]) => COMMAND_KEYS.test(key))?.[1];
  const words = Array.isArray(found) ? found.filter((word) => typeof word === 'string').join(' ') : found;
  if (typeof words !== 'string') return null;
  const line = words.replace(/\s+/g, ' ').trim();
  return line === '' || line.length > COMMAND_CHARS_MAX ? null : line;
}

function outcome(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.length === 0 ? 'no output' : excerpt(lines.at(-1)!, OUTCOME_CHARS);
}

function firstLine(text: string): string {
  return excerpt(text.split('\n').find((line) => line.trim() !== '') ?? '', OUTCOME_CHARS);
}

/** One line that ends between words. */
function excerpt(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= max) return line;
  const space = line.lastIndexOf(' ', max);
  return space > 0 ? `${line.slice(0, space)} ...` : `(${line.length} characters)`;
}

function textOfValue(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isName(word: string): boolean {
  if (word.length < NAME_CHARS_MIN || word.length > NAME_CHARS_MAX) return word.startsWith('#');
  return SHAPES_OF_NAMES.some((shape) => shape.test(word));
}

/** Ranks names by frequency (in calls three times as much) and by recency. */
class NameCount {
  readonly #weights = new Map<string, { weight: number; last: number }>();
  #place = 0;

  add(text: string, weight: number): void {
    this.#place += 1;
    for (const [word] of text.slice(0, SEARCHED_CHARS).matchAll(WORD)) {
      const name = word.replace(/^-+|[./-]+$/g, '');
      if (!isName(name)) continue;
      const known = this.#weights.get(name);
      if (known) {
        known.weight += weight;
        known.last = this.#place;
      } else this.#weights.set(name, { weight, last: this.#place });
    }
  }

  addMessage(message: Message): void {
    this.add(textOf(message), 1);
    for (const call of toolCallsOf(message)) this.add(JSON.stringify(call.arguments), 3);
    const result = toolResultOf(message);
    if (result) this.add(resultText(result), 1);
  }

  names(): Iterable<string> {
    return this.#weights.keys();
  }

  /** The highest last, because a section takes its last items first. */
  ranked(without: ReadonlySet<string>): string[] {
    const scored = [...this.#weights].filter(([name]) => !without.has(name));
    const scoreOf = ({ weight, last }: { weight: number; last: number }) =>
      Math.log2(1 + weight) + (2 * last) / Math.max(1, this.#place);
    return scored.sort(([, a], [, b]) => scoreOf(a) - scoreOf(b)).map(([name]) => name);
  }
}
