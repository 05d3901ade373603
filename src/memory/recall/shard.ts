/**
 * A shard: the passages of a range of records, in journal order, and the positions of each term in them. The newest
 * shard is built in memory; the others are files.
 */
import type { JournalHead } from '../../storage/ports.js';
import type { Language } from './languages.js';
import type { Passage, Speaker } from './passage.js';

/** What is known of a passage without reading it. */
export interface PassageInfo {
  readonly seq: number;
  readonly piece: number;
  /** The number in its turn id; 0 for turns named by other tools. */
  readonly turn: number;
  /** Seconds since 1970. */
  readonly ts: number;
  readonly speaker: Speaker;
  readonly toolName: string | null;
}

/** A record of the journal near a passage, and its position. */
export type Place = Pick<JournalHead, 'seq' | 'cursor'>;

export interface Shard {
  /** Passages, numbered from 0. */
  readonly count: number;
  /** Number of terms in all passages. */
  readonly terms: number;
  readonly languages: ReadonlyMap<Language, number>;
  /** Number of terms in one passage. */
  lengthOf(index: number): number;
  infoOf(index: number): PassageInfo;
  /** Seconds since 1970. */
  timeOf(index: number): number;
  /** Number of passages with the term. */
  frequencyOf(term: string): number;
  /** Visits each passage with the term, in order, with the number of occurrences. */
  eachWith(term: string, visit: (index: number, times: number) => void): void;
  /** The nearest known position at or before a record; null if there is none. */
  placeBefore(seq: number): Place | null;
}

/** A passage with its terms. */
export interface AnalysedPassage {
  readonly passage: Pick<Passage, 'seq' | 'piece' | 'ts' | 'speaker' | 'toolName'>;
  readonly turn: number;
  readonly terms: readonly string[];
  readonly language: Language;
}

/** The position of every n-th record is kept; the others are found by reading on from there. */
const PLACES_EVERY = 2;

export class ShardBuilder implements Shard {
  readonly infos: PassageInfo[] = [];
  readonly lengths: number[] = [];
  /** Term → passage, times, passage, times, ... */
  readonly postings = new Map<string, number[]>();
  readonly places: Place[] = [];
  readonly languages = new Map<Language, number>();
  terms = 0;

  get count(): number {
    return this.infos.length;
  }

  add({ passage, turn, terms, language }: AnalysedPassage): void {
    const index = this.infos.length;
    const { seq, piece, ts, speaker, toolName } = passage;
    this.infos.push({ seq, piece, turn, ts, speaker, toolName });
    this.lengths.push(terms.length);
    this.terms += terms.length;
    this.languages.set(language, (this.languages.get(language) ?? 0) + 1);
    for (const term of terms) {
      const list = this.postings.get(term);
      if (!list) this.postings.set(term, [index, 1]);
      else if (list[list.length - 2] === index) list[list.length - 1]! += 1;
      else list.push(index, 1);
    }
  }

  /** Must be called for each record with passages. */
  addPlace({ seq, cursor }: Place): void {
    const last = this.places.at(-1);
    if (cursor && (!last || seq >= last.seq + PLACES_EVERY)) this.places.push({ seq, cursor });
  }

  lengthOf(index: number): number {
    return this.lengths[index]!;
  }

  infoOf(index: number): PassageInfo {
    return this.infos[index]!;
  }

  timeOf(index: number): number {
    return this.infos[index]!.ts;
  }

  frequencyOf(term: string): number {
    return (this.postings.get(term)?.length ?? 0) / 2;
  }

  eachWith(term: string, visit: (index: number, times: number) => void): void {
    const list = this.postings.get(term) ?? [];
    for (let at = 0; at < list.length; at += 2) visit(list[at]!, list[at + 1]!);
  }

  placeBefore(seq: number): Place | null {
    return this.places.findLast((place) => place.seq <= seq) ?? null;
  }
}
