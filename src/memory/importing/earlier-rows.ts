/** The rows that an interrupted import wrote: the same import skips them when it is repeated, and any other import is refused. */
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { JournalEntry } from '../../storage/ports.js';
import type { MemoryStore } from '../store/memory-store.js';

export class EarlierRows {
  readonly #rows: AsyncIterator<JournalEntry<JsonObject>>;
  readonly #agentId: string;
  #left: number;

  private constructor(agentId: string, rows: AsyncIterable<JournalEntry<JsonObject>>, count: number) {
    this.#agentId = agentId;
    this.#rows = rows[Symbol.asyncIterator]();
    this.#left = count;
  }

  static async of(store: MemoryStore): Promise<EarlierRows> {
    const journal = await store.journal('raw_traces');
    return new EarlierRows(store.agentId, journal.read(), (await journal.head()).seq);
  }

  /** Whether the row is already stored. @throws AGENT_EXISTS if another row is stored in its place */
  async has(row: JsonObject): Promise<boolean> {
    if (this.#left === 0) return false;
    let stands = await this.#next();
    while (stands?.['trace_type'] === 'journal') stands = await this.#next(); // a header states who may read the journal
    if (!stands && this.#left === 0) return false;
    if (stands && keyOf(stands) === keyOf(row)) return true;
    throw new RekindleError(
      'AGENT_EXISTS',
      `The import of another transcript as ${JSON.stringify(this.#agentId)} was not finished. Repeat that one, or choose another id.`,
      { details: { agentId: this.#agentId } },
    );
  }

  /** Null at the end, and for damage. */
  async #next(): Promise<JsonObject | null> {
    if (this.#left === 0) return null;
    this.#left -= 1;
    const next = await this.#rows.next();
    return !next.done && next.value.kind === 'record' ? next.value.record : null;
  }
}

/** The transcript's content. Ignores the import time, and fields that the journal adds. */
function keyOf(row: JsonObject): string {
  const { id: _, ts: __, last_compaction_ts: ___, agent_id: ____, reader: _____, ...said } = row;
  return canonicalJson(said);
}
