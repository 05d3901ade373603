/** Groups the lines of each answer: one model answer is written as many records that share its id. */
import type { SessionIndex } from './claude-code-index.js';
import { RECORD_KIND } from './claude-code-record.js';

export interface AnswerLines {
  /** First line, on the active path, of the answer that the entry belongs to; -1 if the entry is not part of the conversation. */
  firstOf(entry: number): number;
  /** All lines, in file order. */
  linesOf(first: number): readonly number[];
}

/** Lines off the path can belong to an answer too: the results of parallel calls fork the chain between them. */
export function gatherAnswers(
  index: SessionIndex,
  path: Int32Array,
  isMain: (entry: number) => boolean,
): AnswerLines {
  const { firsts, lastOfMessage } = answersOnPath(index, path);
  // Linked lists of entries in two arrays: hundreds of thousands of small arrays would take too much memory.
  const heads = new Int32Array(index.size).fill(-1);
  const next = new Int32Array(index.size).fill(-1);
  for (let entry = index.size - 1; entry >= 0; entry -= 1) {
    if (index.kindOf(entry) !== RECORD_KIND.answer || !isMain(entry)) continue;
    const first = firsts[entry]! >= 0 ? firsts[entry]! : (lastOfMessage[index.messageOf(entry)] ?? -1);
    firsts[entry] = first;
    if (first < 0) continue;
    next[entry] = heads[first]!;
    heads[first] = entry;
  }
  return { firstOf: (entry) => firsts[entry] ?? -1, linesOf: (first) => listFrom(heads[first] ?? -1, next) };
}

function listFrom(head: number, next: Int32Array): number[] {
  const entries: number[] = [];
  for (let at = head; at >= 0; at = next[at]!) entries.push(at);
  return entries;
}

interface PathAnswers {
  readonly firsts: Int32Array;
  readonly lastOfMessage: Int32Array;
}

/** An id is valid between two compactions only: kept messages are written again under their old ids. */
function answersOnPath(index: SessionIndex, path: Int32Array): PathAnswers {
  const firsts = new Int32Array(index.size).fill(-1);
  const lastOfMessage = new Int32Array(index.messages.size).fill(-1);
  let stretchStart = 0;
  const position = new Int32Array(index.size).fill(-1);
  for (const [at, entry] of path.entries()) {
    position[entry] = at;
    const kind = index.kindOf(entry);
    if (kind === RECORD_KIND.compaction || kind === RECORD_KIND.summary) stretchStart = at;
    if (kind !== RECORD_KIND.answer) continue;
    const message = index.messageOf(entry);
    const known = lastOfMessage[message] ?? -1;
    const first = known >= 0 && position[known]! >= stretchStart ? known : entry;
    firsts[entry] = first;
    if (message >= 0) lastOfMessage[message] = first;
  }
  return { firsts, lastOfMessage };
}
