/**
 * Where in a JSON text something stands: for people who edit files. Reads strictly: no comments, no trailing commas, and a key
 * that stands twice in one object is an error, because readers differ about which of the two counts.
 */
import type { DocumentNode, ValueNode } from '@humanwhocodes/momoa';
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

const START: TextPosition = { line: 1, column: 1 };

/** The parser with positions is loaded here: it is needed only when a person was at work. */
export async function parseJsonText(given: string): Promise<ParsedText> {
  const { parse } = await import('@humanwhocodes/momoa');
  const text = given.replace(/^\ufeff/, '');
  let tree: DocumentNode;
  let value: JsonValue;
  try {
    tree = parse(text, { mode: 'json' });
  } catch (thrown) {
    const { line = 1, column = 1 } = thrown as Partial<TextPosition>;
    return { value: null, problem: { message: withoutPlace(messageOf(thrown)), line, column } };
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

/** The place of the value, or of what holds it where it is not there. */
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
  if (node.type === 'Array') return node.elements[Number(token)]?.value;
  if (node.type !== 'Object') return undefined;
  return node.members.find((member) => nameOf(member) === token)?.value;
}

function findDuplicate(root: ValueNode): JsonTextProblem | null {
  const open: ValueNode[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'Array') open.push(...node.elements.map((element) => element.value));
    if (node.type !== 'Object') continue;
    const seen = new Set<string>();
    for (const member of node.members) {
      const name = nameOf(member);
      if (seen.has(name)) {
        const { line, column } = member.loc.start;
        return { message: `The key ${JSON.stringify(name)} stands here a second time.`, line, column };
      }
      seen.add(name);
      open.push(member.value);
    }
  }
  return null;
}

function nameOf(member: { readonly name: { readonly type: string } }): string {
  const { name } = member as { readonly name: { readonly value?: string; readonly name?: string } };
  return name.value ?? name.name ?? '';
}

/** What only `JSON.parse` refuses: it tells a position, or the line and column. */
function placeOf(text: string, thrown: unknown): TextPosition {
  const position = Number(/position (\d+)/.exec(messageOf(thrown))?.[1] ?? 0);
  const before = text.slice(0, position).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

function withoutPlace(message: string): string {
  return message.replace(/ (?:in JSON )?at position \d+.*$/s, '.').replace(/ \(\d+:\d+\)$/, '');
}
