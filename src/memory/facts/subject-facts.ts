/**
 * The facts of a subject: a person or project whose agents share them, also from several processes at once. Each change
 * waits for its turn and is decided on the newest state; each read checks the journal. The host chooses the scope,
 * never a model.
 */
import type { JsonObject } from '../../core/json.js';
import { followFrom, JOURNAL_START } from '../../storage/journal-position.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { SharedJournal } from '../../storage/shared-journal.js';
import type { FactDecision, FactLog } from './fact-log.js';
import { FactTable } from './fact-table.js';

export class SubjectFacts implements FactLog {
  readonly scope: string;
  readonly #journal: SharedJournal<JsonObject>;
  #table = new FactTable();

  /** Does no I/O yet. @throws INVALID_NAME */
  constructor(backend: StorageBackend, scope: string) {
    encodeNameSegment(scope);
    this.scope = scope;
    this.#journal = new SharedJournal<JsonObject>(backend, {
      ...subjectJournal(scope),
      fold: {
        load: async (journal) => {
          this.#table = new FactTable();
          return (await followFrom(journal, JOURNAL_START, (entry) => this.#apply(entry))) ?? JOURNAL_START;
        },
        apply: (entry) => this.#apply(entry),
      },
    });
  }

  #apply({ record, seq }: { readonly record: JsonObject; readonly seq: number }): void {
    this.#table.apply(record, seq);
  }

  async table(): Promise<FactTable> {
    await this.#journal.refresh();
    return this.#table;
  }

  /** At most one row. @throws LEASE_HELD, JOURNAL_OUTCOME_UNKNOWN, and what `Journal.append` throws */
  change<T>(decide: (table: FactTable) => FactDecision<T>): Promise<T> {
    return this.#journal.change(async () => {
      const { rows, done } = decide(this.#table);
      const [record] = rows;
      return { ...(record ? { record } : { secure: true as const }), done: () => done(this.#table) };
    });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

export function subjectJournal(scope: string): { readonly journal: Name; readonly lease: Name } {
  return { journal: ['subjects', scope, 'facts'], lease: ['subjects', scope, 'facts.lease'] };
}

/** For `verify` and `repair`. */
export async function subjectJournals(
  backend: StorageBackend,
): Promise<{ readonly journal: Name; readonly lease: Name }[]> {
  return (await backend.listNames(['subjects'])).map(subjectJournal);
}
