/**
 * Search by meaning, where the host gave an embedder. It helps the search by words and never hinders it: whatever fails
 * is reported, and the words answer alone.
 */
import { asRekindleError, type RekindleError } from '../../core/errors.js';
import type { MemoryStore } from '../store/memory-store.js';
import { type Embedder, embedTexts } from './embedder.js';
import type { RecallIndex } from './recall-index.js';
import { type NearestPassages, VectorIndex } from './vector-index.js';

/** The embedder of an agent, and how long a request waits for it. */
export interface MeaningOptions {
  readonly embedder: Embedder;
  /** Default 300 ms. */
  readonly timeoutMs?: number;
  /** How long closing waits until the vectors of the last turns are made. Default 2,000 ms. */
  readonly closeMs?: number;
}

/** What failed: the vector of a question, making the vectors of passages, or reading stored ones. */
export type MeaningStep = 'question' | 'passages' | 'stored';

export const EMBEDDER_TIMEOUT_MS = 300;
const CLOSE_MS = 2_000;

export class MeaningSearch {
  readonly #vectors: VectorIndex;
  readonly #options: MeaningOptions;
  readonly #onProblem: (step: MeaningStep, error: RekindleError) => void;
  readonly #closing = new AbortController();
  #making: Promise<void> | null = null;
  #isWanted = false;

  /** Does no I/O yet. */
  constructor(
    store: MemoryStore,
    options: MeaningOptions,
    onProblem: (step: MeaningStep, error: RekindleError) => void,
  ) {
    this.#options = options;
    this.#onProblem = onProblem;
    const { embedder } = options;
    this.#vectors = new VectorIndex(store, { embedder, onDamaged: (error) => onProblem('stored', error) });
  }

  /** Starts with the vector of the question at once, so that it is made during the search by words. Never rejects. */
  ask(text: string): NearestPassages {
    const { embedder, timeoutMs = EMBEDDER_TIMEOUT_MS } = this.#options;
    const vector = embedTexts(embedder, [text], { timeoutMs }).catch((thrown: unknown) =>
      this.#report('question', thrown),
    );
    return async (limit, accepts) => {
      const [question] = (await vector) ?? [];
      if (!question) return [];
      const found = await this.#vectors
        .nearest(question, limit, accepts)
        .catch((thrown: unknown) => this.#report('stored', thrown));
      return found ?? [];
    };
  }

  /** Makes the vectors of new passages, outside of turns. Passages of a turn that ends meanwhile follow. */
  refresh(index: RecallIndex): void {
    this.#isWanted = true;
    this.#making ??= this.#make(index).finally(() => {
      this.#making = null;
    });
  }

  /** Waits until the vectors are made; ends that after a while. */
  async settled(): Promise<void> {
    const { closeMs = CLOSE_MS } = this.#options;
    const timer = setTimeout(() => this.#closing.abort(), closeMs);
    await this.#making;
    clearTimeout(timer);
  }

  async #make(index: RecallIndex): Promise<void> {
    const { signal } = this.#closing;
    while (this.#isWanted && !signal.aborted) {
      this.#isWanted = false;
      try {
        await index.catchUp();
        const first = index.recordFromEnd(this.#vectors.passagesMax);
        await this.#vectors.catchUp(first, signal, index);
      } catch (thrown) {
        if (!signal.aborted) this.#report('passages', thrown);
      }
    }
  }

  #report(step: MeaningStep, thrown: unknown): undefined {
    this.#onProblem(step, asRekindleError(thrown));
  }
}
