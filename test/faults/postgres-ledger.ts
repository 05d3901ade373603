/** What the writers were told, and whether the store holds just that. */
import { messageOf } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import type { FaultTally } from './fault-suite.js';
import { AGENTS, HUNG, journalOf, type Work, type WriterEvent } from './postgres-writer.js';

type Append = Extract<Work, { op: 'append' }>;

/** `unknown`: it may be there. */
type Outcome = 'under way' | 'done' | 'refused' | 'unknown';

interface Told<W> {
  readonly work: W;
  outcome: Outcome;
  code: string | null;
  /** The number of its last record. */
  seq: number | null;
}

interface Versions {
  acknowledged: number;
  /** Those that may have been written, or may yet be. */
  readonly unknown: Set<number>;
}

/** Nothing of an append that ended so is there. */
const REFUSED = new Set([
  'LEASE_LOST',
  'JOURNAL_CONFLICT',
  'STORAGE_UNAVAILABLE',
  'STORAGE_FAILED',
  'STORAGE_FULL',
  'DOCUMENT_CONFLICT',
]);
/** Codes that a writer may be told when the server or the network fails, or another writer was faster. */
const EXPECTED = new Set([
  'JOURNAL_OUTCOME_UNKNOWN',
  'STORAGE_UNAVAILABLE',
  'LEASE_LOST',
  'LEASE_HELD',
  'JOURNAL_CONFLICT',
  'DOCUMENT_CONFLICT',
]);

export class PostgresLedger {
  readonly #tally: FaultTally;
  readonly #calls = new Map<string, Told<Work>>();
  readonly #appends: Told<Append>[] = [];
  readonly #adds = new Map<string, Told<Extract<Work, { op: 'add' }>>[]>();
  readonly #written = new Map<string, Versions>();
  readonly #blobs = new Set<string>();
  longestMs = 0;

  constructor(tally: FaultTally) {
    this.#tally = tally;
  }

  hear(event: WriterEvent): void {
    if (event.t === 'begin') this.#begin(event.call, event.work);
    else if (event.t === 'end') this.#end(event);
    else if (event.t === 'found') this.#tally.add('answers found again by key');
  }

  #begin(call: string, work: Work): void {
    const told: Told<Work> = { work, outcome: 'under way', code: null, seq: null };
    this.#calls.set(call, told);
    if (work.op === 'append') this.#appends.push(told as Told<Append>);
    if (work.op === 'write') this.#versionsOf(work.name).unknown.add(work.version);
    if (work.op === 'add') {
      const adds = this.#adds.get(work.name) ?? [];
      adds.push(told as (typeof adds)[number]);
      this.#adds.set(work.name, adds);
    }
  }

  #versionsOf(name: string): Versions {
    let versions = this.#written.get(name);
    if (!versions) this.#written.set(name, (versions = { acknowledged: 0, unknown: new Set() }));
    return versions;
  }

  #end({ call, code, seq, ms, limitMs }: Extract<WriterEvent, { t: 'end' }>): void {
    const told = this.#calls.get(call)!;
    this.#calls.delete(call);
    const { work } = told;
    told.code = code;
    told.seq = seq ?? null;
    told.outcome = outcomeOf(work, code);
    this.longestMs = Math.max(this.longestMs, ms);
    const late = code === HUNG || ms > limitMs;
    this.#tally.expect(
      !late,
      () => `${work.op} ${call} took ${ms} ms, more than ${limitMs}: ${code ?? 'ok'}`,
    );
    const strange = code !== null && code !== HUNG && !EXPECTED.has(code);
    this.#tally.expect(!strange, () => `${work.op} ${call} ended with ${code}`);
    if (code !== null) this.#tally.add(`${work.op} ${code}`);
    if (work.op === 'append') this.#endAppend(call, work, told.outcome, code);
    if (work.op === 'write' && code === null) {
      const versions = this.#versionsOf(work.name);
      versions.acknowledged = work.version;
      versions.unknown.delete(work.version);
    }
    if (work.op === 'look' && code === null) this.#checkVersion(work.name, seq ?? 0);
    if (work.op === 'put' && code === null) this.#blobs.add(work.digest);
    if (code === null && work.op !== 'read' && work.op !== 'look') this.#tally.add(`${work.op} acknowledged`);
  }

  /** Nobody else writes under its lease, so who relies on nothing meets no conflict. */
  #endAppend(call: string, work: Append, outcome: Outcome, code: string | null): void {
    if (outcome === 'unknown') this.#tally.add('unknown outcomes');
    const fair = code !== 'JOURNAL_CONFLICT' || work.expectedSeq !== undefined;
    this.#tally.expect(fair, () => `append ${call} relied on no number, and met a conflict`);
  }

  /** @param storage one that reaches the server without what fails */
  async check(storage: StorageBackend): Promise<void> {
    try {
      for (const agent of AGENTS) await this.#checkJournal(storage, agent);
      for (const name of this.#adds.keys()) await this.#checkList(storage, name);
      for (const name of this.#written.keys()) await this.#checkDocument(storage, name);
      for (const digest of this.#blobs) {
        const there = (await storage.blobs(['blobs']).get(digest)) !== null;
        this.#tally.expect(there, () => `the acknowledged blob ${digest} is not there`);
      }
      this.#blobs.clear(); // nobody deletes one
      this.#adds.clear(); // each round has its own
    } catch (thrown) {
      this.#tally.violation(`the store cannot be read: ${messageOf(thrown)}`);
    }
  }

  async #checkJournal(storage: StorageBackend, agent: string): Promise<void> {
    const journal = await storage.openJournal<JsonObject>(journalOf(agent), { readOnly: true });
    const places = new Map<string, number[]>();
    let last = 0;
    for await (const entry of journal.read()) {
      if (entry.kind === 'damage') {
        this.#tally.violation(`${agent}: ${entry.reason} at ${entry.place}`);
        continue;
      }
      this.#tally.expect(entry.seq === last + 1, () => `${agent}: ${entry.seq} follows ${last}`);
      last = entry.seq;
      const id = String(entry.record['id']);
      places.set(id, [...(places.get(id) ?? []), entry.seq]);
    }
    await journal.close();
    for (const told of this.#appends) if (told.work.agent === agent) this.#checkAppend(told, places);
  }

  #checkAppend({ work, outcome, code, seq }: Told<Append>, places: ReadonlyMap<string, number[]>): void {
    const { ids, agent } = work;
    const found = ids.map((id) => places.get(id) ?? []);
    const label = () => `${agent}: ${ids.join(' ')} (${code ?? outcome}) stands at ${JSON.stringify(found)}`;
    const once = found.every((at) => at.length <= 1);
    this.#tally.expect(once, () => `${label()}: more than once`);
    const there = found.filter((at) => at.length > 0).length;
    this.#tally.expect(there === 0 || there === ids.length, () => `${label()}: not all or nothing`);
    // Of an append whose answer was lost before somebody took over, the new owner has judged: it is told as lost, and may be there.
    const isRefused = outcome === 'refused' && code !== 'LEASE_LOST';
    if (isRefused) this.#tally.expect(there === 0, () => `${label()}: it was refused`);
    if (outcome !== 'done' || seq === null) return;
    const exact = found.every((at, index) => at[0] === seq - ids.length + 1 + index);
    this.#tally.expect(exact, () => `${label()}: it was acknowledged as ${seq}`);
  }

  async #checkList(storage: StorageBackend, name: string): Promise<void> {
    const stored = await storage.documents.read(['documents', name]);
    const { ids } = (stored?.value ?? { ids: [] }) as unknown as { readonly ids: readonly string[] };
    for (const { work, outcome, code } of this.#adds.get(name) ?? []) {
      const times = ids.filter((id) => id === work.id).length;
      const label = () => `${name}: ${work.id} (${code ?? outcome}) is there ${times} times`;
      if (outcome === 'done') this.#tally.expect(times === 1, label);
      else if (outcome === 'refused') this.#tally.expect(times === 0, label);
      else this.#tally.expect(times <= 1, label);
    }
  }

  async #checkDocument(storage: StorageBackend, name: string): Promise<void> {
    const stored = await storage.documents.read(['documents', name]);
    this.#checkVersion(name, (stored?.value as { readonly version: number } | undefined)?.version ?? 0);
  }

  #checkVersion(name: string, version: number): void {
    const { acknowledged, unknown } = this.#versionsOf(name);
    const fine = version === acknowledged || unknown.has(version);
    this.#tally.expect(fine, () => `${name} has version ${version}, but ${acknowledged} was acknowledged`);
  }
}

function outcomeOf(work: Work, code: string | null): Outcome {
  if (code === null) return 'done';
  if (!REFUSED.has(code)) return 'unknown';
  // Of an append it is said which of both; what else was not answered in time may still take place.
  return code === 'STORAGE_UNAVAILABLE' && work.op !== 'append' ? 'unknown' : 'refused';
}
