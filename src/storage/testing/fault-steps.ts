/** Steps, one of which meets a fault, and the states that a store may have afterwards. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { type ErrorCode, isRekindleError } from '../../core/errors.js';

/** The possible states of something in the store: one while every call was answered, two after an answer was lost. */
export class Expected<S> {
  #possible: readonly S[];

  constructor(initial: S) {
    this.#possible = [initial];
  }

  /** The change was acknowledged. */
  done(change: (before: S) => S): void {
    this.#possible = this.#possible.map(change);
  }

  /** The change was not answered: it took effect once, or not at all. */
  unsure(change: (before: S) => S): void {
    this.#possible = [...this.#possible, ...this.#possible.map(change)];
  }

  /** After it was read, the state is known. */
  see(actual: S, what: string): void {
    const isPossible = this.#possible.some((state) => isDeepStrictEqual(state, actual));
    const possible = this.#possible.map((state) => JSON.stringify(state)).join(' or ');
    assert.ok(isPossible, `${what} is ${JSON.stringify(actual)}, and not ${possible}`);
    this.#possible = [actual];
  }
}

export interface FaultStepsOptions {
  /** The error codes that callers may see. */
  readonly codes: readonly ErrorCode[];
  /** The call that meets the fault takes effect. */
  readonly answerLost: boolean;
}

/** Runs steps one after the other. At most one of them may fail, and only with the fault. */
export class FaultSteps {
  readonly #options: FaultStepsOptions;
  #failed: string | null = null;

  constructor(options: FaultStepsOptions) {
    this.#options = options;
  }

  /** The step that failed; null if none did. */
  get failed(): string | null {
    return this.#failed;
  }

  /** A step without a lasting change, or an idempotent one: it is repeated if it failed. */
  async get<T>(what: string, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (thrown) {
      this.#assertFault(what, thrown);
      return await step();
    }
  }

  /** A step that changes what is stored, as `change` says. It is repeated if it was refused. */
  async change<S>(
    what: string,
    expected: Expected<S>,
    change: (before: S) => S,
    step: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await step();
    } catch (thrown) {
      this.#assertFault(what, thrown);
      if (this.#options.answerLost) return expected.unsure(change);
      await step();
    }
    expected.done(change);
  }

  /** A step that is rejected with this code and changes nothing. */
  async refused(what: string, code: ErrorCode, step: () => Promise<unknown>): Promise<void> {
    for (;;) {
      const thrown: unknown = await step().then(
        () => assert.fail(`${what} was not refused`),
        (reason: unknown) => reason,
      );
      if (isRekindleError(thrown, code)) return;
      this.#assertFault(what, thrown);
    }
  }

  #assertFault(what: string, thrown: unknown): void {
    if (thrown instanceof assert.AssertionError) throw thrown;
    assert.equal(this.#failed, null, `${what} failed after the fault was gone: ${String(thrown)}`);
    this.#failed = what;
    const codes = this.#options.codes.join(' or ');
    assert.ok(isRekindleError(thrown), `${what} failed without a code: ${String(thrown)}`);
    assert.ok(this.#options.codes.includes(thrown.code), `${what} failed with ${thrown.code}, not ${codes}`);
  }
}
