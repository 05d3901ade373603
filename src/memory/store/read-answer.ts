/** Reads a streamed answer from any place, by many readers, also while it is being written. Takes no lease and writes nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RekindleError } from '../../core/errors.js';
import { type JsonObject, textOr } from '../../core/json.js';
import type { Journal, StorageBackend } from '../../storage/ports.js';
import { assertAgentExists } from '../open-memory.js';
import { recentTraces } from './recent-traces.js';

/** Pauses between looks, in milliseconds. */
const LOOK_MS = { writing: 50, otherwise: 250 } as const;

/** One part of a streamed answer. */
export interface StoredPart {
  /** Its number. Parts of later answers have higher ones. */
  readonly seq: number;
  readonly messageId: string;
  readonly turnId: string;
  readonly text: string;
  readonly reasoning: string;
  /** Discard what this answer said before. */
  readonly discards: boolean;
}

/**
 * `none`: nothing was streamed that is still stored. `writing`: the answer is not complete. `recorded`: the context has it. `cut_off`: its
 * process is gone; the next start records it as far as it is stored.
 */
export type AnswerState = 'none' | 'writing' | 'recorded' | 'cut_off';

/** What there is of a streamed answer, from a place on. */
export interface AnswerReading {
  readonly parts: readonly StoredPart[];
  /** Where to read on: pass it as `after`. */
  readonly next: number;
  /** Of the answer that was begun last. */
  readonly state: AnswerState;
  /** Of that answer; null if there is none. */
  readonly messageId: string | null;
}

/** Options of `readAnswer`. */
export interface ReadAnswerOptions {
  /** Only parts with higher numbers. Default: the answer that was begun last, from its beginning. */
  readonly after?: number;
  /** Milliseconds to wait for a part or for the end of the answer, if there is nothing new. Default 0. */
  readonly waitMs?: number;
  /** Ends the wait: what is there is returned. */
  readonly signal?: AbortSignal;
}

/**
 * Reads a streamed answer from a place on. Any number of readers may do so while the agent writes it, in this or another process. Takes
 * no lease and writes nothing.
 * ```ts
 * let { parts, next, state } = await readAnswer(storage, 'support-42');
 * while (state === 'writing') ({ parts, next, state } = await readAnswer(storage, 'support-42', { after: next, waitMs: 5_000 }));
 * ```
 * @throws AGENT_NOT_FOUND, INVALID_ARGUMENT for a negative or fractional `after` or `waitMs`
 */
export async function readAnswer(
  backend: StorageBackend,
  agentId: string,
  options: ReadAnswerOptions = {},
): Promise<AnswerReading> {
  const { after = 0, waitMs = 0, signal } = options;
  for (const [name, value] of Object.entries({ after, waitMs })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new RekindleError('INVALID_ARGUMENT', `${name} must be a whole number from 0 on.`, {
      details: { argument: name },
    });
  }
  await assertAgentExists(backend, agentId);
  const open = (name: string) =>
    backend.openJournal<JsonObject>(['agents', agentId, name], { readOnly: true });
  const [journal, traces] = await Promise.all([open('answer_parts'), open('raw_traces')]);
  try {
    const until = performance.now() + waitMs;
    let found = NOTHING;
    while (true) {
      let state: AnswerState;
      ({ found, state } = await look({ backend, agentId, journal, traces }, after, found));
      const reading = readingOf(found, state, after);
      const left = until - performance.now();
      const isNews = reading.parts.length > 0 || (after > 0 && isOver(reading.state));
      if (isNews || left <= 0 || signal?.aborted) return reading;
      const pause = reading.state === 'writing' ? LOOK_MS.writing : LOOK_MS.otherwise;
      await sleep(Math.min(pause, left), undefined, signal ? { signal } : {}).catch(() => {}); // the wait ends
    }
  } finally {
    await Promise.all([journal.close(), traces.close()]);
  }
}

function isOver(state: AnswerState): boolean {
  return state === 'recorded' || state === 'cut_off';
}

interface Place {
  readonly backend: StorageBackend;
  readonly agentId: string;
  readonly journal: Journal<JsonObject>;
  readonly traces: Journal<JsonObject>;
}

/** An answer that is over is read again: the last parts may have been written between the two looks. */
async function look(
  place: Place,
  after: number,
  seen: FoundParts,
): Promise<{ readonly found: FoundParts; readonly state: AnswerState }> {
  let found = await partsAfter(place.journal, after, seen);
  while (found.first !== null) {
    const { first } = found;
    const state = await stateOf(place, first.after);
    if (!isOver(state)) return { found, state };
    found = await partsAfter(place.journal, after, found);
    if (found.first?.messageId === first.messageId) return { found, state };
  }
  return { found, state: 'none' };
}

function readingOf({ first, parts }: FoundParts, state: AnswerState, after: number): AnswerReading {
  return { parts, next: parts.at(-1)?.seq ?? after, state, messageId: first?.messageId ?? null };
}

interface FoundParts {
  /** Where the answer began that was begun last; null if no part is stored. */
  readonly first: { readonly messageId: string; readonly after: number } | null;
  readonly parts: readonly StoredPart[];
  /** Records up to this number were read. */
  readonly head: number;
}

const NOTHING: FoundParts = { first: null, parts: [], head: 0 };

/** All parts after a number; for 0, those of the answer that was begun last. Reads only what was added since the look before. */
async function partsAfter(
  journal: Journal<JsonObject>,
  after: number,
  seen: FoundParts,
): Promise<FoundParts> {
  const parts: StoredPart[] = [];
  let first: FoundParts['first'] = null;
  let { head } = seen;
  for await (const entry of journal.readBackward()) {
    if (entry.kind !== 'record') continue;
    const { seq, record } = entry;
    if (seq <= seen.head) break;
    head = Math.max(head, seq);
    if (seq > after && (after > 0 || first === null)) parts.push(partOf(seq, record));
    if (first === null && typeof record['after'] === 'number')
      first = { messageId: textOr(record['message_id']), after: record['after'] };
    if (first !== null && (after === 0 || seq <= after)) break;
  }
  const isNewest = after === 0 && first !== null;
  return { first: first ?? seen.first, parts: [...(isNewest ? [] : seen.parts), ...parts.reverse()], head };
}

function partOf(seq: number, record: JsonObject): StoredPart {
  return {
    seq,
    messageId: textOr(record['message_id']),
    turnId: textOr(record['turn_id']),
    text: textOr(record['text']),
    reasoning: textOr(record['reasoning']),
    discards: record['discarded'] === true || record['replaces'] === true,
  };
}

/** The traces are read before the lease: a process that ends between the two has not written since. */
async function stateOf({ backend, agentId, traces }: Place, after: number): Promise<AnswerState> {
  const isRecorded = async () => (await recentTraces(traces)).lastMessage > after;
  if (await isRecorded()) return 'recorded';
  const holder = await backend.leases.inspect(['agents', agentId]);
  if (holder?.alive) return 'writing';
  return (await isRecorded()) ? 'recorded' : 'cut_off';
}
