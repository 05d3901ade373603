/** Passes calls to a backend through a fault plan. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RekindleError } from '../../core/errors.js';
import type { Name } from '../ports.js';
import type { FaultPlan, StorageCall, StorageFault, StorageOperation } from './storage-fault.js';

/** The effect of a fault on one kind of call. */
export interface CallRules<T> {
  /** The call ends something, so it is executed even if it fails: what was opened must not stay open. */
  readonly ends?: true;
  /** Releases what a lost answer would have returned, because nothing else can. */
  readonly letGo?: (answer: T) => Promise<unknown>;
  /** Takes away the lease of the call, and returns the error that reports it. */
  readonly loseLease?: () => Promise<RekindleError>;
}

export class FaultyCalls {
  readonly #plan: FaultPlan;
  #number = 0;

  constructor(plan: FaultPlan) {
    this.#plan = plan;
  }

  /** Execution starts before this returns: calls keep their order, and their arguments are read now. */
  async run<T>(
    operation: StorageOperation,
    name: Name,
    carryOut: () => Promise<T>,
    rules: CallRules<T> = {},
  ): Promise<T> {
    const { call, fault } = this.#next(operation, name);
    switch (fault?.kind) {
      case undefined:
        return carryOut();
      case 'fail':
        if (rules.ends) await carryOut();
        throw fault.error;
      case 'lose-answer': {
        const answer = await carryOut();
        await rules.letGo?.(answer).catch(() => {}); // the error of the plan is the one to report
        throw fault.error;
      }
      case 'delay': {
        const [answer] = await Promise.allSettled([carryOut(), sleep(fault.ms)]);
        if (answer.status === 'rejected') throw answer.reason;
        return answer.value;
      }
      case 'lose-lease':
        if (!rules.loseLease) throw noLease(call);
        throw await rules.loseLease();
    }
  }

  /** As `run`, for calls that yield entries one by one. */
  async *iterate<T>(
    operation: StorageOperation,
    name: Name,
    entries: () => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const { call, fault } = this.#next(operation, name);
    if (fault?.kind === 'lose-lease') throw noLease(call);
    if (fault?.kind === 'fail') throw fault.error;
    if (fault?.kind === 'delay') await sleep(fault.ms);
    yield* entries();
    if (fault?.kind === 'lose-answer') throw fault.error;
  }

  #next(
    operation: StorageOperation,
    name: Name,
  ): { readonly call: StorageCall; readonly fault: StorageFault | null } {
    this.#number += 1;
    const call = { number: this.#number, operation, name };
    return { call, fault: this.#plan(call) };
  }
}

function noLease({ number, operation }: StorageCall): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `Call ${number} (${operation}) has no lease to lose.`, {
    details: { argument: 'plan', number, operation },
  });
}
