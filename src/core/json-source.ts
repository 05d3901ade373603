/**
 * Finds the line and column of a value in a JSON text, for people who edit files. The parser is strict: no comments and
 * no trailing commas. A duplicate key is an error, because readers differ about which of the two values counts.
 */
import type { DocumentNode, MemberNode, ValueNode } from '@humanwhocodes/momoa';
import { messageOf } from './errors.js';
import type { JsonValue } from './json.js';

export interface TextPosition {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

export interface JsonTextProblem extends TextPosition {
  readonly message: string;
}

export type ParsedText =
  | { readonly value: JsonValue; readonly problem: null; positionOf(pointer: string): TextPosition }
  | { readonly value: null; readonly problem: JsonTextProblem };

const TOO_DEEP = 'It is nested too deeply to be read.';
const START: TextPosition = { line: 1, column: 1 };

/** An array index as RFC 6901 defines it. */
const INDEX = /^(0|[1-9]\d*)$/;

/** Loads the parser with positions on first use: it is needed only when a person edits a file. */
export async function parseJsonText(given: string): Promise<ParsedText> {
  const { parse } = await import('@humanwhocodes/momoa');
  const text = given.replace(/^\ufeff/, '');
  let tree: DocumentNode;
  let value: JsonValue;
  try {
    tree = parse(text, { mode: 'json' });
  } catch (thrown) {
    return { value: null, problem: earlyEnd(text) ?? problemOf(thrown) };
  }
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (thrown) {
    return { value: null, problem: { message: withoutPlace(messageOf(thrown)), ...placeOf(text, thrown) } };
  }
  const twice = findDuplicate(tree.body);
  if (twice) return { value: null, problem: twice };
  return { value, problem: null, positionOf: (pointer) => positionIn(tree.body, pointer) };
}

/** The position of the value, or of its nearest existing container. */
function positionIn(root: ValueNode, pointer: string): TextPosition {
  let node = root;
  const tokens = pointer.split('/').slice(1);
  for (const token of tokens.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    const next = child(node, token);
    if (!next) break;
    node = next;
  }
  return node.loc ? { line: node.loc.start.line, column: node.loc.start.column } : START;
}

function child(node: ValueNode, token: string): ValueNode | undefined {
  if (node.type === 'Array') return INDEX.test(token) ? node.elements[Number(token)]?.value : undefined;
  if (node.type !== 'Object') return undefined;
  return node.members.find((member) => nameOf(member) === token)?.value;
}

/** The first duplicate key in the text. */
function findDuplicate(root: ValueNode): JsonTextProblem | null {
  let first: MemberNode | null = null;
  const open: ValueNode[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    // Push one element at a time: a list may have more items than a call may have arguments.
    if (node.type === 'Array') for (const element of node.elements) open.push(element.value);
    if (node.type !== 'Object') continue;
    const seen = new Set<string>();
    for (const member of node.members) {
      const isTwice = seen.has(nameOf(member));
      if (isTwice && (!first || member.loc.start.offset < first.loc.start.offset)) first = member;
      seen.add(nameOf(member));
      open.push(member.value);
    }
  }
  if (!first) return null;
  const { line, column } = first.loc.start;
  return { message: `The key ${JSON.stringify(nameOf(first))} stands here a second time.`, line, column };
}

function nameOf(member: { readonly name: { readonly type: string } }): string {
  const { name } = member as { readonly name: { readonly value?: string; readonly name?: string } };
  return name.value ?? name.name ?? '';
}

function problemOf(thrown: unknown): JsonTextProblem {
  const { line = 1, column = 1 } = thrown as Partial<TextPosition>;
  // The parser recurses for each level. A text that is too deep for it fails here, without a position.
  const message = thrown instanceof RangeError ? TOO_DEEP : withoutPlace(messageOf(thrown));
  return { message, line, column };
}

/** For a text that ends too early the parser reports the last part or the first line; `JSON.parse` is more accurate. */
function earlyEnd(text: string): JsonTextProblem | null {
  try {
    JSON.parse(text);
  } catch (thrown) {
    const isEarly = /end of JSON input/.test(messageOf(thrown)) || positionOf(thrown) === text.length;
    if (isEarly) return { message: 'The text ends too early.', ...placeAt(text, text.length) };
  }
  return null;
}

/** The position of an error that only `JSON.parse` reports. */
function placeOf(text: string, thrown: unknown): TextPosition {
  return placeAt(text, positionOf(thrown) ?? 0);
}

function positionOf(thrown: unknown): number | null {
  const position = /position (\d+)/.exec(messageOf(thrown))?.[1];
  return position === undefined ? null : Number(position);
}

function placeAt(text: string, position: number): TextPosition {
  const before = text.slice(0, position).split(/\r\n|\r|\n/);
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

function withoutPlace(message: string): string {
  return message.replace(/ (?:in JSON )?at position \d+.*$/s, '.').replace(/ \(\d+:\d+\)$/, '');
}
