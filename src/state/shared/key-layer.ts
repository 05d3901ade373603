/**
 * Keys and their values, as one layer over another: the state itself is the lowest; what is being decided lies above it, so that it
 * sees what was decided just before, and goes away where it is refused.
 */
import type { JsonValue } from '../../core/json.js';
import { bytesAfter, type KeyChange, valueAfter } from './key-change.js';

export interface KeyState {
  readonly key: string;
  readonly version: number;
  /** Undefined where the key was deleted: what is left keeps its versions from being used again. */
  readonly value: JsonValue | undefined;
  /** Of the value as JSON. */
  readonly bytes: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly updatedBy: string;
  /** The number of the change among all changes of the state. */
  readonly globalVersion: number;
}

/** Who changes, and when. */
export interface Authorship {
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export class KeyLayer {
  readonly #base: KeyLayer | null;
  readonly #own = new Map<string, KeyState>();
  globalVersion: number;
  /** A key that is new here begins above it: tombstones up to this version were let go. */
  versionFloor: number;
  /** Keys with a value. */
  keys: number;
  /** Of keys with a value, and their values. */
  bytes: number;

  constructor(base: KeyLayer | null) {
    this.#base = base;
    this.globalVersion = base?.globalVersion ?? 0;
    this.versionFloor = base?.versionFloor ?? 0;
    this.keys = base?.keys ?? 0;
    this.bytes = base?.bytes ?? 0;
  }

  /** A deleted key too. */
  get(key: string): KeyState | undefined {
    return this.#own.get(key) ?? this.#base?.get(key);
  }

  /** Those of this layer alone: of the lowest one, all. */
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

  /** Lets a key go; its versions are not used again. */
  forget(key: string): void {
    const state = this.get(key);
    this.#count(state, -1);
    this.versionFloor = Math.max(this.versionFloor, state?.version ?? 0);
    this.#own.delete(key);
  }

  /** Makes what was decided here part of the layer below. */
  settle(): void {
    for (const state of this.#own.values()) this.#base?.put(state);
    if (this.#base) this.#base.globalVersion = this.globalVersion;
    this.#own.clear();
  }
}
