/** The operations of a batch: checks them first, then answers them from the items. */
import {
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type PutOperation,
  type SearchOperation,
  validateNamespace,
} from '@langchain/langgraph-checkpoint';
import { messageOf, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { fitsCondition, fitsFilter } from './store-filter.js';
import type { PutRow, StoredItem, StoreItems } from './store-items.js';

const SEARCH_LIMIT = 10;

/**
 * The changes of a batch: the last one of each item, copied. @throws INVALID_ARGUMENT if any operation is
 * invalid
 */
export function putsOf(operations: readonly Operation[]): PutRow[] {
  const rows = new Map<string, PutRow>();
  for (const [index, op] of operations.entries()) {
    const place = `operations[${index}]`;
    assertFits(op, place);
    if (!isPut(op)) continue;
    const { namespace, key } = op;
    rows.set(JSON.stringify([namespace, key]), [[...namespace], key, putValue(op, place)]);
  }
  return [...rows.values()];
}

/** A put has no result. */
export function answer(items: StoreItems, op: Operation): unknown {
  if ('namespacePrefix' in op) return found(items, op);
  if (isPut(op)) return null;
  if ('namespace' in op) return item(items.get(op.namespace, op.key));
  return listed(items, op as ListNamespacesOperation);
}

function found(items: StoreItems, { namespacePrefix, filter, offset = 0, limit }: SearchOperation): unknown {
  const fitting = [...items.below(namespacePrefix)].filter(
    ({ value }) => !filter || fitsFilter(value, filter),
  );
  return fitting.slice(offset, offset + (limit ?? SEARCH_LIMIT)).map(item);
}

function listed(items: StoreItems, op: ListNamespacesOperation): string[][] {
  const { matchConditions = [], maxDepth, offset = 0 } = op;
  const limit: number = (op as Partial<ListNamespacesOperation>).limit ?? Number.POSITIVE_INFINITY;
  const fitting = items
    .namespaces()
    .filter((namespace) => matchConditions.every((condition) => fitsCondition(namespace, condition)));
  const cut = new Map(
    fitting.map((labels) => labels.slice(0, maxDepth)).map((labels) => [labels.join('.'), labels]),
  );
  return [...cut.values()].sort(byLabels).slice(offset, offset + limit);
}

function byLabels(a: readonly string[], b: readonly string[]): number {
  const different = a.findIndex((label, index) => label !== b[index]);
  if (different < 0) return a.length - b.length;
  const other = b[different];
  return other === undefined || a[different]! > other ? 1 : -1;
}

/** The caller's own copy. */
function item(stored: StoredItem | undefined): Item | null {
  if (!stored) return null;
  const { namespace, key, value, createdMs, updatedMs } = stored;
  return {
    namespace: [...namespace],
    key,
    value: structuredClone(value),
    createdAt: new Date(createdMs),
    updatedAt: new Date(updatedMs),
  };
}

function isPut(op: Operation): op is PutOperation {
  return 'value' in op;
}

function assertFits(op: Operation, place: string): void {
  if ('namespacePrefix' in op) {
    assertNamespace(op.namespacePrefix, `${place}.namespacePrefix`, true);
    assertCounts(op, place);
  } else if ('namespace' in op) {
    const { namespace, key } = op as GetOperation | PutOperation;
    assertNamespace(namespace, `${place}.namespace`, false);
    if (typeof key !== 'string') throw refused(`${place}.key`, 'it must be a string');
  } else if ('matchConditions' in op || 'limit' in op || 'maxDepth' in op) {
    assertCounts(op, place);
    for (const condition of op.matchConditions ?? []) fitsCondition([], condition);
  } else throw refused(place, 'it is not a known operation');
}

function assertNamespace(namespace: unknown, argument: string, allowEmpty: boolean): void {
  if (!Array.isArray(namespace)) throw refused(argument, 'it must be a list of labels');
  try {
    validateNamespace(namespace, { allowEmpty, allowReservedRoot: true });
  } catch (thrown) {
    throw refused(argument, messageOf(thrown), thrown);
  }
}

function assertCounts(op: { limit?: number; offset?: number; maxDepth?: number }, place: string): void {
  for (const name of ['limit', 'offset', 'maxDepth'] as const) {
    const count = op[name];
    if (count !== undefined && !(count >= 0))
      throw refused(`${place}.${name}`, 'it must be a number of at least 0');
  }
}

/** Refuses values outside of JSON. Undefined properties are dropped, as in JSON. */
function putValue({ value }: PutOperation, place: string): JsonObject | null {
  if (value === null) return null;
  const converted = toJsonValue(value);
  const change = converted.changes.find(({ kind }) => kind !== 'undefined');
  if (change) throw refused(`${place}.value${change.path}`, `it is not JSON (${change.kind})`);
  if (!isJsonObject(converted.value)) throw refused(`${place}.value`, 'it must be an object');
  return converted.value;
}

function refused(argument: string, problem: string, cause?: unknown): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument} is refused: ${problem}.`, {
    details: { argument, problem },
    cause,
  });
}
