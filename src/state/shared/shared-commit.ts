/** One commit: operations that are applied together or not at all. No I/O. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { mergePatch } from '../../core/merge-patch.js';
import { type KeyChange, payloadBytes } from './key-change.js';
import { type CheckedOperation, conflictError, decide, type Outcome } from './key-decision.js';
import { type Authorship, KeyLayer } from './key-layer.js';
import { atIndex, limitExceeded, type SharedLimits } from './shared-limits.js';

/** The outcome of one operation of a batch. */
export interface OperationResult {
  readonly key: string;
  /** `not_applied`: another operation had a conflict. Of several conflicts, the first is reported. */
  readonly status: 'applied' | 'conflict' | 'not_applied';
  /** The key's current version; 0 if it has no value. */
  readonly version: number;
  /** The key's current value; undefined if it has none. */
  readonly value: JsonValue | undefined;
}

/** The outcome of a batch. */
export interface BatchResult {
  /** False if an operation had a conflict; nothing changed then. */
  readonly applied: boolean;
  /** In the order of the operations. */
  readonly results: readonly OperationResult[];
  readonly globalVersion: number;
}

export interface Decided<T> {
  readonly changes: readonly KeyChange[];
  readonly result: T;
  /** Bytes of the values that were made: the cost of deciding and applying. */
  readonly touched: number;
}

/** Bytes of values that one batch may make in total. More would block other callers too long. */
const TOUCHED_MAX = 64 * 1024 * 1024;

/** Decides on the newest state. If it throws, nothing changes. */
export type Decide<T> = (layer: KeyLayer, author: Authorship) => Decided<T>;

/** @throws DOCUMENT_CONFLICT */
export function decideOne<T>(
  operation: CheckedOperation,
  limits: SharedLimits,
  resultOf: (outcome: Exclude<Outcome, { kind: 'conflict' }>, layer: KeyLayer) => T,
): Decide<T> {
  return (layer, author) => {
    const outcome = decide(layer, operation, author, limits);
    if (outcome.kind === 'conflict') throw conflictError(outcome.conflict);
    return {
      changes: outcome.kind === 'changed' ? [outcome.change] : [],
      result: resultOf(outcome, layer),
      touched: outcome.kind === 'changed' ? outcome.state.bytes : 0,
    };
  };
}

export function decideBatch(
  operations: readonly CheckedOperation[],
  limits: SharedLimits,
): Decide<BatchResult> {
  if (operations.length > limits.batch)
    throw limitExceeded('batch', limits.batch, operations.length, 'The batch has too many operations');
  const bytes = operations.reduce((sum, operation) => sum + payloadBytes(operation), 0);
  if (bytes > limits.batchBytes)
    throw limitExceeded('batchBytes', limits.batchBytes, bytes, 'The batch is too large, in bytes');
  return (layer, author) => {
    const trial = new KeyLayer(layer);
    const outcomes: Outcome[] = [];
    let touched = 0;
    for (const [index, operation] of operations.entries()) {
      const outcome = atIndex(index, () => decide(trial, operation, author, limits));
      outcomes.push(outcome);
      if (outcome.kind === 'changed') touched += outcome.state.bytes;
      if (touched > TOUCHED_MAX)
        throw limitExceeded(
          'touchedBytes',
          TOUCHED_MAX,
          touched,
          'The values that the batch makes are too large, in bytes',
        );
      if (outcome.kind === 'conflict') break; // later operations would depend on this one
    }
    const applied = outcomes.length === operations.length && outcomes.at(-1)?.kind !== 'conflict';
    if (applied) trial.settle();
    const results = operations.map(({ key }, index): OperationResult => {
      const now = layer.get(key);
      const isConflict = outcomes[index]?.kind === 'conflict';
      const status = isConflict ? 'conflict' : applied ? 'applied' : 'not_applied';
      return { key, status, version: now?.value === undefined ? 0 : now.version, value: now?.value };
    });
    const changes = outcomes.flatMap((outcome) => (outcome.kind === 'changed' ? [outcome.change] : []));
    const { globalVersion } = layer;
    return { changes: applied ? changes : [], result: { applied, results, globalVersion }, touched };
  };
}

/**
 * A merge patch over all keys: `null` deletes a key, an object is merged into its value, any other value
 * replaces it.
 * @param conflict throws if the state is not at the required version
 */
export function decidePatch(
  patch: JsonObject,
  limits: SharedLimits,
  conflict: (globalVersion: number) => void,
): Decide<BatchResult> {
  return (layer, author) => {
    conflict(layer.globalVersion);
    const operations = Object.entries(patch).map(([key, change]): CheckedOperation => {
      if (change === null) return { key, effect: { op: 'delete' }, ifVersion: null };
      const into = layer.get(key)?.value;
      if (isJsonObject(change) && isJsonObject(into))
        return { key, effect: { op: 'merge', patch: change }, ifVersion: null };
      return { key, effect: { op: 'set', value: mergePatch(undefined, change) }, ifVersion: null };
    });
    return decideBatch(operations, limits)(layer, author);
  };
}
