/** A journal over another one: what a wrapper does not change is the other's. */
import type { JsonObject } from '../core/json.js';
import type {
  AppendOptions,
  AppendResult,
  Journal,
  JournalDamage,
  JournalEntry,
  JournalHead,
  ReadOptions,
  SegmentRepair,
} from './ports.js';

export abstract class ForwardingJournal<R extends JsonObject> implements Journal<R> {
  protected readonly inner: Journal<R>;

  constructor(inner: Journal<R>) {
    this.inner = inner;
  }

  append(records: readonly R[], options?: AppendOptions): Promise<AppendResult> {
    return this.inner.append(records, options);
  }

  read(options?: ReadOptions): AsyncIterable<JournalEntry<R>> {
    return this.inner.read(options);
  }

  readBackward(): AsyncIterable<JournalEntry<R>> {
    return this.inner.readBackward();
  }

  head(): Promise<JournalHead> {
    return this.inner.head();
  }

  openingDamage(): readonly (JournalDamage & { readonly setAside?: string })[] {
    return this.inner.openingDamage();
  }

  archiveBefore(seq: number): Promise<void> {
    return this.inner.archiveBefore(seq);
  }

  removeBefore(seq: number): Promise<void> {
    return this.inner.removeBefore(seq);
  }

  secure(): Promise<void> {
    return this.inner.secure();
  }

  repair(): Promise<SegmentRepair[]> {
    return this.inner.repair();
  }

  erase(seqs: readonly number[]): Promise<number> {
    return this.inner.erase(seqs);
  }

  continueAfter(seq: number): Promise<void> {
    return this.inner.continueAfter(seq);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
