/** Shared by the conformance files: the runner port, the store under test, and short assertions. */
import assert from 'node:assert/strict';
import { type ErrorCode, isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Journal, JournalEntry, JournalRecord, StorageBackend, StorageCapabilities } from '../ports.js';

/** The `describe` and `it` of vitest, node:test, mocha or jest. */
export interface TestRunner {
  describe(title: string, body: () => void): unknown;
  it(title: string, body: () => Promise<void>): unknown;
}

/** A new, empty store. */
export interface OpenedStorage {
  readonly backend: StorageBackend;
  /** Closes the store and opens it again, as the next process would. Called only for persistent backends. */
  reopen(): Promise<StorageBackend>;
  /** Opens the store a second time, as another process would. Called only for multi-process backends. */
  openAnother(): Promise<StorageBackend>;
  /** Lets time pass for leases without a heartbeat, as for a suspended process. */
  passTime(ms: number): Promise<void> | void;
  /** Closes and deletes everything. */
  destroy(): Promise<void>;
}

/** The backend under test, and how to open it. */
export interface StorageTarget {
  readonly name: string;
  /** The capabilities of the backend; groups of tests depend on them. */
  readonly capabilities: StorageCapabilities;
  open(): Promise<OpenedStorage>;
}

/** Declares tests that each get a new store. */
export class Suite {
  readonly #runner: TestRunner;
  readonly #target: StorageTarget;

  constructor(runner: TestRunner, target: StorageTarget) {
    this.#runner = runner;
    this.#target = target;
  }

  get capabilities(): StorageCapabilities {
    return this.#target.capabilities;
  }

  group(title: string, body: () => void): void {
    this.#runner.describe(title, body);
  }

  test(title: string, body: (store: OpenedStorage) => Promise<void>): void {
    this.#runner.it(title, async () => {
      const store = await this.#target.open();
      try {
        await body(store);
      } finally {
        await store.destroy();
      }
    });
  }

  persistent(title: string, body: (store: OpenedStorage) => Promise<void>): void {
    if (this.capabilities.persistent) this.test(title, body);
  }

  multiProcess(title: string, body: (store: OpenedStorage) => Promise<void>): void {
    if (this.capabilities.multiProcess) this.test(title, body);
  }
}

export async function assertRejects(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(promise, (thrown: unknown) => {
    assert.ok(isRekindleError(thrown), `expected a RekindleError with code ${code}, got ${String(thrown)}`);
    assert.equal(thrown.code, code);
    return true;
  });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** All entries, which must be records. */
export async function recordEntries<R extends JsonObject>(
  entries: AsyncIterable<JournalEntry<R>>,
): Promise<JournalRecord<R>[]> {
  return (await collect(entries)).map((entry) => {
    assert.equal(entry.kind, 'record', `unexpected damage: ${JSON.stringify(entry)}`);
    return entry as JournalRecord<R>;
  });
}

/** The records without their positions. */
export async function contents<R extends JsonObject>(journal: Journal<R>): Promise<R[]> {
  return (await recordEntries(journal.read())).map((entry) => entry.record);
}

export interface Numbered extends JsonObject {
  n: number;
}

/** Appends `{n: from}` to `{n: to}`, one per call. */
export async function appendNumbers(journal: Journal<Numbered>, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n += 1) await journal.append([{ n }]);
}

export function numbers(from: number, to: number): Numbered[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ n: from + index }));
}
