/**
 * Keys and their values as layers. The lowest layer is the state itself. A layer above it takes the changes
 * being decided: it sees earlier decisions, and is discarded on a refusal.
 */
import type { JsonValue } from '../../core/json.js';
import { bytesAfter, type KeyChange, valueAfter } from './key-change.js';

export interface KeyState {
  readonly key: string;
  readonly version: number;
  /** Undefined if the key was deleted: the tombstone prevents reuse of its versions. */
  readonly value: JsonValue | undefined;
  /** Bytes of the value as JSON. */
  readonly bytes: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly updatedBy: string;
  /** The number of the change among all changes of the state. */
  readonly globalVersion: number;
}

/** Author and time of a change. */
export interface Authorship {
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export class KeyLayer {
  readonly #base: KeyLayer | null;
  readonly #own = new Map<string, KeyState>();
  globalVersion: number;
  /** A new key starts above this version: tombstones up to it were dropped. */
  versionFloor: number;
  /** Keys with a value. */
  keys: number;
  /** Bytes of keys with a value, and of their values. */
  bytes: number;

  constructor(base: KeyLayer | null) {
    this.#base = base;
    this.globalVersion = base?.globalVersion ?? 0;
    this.versionFloor = base?.versionFloor ?? 0;
    this.keys = base?.keys ?? 0;
    this.bytes = base?.bytes ?? 0;
  }

  /** Also a deleted key. */
  get(key: string): KeyState | undefined {
    return this.#own.get(key) ?? this.#base?.get(key);
  }

  /** Keys of this layer only; of the lowest layer, all keys. */
  own(): IterableIterator<KeyState> {
    return this.#own.values();
  }

  nextVersion(key: string): number {
    return (this.get(key)?.version ?? this.versionFloor) + 1;
  }

  apply(change: KeyChange, { by, at }: Authorship): KeyState {
    const before = this.get(change.key);
    const value = valueAfter(before?.value, change.effect);
    const bytes = bytesAfter({ value: before?.value, bytes: before?.bytes ?? 0 }, change.effect, value);
    const isThere = before !== undefined && before.value !== undefined;
    const state: KeyState = {
      key: change.key,
      version: change.version,
      value,
      bytes,
      createdAt: isThere ? before.createdAt : at,
      updatedAt: at,
      updatedBy: by,
      globalVersion: this.globalVersion + 1,
    };
    this.put(state);
    this.globalVersion = state.globalVersion;
    return state;
  }

  put(state: KeyState): void {
    this.#count(this.get(state.key), -1);
    this.#count(state, 1);
    this.#own.set(state.key, state);
  }

  #count(state: KeyState | undefined, sign: 1 | -1): void {
    if (state?.value === undefined) return;
    this.keys += sign;
    this.bytes += sign * (state.bytes + Buffer.byteLength(state.key));
  }

  /** Drops a key; its versions are not reused. */
  forget(key: string): void {
    const state = this.get(key);
    this.#count(state, -1);
    this.versionFloor = Math.max(this.versionFloor, state?.version ?? 0);
    this.#own.delete(key);
  }

  /** Merges the decisions of this layer into the layer below. */
  settle(): void {
    for (const state of this.#own.values()) this.#base?.put(state);
    if (this.#base) this.#base.globalVersion = this.globalVersion;
    this.#own.clear();
  }
}
