/** Ready-made plans of faults; see `faultyStorage`. */
import { type ErrorCode, RekindleError } from '../../core/errors.js';
import { SeededRandom } from '../simulated/seeded-random.js';
import type { FaultPlan, StorageCall, StorageFault } from './storage-fault.js';

/** Everything is carried out. */
export const noFaults: FaultPlan = () => null;

/** The call with this number fails and is not carried out; all others are carried out. */
export function failAt(number: number, code: ErrorCode = 'STORAGE_FAILED'): FaultPlan {
  return (call) => (call.number === number ? fail(call, code) : null);
}

/** The call with this number is carried out, but its caller is told `JOURNAL_OUTCOME_UNKNOWN` (an append) or `STORAGE_UNAVAILABLE`. */
export function loseAnswerAt(number: number): FaultPlan {
  return (call) => {
    if (call.number !== number) return null;
    const code = call.operation === 'journal.append' ? 'JOURNAL_OUTCOME_UNKNOWN' : 'STORAGE_UNAVAILABLE';
    return { kind: 'lose-answer', error: errorFor(call, code, 'was made to lose its answer') };
  };
}

/** Each call fails with this probability, from 0 to 1. The same calls in the same order fail in the same places for one seed. */
export function failEvery(share: number, seed: number, code: ErrorCode = 'STORAGE_FAILED'): FaultPlan {
  const random = new SeededRandom(seed);
  return (call) => (random.bits() / 2 ** 32 < share ? fail(call, code) : null);
}

export interface CallCounter {
  /** Everything is carried out, and counted. */
  readonly plan: FaultPlan;
  /** So far. */
  readonly calls: readonly StorageCall[];
}

/** Faults nothing and remembers each call: to know at which numbers a fault can come. */
export function countCalls(): CallCounter {
  const calls: StorageCall[] = [];
  const plan = (call: StorageCall) => {
    calls.push(call);
    return null;
  };
  return { plan, calls };
}

function fail(call: StorageCall, code: ErrorCode): StorageFault {
  return { kind: 'fail', error: errorFor(call, code, 'was made to fail') };
}

function errorFor({ number, operation, name }: StorageCall, code: ErrorCode, what: string): RekindleError {
  const of = name.length === 0 ? '' : ` of ${name.join('/')}`;
  return new RekindleError(code, `Call ${number} (${operation}${of}) ${what}.`, {
    details: { number, operation, name: [...name] },
  });
}
