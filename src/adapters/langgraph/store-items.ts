/** The items of a store after the batches of its journal. */
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '../../core/json.js';
import type { JournalRecord } from '../../storage/ports.js';
import type { JournalState } from '../whole-journal.js';

export interface StoredItem {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  /** Milliseconds since 1970. */
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** An item's new value; null deletes it. */
export type PutRow = readonly [namespace: readonly string[], key: string, value: JsonObject | null];

/** An item in a record of all items. */
type ItemRow = readonly [
  namespace: readonly string[],
  key: string,
  value: JsonObject,
  createdMs: number,
  updatedMs: number,
];

interface Namespace {
  readonly labels: readonly string[];
  /** In the order of their first put. */
  readonly items: Map<string, StoredItem>;
}

export class StoreItems implements JournalState {
  readonly #namespaces = new Map<string, Namespace>();
  #size = 0;
  #puts = 0;

  /** Number of items. */
  get size(): number {
    return this.#size;
  }

  /** Changes since the last record of all items. */
  get puts(): number {
    return this.#puts;
  }

  /** Applies a batch, or a record of all items. */
  apply({ record: { type, at, puts, items } }: JournalRecord<JsonObject>): boolean {
    if (type === 'batch' && typeof at === 'number' && isListOf(puts, isPutRow)) {
      for (const row of puts as unknown as readonly PutRow[]) this.#put(row, at);
      return true;
    }
    if (type !== 'items' || !isListOf(items, isItemRow)) return false;
    this.#namespaces.clear();
    this.#size = 0;
    for (const [namespace, key, value, createdMs, updatedMs] of items as unknown as readonly ItemRow[])
      this.#set({ namespace, key, value, createdMs, updatedMs });
    this.#puts = 0;
    return true;
  }

  /** All items, as one record. */
  beginning(): JsonObject {
    const items = [...this.below([])].map(
      ({ namespace, key, value, createdMs, updatedMs }): ItemRow => [
        namespace,
        key,
        value,
        createdMs,
        updatedMs,
      ],
    );
    return { type: 'items', items } as unknown as JsonObject;
  }

  get(namespace: readonly string[], key: string): StoredItem | undefined {
    return this.#namespaces.get(keyOf(namespace))?.items.get(key);
  }

  /** Items of every namespace with this prefix. */
  *below(prefix: readonly string[]): Generator<StoredItem> {
    for (const { labels, items } of this.#namespaces.values())
      if (prefix.every((label, index) => labels[index] === label)) yield* items.values();
  }

  /** Namespaces with items. */
  namespaces(): (readonly string[])[] {
    return [...this.#namespaces.values()].map(({ labels }) => labels);
  }

  #put([namespace, key, value]: PutRow, at: number): void {
    this.#puts += 1;
    if (value === null) this.#delete(namespace, key);
    else {
      const createdMs = this.get(namespace, key)?.createdMs ?? at;
      this.#set({ namespace, key, value, createdMs, updatedMs: at });
    }
  }

  #set(item: StoredItem): void {
    const name = keyOf(item.namespace);
    let space = this.#namespaces.get(name);
    if (!space) this.#namespaces.set(name, (space = { labels: item.namespace, items: new Map() }));
    if (!space.items.has(item.key)) this.#size += 1;
    space.items.set(item.key, item);
  }

  #delete(namespace: readonly string[], key: string): void {
    const name = keyOf(namespace);
    const items = this.#namespaces.get(name)?.items;
    if (items?.delete(key)) this.#size -= 1;
    if (items?.size === 0) this.#namespaces.delete(name);
  }
}

function isPutRow([namespace, key, value]: JsonArray): boolean {
  const isNamespace = Array.isArray(namespace) && namespace.every((label) => typeof label === 'string');
  return isNamespace && typeof key === 'string' && (value === null || isJsonObject(value));
}

function isItemRow(row: JsonArray): boolean {
  return isPutRow(row) && row[2] !== null && typeof row[3] === 'number' && typeof row[4] === 'number';
}

function isListOf(value: JsonValue | undefined, isRow: (row: JsonArray) => boolean): boolean {
  return Array.isArray(value) && value.every((row) => Array.isArray(row) && isRow(row));
}

function keyOf(namespace: readonly string[]): string {
  return JSON.stringify(namespace);
}
