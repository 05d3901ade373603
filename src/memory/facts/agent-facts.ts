/** The facts of one agent: its `semantic` journal, written under the agent's lease. */
import PQueue from 'p-queue';
import type { JsonObject } from '../../core/json.js';
import { followFrom, JOURNAL_START } from '../../storage/journal-position.js';
import type { Journal, JournalHead } from '../../storage/ports.js';
import type { FactDecision, FactLog } from './fact-log.js';
import { FactTable } from './fact-table.js';

export class AgentFacts implements FactLog {
  readonly #open: () => Promise<Journal<JsonObject>>;
  /** Serializes reads and changes. */
  readonly #queue = new PQueue({ concurrency: 1 });
  #table = new FactTable();
  #head: JournalHead = JOURNAL_START;

  /** @param open opens the journal, for writing if changes are made */
  constructor(open: () => Promise<Journal<JsonObject>>) {
    this.#open = open;
  }

  table(): Promise<FactTable> {
    return this.#queue.add(() => this.#newest());
  }

  change<T>(decide: (table: FactTable) => FactDecision<T>): Promise<T> {
    return this.#queue.add(async () => {
      const decision = decide(await this.#newest());
      if (decision.rows.length > 0) await (await this.#open()).append([...decision.rows]);
      return decision.done(await this.#newest());
    });
  }

  async #newest(): Promise<FactTable> {
    const journal = await this.#open();
    const head = await journal.head();
    const known = this.#head;
    if (head.seq === known.seq && head.crc === known.crc) return this.#table;
    const canFollow = head.seq > known.seq && (known.seq === 0 || known.cursor !== null);
    try {
      const followed = canFollow ? await this.#follow(journal, known) : null;
      this.#head = followed ?? (await this.#follow(journal, this.#clear())) ?? JOURNAL_START;
    } catch (thrown) {
      this.#clear(); // after a partial failure it is read again
      throw thrown;
    }
    return this.#table;
  }

  #follow(journal: Journal<JsonObject>, from: JournalHead): Promise<JournalHead | null> {
    return followFrom(journal, from, ({ record, seq }) => this.#table.apply(record, seq));
  }

  #clear(): JournalHead {
    this.#table = new FactTable();
    this.#head = JOURNAL_START;
    return JOURNAL_START;
  }
}
