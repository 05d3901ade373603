/**
 * Assigns a sequence number to each record, and detects gaps and duplicates.
 *
 * A damaged line may have been a record, so it takes one number: a number is never assigned twice.
 */
export class SequenceCheck {
  #last: number;
  #skipped = 0;
  #mode: 'strict' | 'until-numbered' | 'trusting';
  #numbered: boolean;

  constructor(prevSeq: number) {
    this.#last = prevSeq;
    this.#mode = 'strict';
    this.#numbered = true;
  }

  /** Starts at the first line with a number; for reading only the end of a file. */
  static untilNumbered(): SequenceCheck {
    const check = new SequenceCheck(0);
    check.#mode = 'until-numbered';
    check.#numbered = false;
    return check;
  }

  /** Uses each line's own number; for reading backward. */
  static trusting(): SequenceCheck {
    const check = new SequenceCheck(0);
    check.#mode = 'trusting';
    return check;
  }

  get isNumbered(): boolean {
    return this.#numbered;
  }

  /** The highest number in use. */
  get lastSeq(): number {
    return this.#last + this.#skipped;
  }

  skipDamaged(): void {
    this.#skipped += 1;
  }

  /** @param own the number that the line carries, or null */
  next(own: number | null): { readonly seq: number | null; readonly gap: boolean } {
    if (this.#mode === 'trusting') return { seq: own ?? 0, gap: false };
    if (!this.#numbered && own !== null) this.#start(own);
    const expected = this.#last + this.#skipped + 1;
    if (own === null) return this.#take(expected, false);
    if (own <= this.#last) return { seq: null, gap: false };
    return this.#take(own, own > this.#last + 1 && this.#skipped === 0);
  }

  #start(own: number): void {
    this.#last = own - 1;
    this.#skipped = 0;
    this.#numbered = true;
  }

  #take(seq: number, gap: boolean): { readonly seq: number; readonly gap: boolean } {
    this.#last = seq;
    this.#skipped = 0;
    return { seq, gap };
  }
}
