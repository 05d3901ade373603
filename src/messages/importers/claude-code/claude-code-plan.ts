/**
 * Decides which records are read, and in which order. The path comes first. Results of its calls belong to the
 * conversation wherever they are in the tree: parallel calls and progress events fork the chain.
 */
import { type AnswerLines, gatherAnswers } from './claude-code-answers.js';
import type { SessionIndex } from './claude-code-index.js';
import { RECORD_KIND } from './claude-code-record.js';

export interface ReadingPlan {
  /** Entries in reading order. An answer of several lines is represented by its first one. */
  order(): Iterable<number>;
  /** All lines of an answer, in file order. */
  linesOf(first: number): readonly number[];
  /** Whether the entry is read. */
  has(entry: number): boolean;
}

type IsMain = (entry: number) => boolean;

export function planReading(index: SessionIndex, path: Int32Array, isMain: IsMain): ReadingPlan {
  const answers = gatherAnswers(index, path, isMain);
  const trail = new PathTrail(index, path, answers);
  const wanted = new Uint8Array(index.size);
  for (const entry of path) wanted[entry] = 1;
  for (const entry of strayResults(index, path, answers, isMain)) {
    trail.insertResult(entry);
    wanted[entry] = 1;
  }
  for (const entry of queuedPrompts(index)) {
    trail.insertPrompt(entry);
    wanted[entry] = 1;
  }
  return {
    order: () => trail.order(),
    linesOf: (first) => answers.linesOf(first),
    has: (entry) => wanted[entry] === 1 || answers.firstOf(entry) >= 0,
  };
}

/** Results off the path that answer a call without a result on the path; the first result for each call. */
function* strayResults(
  index: SessionIndex,
  path: Int32Array,
  answers: AnswerLines,
  isMain: IsMain,
): Generator<number> {
  const open = new Uint8Array(index.calls.size);
  const onPath = new Uint8Array(index.size);
  for (let entry = 0; entry < index.size; entry += 1) {
    if (answers.firstOf(entry) >= 0) for (const call of index.callsOf(entry)) open[call] = 1;
  }
  for (const entry of path) {
    onPath[entry] = 1;
    if (index.kindOf(entry) !== RECORD_KIND.answer) for (const call of index.callsOf(entry)) open[call] = 0;
  }
  for (let entry = 0; entry < index.size; entry += 1) {
    if (index.kindOf(entry) !== RECORD_KIND.results || onPath[entry] === 1 || !isMain(entry)) continue;
    const calls = index.callsOf(entry);
    if (!calls.some((call) => open[call] === 1)) continue;
    for (const call of calls) open[call] = 0;
    yield entry;
  }
}

function* queuedPrompts(index: SessionIndex): Generator<number> {
  for (let entry = 0; entry < index.size; entry += 1) {
    if (index.kindOf(entry) === RECORD_KIND.queueOperation) yield entry;
  }
}

/** The path, and the entries to insert before its positions. */
class PathTrail {
  readonly #index: SessionIndex;
  readonly #path: Int32Array;
  readonly #answers: AnswerLines;
  /** Highest entry up to each position. Never decreases, so it can be searched. */
  readonly #reached: Int32Array;
  /** Position of the answer that holds each call. */
  readonly #calledAt: Int32Array;
  /** From each position, the start of the next prompt or answer. */
  #nextStep: Int32Array | undefined;
  readonly #inserted = new Map<number, number[]>();

  constructor(index: SessionIndex, path: Int32Array, answers: AnswerLines) {
    this.#index = index;
    this.#path = path;
    this.#answers = answers;
    this.#reached = path.slice();
    this.#calledAt = new Int32Array(index.calls.size).fill(-1);
    for (const [position, entry] of path.entries()) {
      if (position > 0) this.#reached[position] = Math.max(entry, this.#reached[position - 1]!);
      if (answers.firstOf(entry) !== entry) continue;
      for (const line of answers.linesOf(entry))
        for (const call of index.callsOf(line)) this.#calledAt[call] = position;
    }
  }

  /** Inserted in file order, but after the answer with its call. */
  insertResult(entry: number): void {
    let called = -1;
    for (const call of this.#index.callsOf(entry)) called = Math.max(called, this.#calledAt[call]!);
    this.#insert(Math.max(called + 1, this.#positionAfter(entry)), entry);
  }

  /** Inserted before the first answer that could have seen it: calls and their results stay together. */
  insertPrompt(entry: number): void {
    this.#nextStep ??= this.#nextSteps();
    this.#insert(this.#nextStep[this.#positionAfter(entry)]!, entry);
  }

  *order(): Generator<number> {
    for (const [position, entry] of this.#path.entries()) {
      yield* this.#inserted.get(position) ?? [];
      const first = this.#answers.firstOf(entry);
      if (first < 0 || first === entry) yield entry;
    }
    yield* this.#inserted.get(this.#path.length) ?? [];
  }

  #nextSteps(): Int32Array {
    const path = this.#path;
    const steps = new Int32Array(path.length + 1).fill(path.length);
    for (let at = path.length - 1; at >= 0; at -= 1)
      steps[at] = this.#beginsStep(path[at]!) ? at : steps[at + 1]!;
    return steps;
  }

  #beginsStep(entry: number): boolean {
    const kind = this.#index.kindOf(entry);
    return kind === RECORD_KIND.prompt || this.#answers.firstOf(entry) === entry;
  }

  #insert(position: number, entry: number): void {
    const known = this.#inserted.get(position);
    if (known) known.push(entry);
    else this.#inserted.set(position, [entry]);
  }

  /** First position whose entry comes later in the file. */
  #positionAfter(entry: number): number {
    let low = 0;
    let high = this.#path.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#reached[middle]! > entry) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
