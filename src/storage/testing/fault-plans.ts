/** Ready-made fault plans; see `faultyStorage`. */
import { type ErrorCode, RekindleError } from '../../core/errors.js';
import { SeededRandom } from '../simulated/seeded-random.js';
import type { FaultPlan, StorageCall, StorageFault } from './storage-fault.js';

/** All calls succeed. */
export const noFaults: FaultPlan = () => null;

/** The call with this number fails and has no effect; all others succeed. */
export function failAt(number: number, code: ErrorCode = 'STORAGE_FAILED'): FaultPlan {
  return (call) => (call.number === number ? fail(call, code) : null);
}

/** The call with this number takes effect, but reports `JOURNAL_OUTCOME_UNKNOWN` (an append) or `STORAGE_UNAVAILABLE`. */
export function loseAnswerAt(number: number): FaultPlan {
  return (call) => {
    if (call.number !== number) return null;
    const code = call.operation === 'journal.append' ? 'JOURNAL_OUTCOME_UNKNOWN' : 'STORAGE_UNAVAILABLE';
    return { kind: 'lose-answer', error: errorFor(call, code, 'was made to lose its answer') };
  };
}

/**
 * Each call fails with this probability, from 0 to 1. With the same seed, the same calls in the same order fail in the
 * same places.
 */
export function failEvery(share: number, seed: number, code: ErrorCode = 'STORAGE_FAILED'): FaultPlan {
  const random = new SeededRandom(seed);
  return (call) => (random.bits() / 2 ** 32 < share ? fail(call, code) : null);
}

/** A plan that injects nothing, and the calls that it saw. */
export interface CallCounter {
  /** Lets all calls succeed, and counts them. */
  readonly plan: FaultPlan;
  /** The calls so far. */
  readonly calls: readonly StorageCall[];
}

/** Injects no fault and records each call: shows the numbers at which a fault can be injected. */
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
