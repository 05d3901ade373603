/** What a store must hold after its writers were stopped, and the check of it. */
import assert from 'node:assert/strict';
import { messageOf } from '../../src/core/errors.js';
import type { Journal, StorageBackend } from '../../src/storage/ports.js';
import type { FaultTally } from './fault-suite.js';
import { type KnownRecord, knownBlob, knownDocument, knownRecord } from './known-records.js';

export class KnownStore {
  /** Acknowledged: sequence number to writer and record. */
  readonly records = new Map<number, { readonly round: number; readonly index: number }>();
  readonly blobs = new Map<number, string>();
  documentStarted = 0;
  documentAcknowledged = 0;
  readonly #seed: number;
  readonly #tally: FaultTally;

  constructor(seed: number, tally: FaultTally) {
    this.#seed = seed;
    this.#tally = tally;
  }

  /** Takes in what a child said. */
  hear(round: number, lines: readonly string[]): void {
    for (const line of lines) {
      const [word, first = '', second = ''] = line.split(' ');
      if (word === 'rec') this.acknowledged(round, Number(first), Number(second));
      else if (word === 'doc-start') this.documentStarted = Number(first);
      else if (word === 'doc') this.documentAcknowledged = Number(first);
      else if (word === 'blob') this.blobs.set(Number(first), second);
    }
  }

  acknowledged(round: number, index: number, seq: number): void {
    const taken = this.records.get(seq);
    this.#tally.expect(taken === undefined, () => `number ${seq} was acknowledged twice`);
    this.records.set(seq, { round, index });
    this.#tally.add('acknowledged');
  }

  /** Every acknowledged record once, in order, exact; nothing that nobody wrote. */
  async checkJournal(journal: Journal<KnownRecord>): Promise<void> {
    let seq = 0;
    let before = { round: -1, index: -1 };
    for await (const entry of journal.read({ archived: true })) {
      if (entry.kind === 'damage') {
        this.#tally.add(`damage ${entry.reason}`);
        const expected = entry.reason === 'after-seal'; // the torn tail of a killed writer, or what a woken one added
        this.#tally.expect(expected, () => `unexpected damage: ${JSON.stringify(entry)}`);
        continue;
      }
      seq += 1;
      const { round, index } = entry.record;
      this.#tally.expect(entry.seq === seq, () => `record ${entry.seq} stands where ${seq} is due`);
      const ordered = round > before.round || (round === before.round && index > before.index);
      this.#tally.expect(
        ordered,
        () => `record ${round}/${index} comes after ${before.round}/${before.index}`,
      );
      before = { round, index };
      this.#checkRecord(entry.seq, entry.record);
    }
    const last = Math.max(0, ...this.records.keys());
    this.#tally.expect(seq >= last, () => `the journal ends at ${seq}, but ${last} was acknowledged`);
  }

  #checkRecord(seq: number, record: KnownRecord): void {
    const { round, index } = record;
    const due = this.records.get(seq);
    const same = due === undefined || (due.round === round && due.index === index);
    this.#tally.expect(same, () => `record ${seq} is ${round}/${index}, not ${due?.round}/${due?.index}`);
    const exact = JSON.stringify(record) === JSON.stringify(knownRecord(this.#seed, round, index));
    this.#tally.expect(exact, () => `record ${seq} (${round}/${index}) is not what was written`);
    if (due === undefined) this.#tally.add('unacknowledged records found');
  }

  /** The document is the acknowledged version or one that was started later; each acknowledged artifact is exact. */
  async checkFiles(storage: StorageBackend): Promise<void> {
    try {
      const read = await storage.documents.read(['agent', 'state']);
      const version = read ? (read.value as { version: number }).version : 0;
      const inRange = version >= this.documentAcknowledged && version <= this.documentStarted;
      this.#tally.expect(inRange, () => {
        return `the document has version ${version}, not ${this.documentAcknowledged} to ${this.documentStarted}`;
      });
      if (read) assert.deepEqual(read.value, knownDocument(this.#seed, version));
      this.documentAcknowledged = this.documentStarted = version;
      for (const [number, digest] of this.blobs) {
        const bytes = await storage.blobs(['agent', 'artifacts']).get(digest);
        const exact = bytes !== null && knownBlob(this.#seed, number).equals(bytes);
        this.#tally.expect(exact, () => `artifact ${number} is not what was put`);
      }
    } catch (thrown) {
      this.#tally.violation(`document or artifact cannot be read: ${messageOf(thrown)}`);
    }
  }
}
