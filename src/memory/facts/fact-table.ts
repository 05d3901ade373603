/**
 * The result of applying the rows of a fact journal. Rows are applied in order and never change: later rows name facts
 * that were replaced, forgotten or purged.
 *
 * Two facts with one key conflict, and the newer one wins. Exception: a fact never replaces a more trusted fact with
 * the same text. A row with a known id changes nothing, so a row that was written twice because of a crash counts once.
 */
import { isJsonObject, type JsonObject, textOr } from '../../core/json.js';
import { type SemanticItem, semanticFromJson } from '../models/memory-items.js';
import { doesStand, type FactEntry } from './fact.js';
import { keyOfFact, textKey } from './fact-key.js';
import { type MarkKind, markOf, namedIds, rowId } from './fact-mark.js';
import { isTrustedLess } from './fact-source.js';

export class FactTable {
  readonly #entries = new Map<string, FactEntry>();
  /** The current fact of each key. */
  readonly #standing = new Map<string, string>();
  /** When a fact with this text was last forgotten or purged, in seconds. */
  readonly #gone = new Map<string, number>();

  /** Ignores rows that are neither a fact nor a mark; `verify` reports them. */
  apply(row: JsonObject, seq: number): void {
    const mark = markOf(row);
    if (mark) this.#mark(mark, row);
    else if (isJsonObject(row) && typeof row['fact'] === 'string') {
      const item = semanticFromJson(row);
      this.add(item.id === '' ? { ...item, id: rowId(seq) } : item);
    }
  }

  add(item: SemanticItem): void {
    if (this.#entries.has(item.id)) return;
    const key = keyOfFact(item);
    const standing = this.standingFor(item);
    if (standing && keepsItsPlace(standing, item)) {
      this.#entries.set(item.id, { ...asItIs(item), replacedBy: standing.id });
      return;
    }
    const isPinned = standing?.pinned === true && !isTrustedLess(sourceOfItem(item), sourceOfItem(standing));
    this.#entries.set(item.id, asItIs(isPinned ? { ...item, pinned: true } : item));
    if (standing) this.#change(standing.id, { replacedBy: item.id });
    this.#standing.set(key, item.id);
  }

  #mark(kind: MarkKind, row: JsonObject): void {
    const ts = typeof row['ts'] === 'number' ? row['ts'] : 0;
    for (const id of namedIds(row)) {
      const entry = this.#entries.get(id);
      if (!entry) continue;
      const { pinned: _, ...item } = entry.item;
      if (kind === 'pin') this.#change(id, { item: { ...item, pinned: true } });
      else if (kind === 'unpin') this.#change(id, { item });
      else this.#remove(entry, kind === 'forget' ? 'forgotten' : 'purged', ts);
    }
  }

  #remove({ item }: FactEntry, gone: 'forgotten' | 'purged', ts: number): void {
    this.#change(item.id, { gone, goneTs: ts });
    this.#gone.set(textKey(item.fact), ts);
    const key = keyOfFact(item);
    if (this.#standing.get(key) === item.id) this.#standing.delete(key);
  }

  #change(id: string, change: Partial<FactEntry>): void {
    this.#entries.set(id, { ...this.#entries.get(id)!, ...change });
  }

  get(id: string): FactEntry | null {
    return this.#entries.get(id) ?? null;
  }

  /** The fact that conflicts with this one, if any. */
  standingFor(item: Pick<SemanticItem, 'key' | 'fact'>): SemanticItem | null {
    const id = this.#standing.get(keyOfFact(item));
    return id === undefined ? null : this.#entries.get(id)!.item;
  }

  /** When a fact with this text was last forgotten or purged, in seconds. Null: never. */
  goneSince(fact: string): number | null {
    return this.#gone.get(textKey(fact)) ?? null;
  }

  /** Oldest first. */
  all(): FactEntry[] {
    return [...this.#entries.values()];
  }

  /** Oldest first. */
  standing(): SemanticItem[] {
    return this.all()
      .filter(doesStand)
      .map(({ item }) => item);
  }
}

/** @param items in the order in which they were remembered */
export function standingOf(items: Iterable<SemanticItem>): SemanticItem[] {
  const table = new FactTable();
  let unnamed = 0;
  for (const item of items) table.add(item.id === '' ? { ...item, id: `unnamed-${(unnamed += 1)}` } : item);
  return table.standing();
}

/** Adds a `replaces` field to each row that replaces a fact. */
export function withReplaced(table: FactTable, item: SemanticItem, row: JsonObject): JsonObject {
  const standing = table.standingFor(item);
  if (!standing || standing.id === textOr(row['id']) || keepsItsPlace(standing, item)) return row;
  return { ...row, replaces: standing.id };
}

function asItIs(item: SemanticItem): FactEntry {
  return { item, replacedBy: null, gone: null, goneTs: null };
}

function keepsItsPlace(standing: SemanticItem, item: SemanticItem): boolean {
  return item.key === undefined && isTrustedLess(sourceOfItem(item), sourceOfItem(standing));
}

function sourceOfItem({ source }: SemanticItem) {
  return source ?? 'agent';
}
