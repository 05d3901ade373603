/** Makes inputs of seeds: bytes, words and lines are moved about, and in JSON also values, keys and depth. */
import type { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import type { FuzzTarget } from './fuzz-target.js';

const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udc00x',
  '\u202e',
  '\ufeff',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '../../x',
  'null',
  '1e999',
  '9007199254740993',
  '"',
  '\\',
  '\n',
  '{',
  ']',
  'a'.repeat(300),
];
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  0.1,
  [],
  {},
  [[]],
  [null],
  { type: 'text' },
  { toString: 1 },
  ...ODD_TEXTS,
];
const INPUT_MAX = 64 * 1024;
const DEPTHS = [3, 40, 70, 600];

export function inputFor({ seeds, words }: FuzzTarget, random: SeededRandom): string {
  let text = random.pick(seeds);
  // One in eight is changed as a text only; else as JSON first, where it is JSON.
  if (random.below(8) > 0) text = mutateJson(text, words, random);
  const rounds = [0, 0, 1, 1, 2, 4][random.below(6)]!;
  for (let round = 0; round < rounds; round += 1) text = mutateText(text, seeds, words, random);
  return text.slice(0, INPUT_MAX);
}

function mutateText(
  text: string,
  seeds: readonly string[],
  words: readonly string[],
  random: SeededRandom,
): string {
  const at = random.below(text.length + 1);
  const end = Math.min(text.length, at + 1 + random.below(random.below(4) === 0 ? 200 : 8));
  switch (random.below(8)) {
    case 0:
      return text.slice(0, at) + text.slice(end);
    case 1:
      return text.slice(0, at);
    case 2:
      return text.slice(0, end) + text.slice(at);
    case 3:
      return text.slice(0, at) + random.pick(ODD_TEXTS) + text.slice(at);
    case 4:
      return text.slice(0, at) + random.pick(words) + text.slice(end);
    case 5:
      return (
        text.slice(0, at) +
        String.fromCharCode(random.below(random.below(2) === 0 ? 128 : 65_536)) +
        text.slice(at + 1)
      );
    case 6: {
      const other = random.pick(seeds);
      return text.slice(0, at) + other.slice(random.below(other.length + 1));
    }
    default: {
      const lines = text.split('\n');
      const line = random.below(lines.length);
      const taken = lines.splice(line, 1);
      lines.splice(random.below(lines.length + 1), 0, ...taken, ...(random.below(2) === 0 ? taken : []));
      return lines.join('\n');
    }
  }
}

/** Of lines, one of them is changed. */
function mutateJson(text: string, words: readonly string[], random: SeededRandom): string {
  const whole = parsed(text);
  if (whole !== undefined) return JSON.stringify(changed(whole, words, random)) ?? '';
  const lines = text.split('\n');
  if (lines.length < 2) return text;
  const index = random.below(lines.length);
  const line = parsed(lines[index]!);
  if (line !== undefined) lines[index] = JSON.stringify(changed(line, words, random)) ?? '';
  return lines.join('\n');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Place {
  readonly holder: object;
  readonly key: string;
}

function changed(value: unknown, words: readonly string[], random: SeededRandom): unknown {
  const places: Place[] = [];
  const walk = (node: unknown, depth: number): void => {
    if (typeof node !== 'object' || node === null || depth > 50 || places.length > 3_000) return;
    for (const [key, inner] of Object.entries(node)) {
      places.push({ holder: node, key });
      walk(inner, depth + 1);
    }
  };
  walk(value, 0);
  if (places.length === 0) return oddValue(words, random);
  const changes = 1 + random.below(3);
  for (let count = 0; count < changes; count += 1)
    changeAt(random.pick(places), random.pick(places), words, random);
  return random.below(200) === 0 ? deep(value, random) : value;
}

function changeAt(
  { holder, key }: Place,
  other: Place,
  words: readonly string[],
  random: SeededRandom,
): void {
  const target = holder as Record<string, unknown>;
  switch (random.below(7)) {
    case 0:
      if (Array.isArray(holder)) holder.pop();
      else delete target[key];
      return;
    case 1:
    case 2:
      own(target, key, oddValue(words, random));
      return;
    case 3:
      own(target, random.below(2) === 0 ? random.pick(ODD_TEXTS) : random.pick(words), target[key]);
      return;
    case 4:
      own(target, key, copied((other.holder as Record<string, unknown>)[other.key]));
      return;
    case 5:
      if (Array.isArray(holder)) holder.push(copied(target[key]));
      else own(target, key, [target[key]]);
      return;
    default:
      own(
        target,
        key,
        typeof target[key] === 'string'
          ? `${target[key]}${random.pick(ODD_TEXTS)}`
          : `${JSON.stringify(target[key])}`,
      );
  }
}

/** Of a holder that holds itself by now, nothing. */
function copied(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined || text.length > INPUT_MAX ? null : JSON.parse(text);
}

function own(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function oddValue(words: readonly string[], random: SeededRandom): unknown {
  const kind = random.below(8);
  if (kind === 0) return random.pick(words);
  if (kind === 1) return { [random.pick(words)]: random.pick(ODD_VALUES) };
  if (kind === 2) return [random.pick(ODD_VALUES), random.pick(words)];
  return structuredClone(random.pick(ODD_VALUES));
}

function deep(value: unknown, random: SeededRandom): unknown {
  let whole = value;
  const depth = random.pick(DEPTHS);
  const inList = random.below(2) === 0;
  for (let level = 0; level < depth; level += 1) whole = inList ? [whole] : { a: whole };
  return whole;
}
