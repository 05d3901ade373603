/** Counts what was kept, approximated or dropped of a transcript, with places. */

export interface LossItem {
  /** In words, and stable: `thinking without a signature`. */
  readonly what: string;
  readonly count: number;
  /** The first few: `line 12`, `messages/3`. */
  readonly places: readonly string[];
}

/** What an import kept, approximated and dropped. */
export interface LossReport {
  /** Number of source records that were read. */
  readonly records: number;
  /** Number of items carried over unchanged, by kind: `user message`, `tool call`, ... */
  readonly kept: Readonly<Record<string, number>>;
  readonly approximated: readonly LossItem[];
  readonly dropped: readonly LossItem[];
}

const PLACES_MAX = 5;

interface Tally {
  count: number;
  readonly places: string[];
}

/** Collects the losses of one reading. Pass a new one to an importer's `read`, then call `report`. */
export class LossAccount {
  #records = 0;
  readonly #kept = new Map<string, number>();
  readonly #approximated = new Map<string, Tally>();
  readonly #dropped = new Map<string, Tally>();

  record(count = 1): void {
    this.#records += count;
  }

  keep(kind: string, count = 1): void {
    this.#kept.set(kind, (this.#kept.get(kind) ?? 0) + count);
  }

  /** Carried over in another form: the meaning is kept, part of the form is lost. */
  approximate(what: string, place: string): void {
    tally(this.#approximated, what, place);
  }

  drop(what: string, place: string): void {
    tally(this.#dropped, what, place);
  }

  /** An entry, or part of a message, cannot be read. A strict reading throws here. */
  unreadable(what: string, place: string): void {
    this.drop(what, place);
  }

  report(): LossReport {
    return {
      records: this.#records,
      kept: Object.fromEntries(this.#kept),
      approximated: itemsOf(this.#approximated),
      dropped: itemsOf(this.#dropped),
    };
  }
}

function tally(tallies: Map<string, Tally>, what: string, place: string): void {
  const known = tallies.get(what);
  if (!known) tallies.set(what, { count: 1, places: [place] });
  else {
    known.count += 1;
    if (known.places.length < PLACES_MAX) known.places.push(place);
  }
}

function itemsOf(tallies: ReadonlyMap<string, Tally>): LossItem[] {
  return [...tallies].map(([what, { count, places }]) => ({ what, count, places }));
}
