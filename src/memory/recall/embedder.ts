/**
 * The port for a sentence model, and the calls to it. A model is never trusted: it may fail, hang, or give something
 * else than vectors. None of that fails a turn.
 */
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';

/**
 * Turns texts into vectors: a local model, or a service. Texts of similar meaning must get vectors with a high cosine.
 * Pass it as `memory: { recall: { embedder } }`.
 * ```ts
 * const embedder: Embedder = { name: 'my-model-2', dimension: 384, embed: (texts) => myModel.vectors(texts) };
 * ```
 */
export interface Embedder {
  /** Stored with the vectors. Change it with the model: vectors of another name are made again. 1 to 200 characters. */
  readonly name: string;
  /** Numbers of one vector: 1 to 8,192. */
  readonly dimension: number;
  /**
   * One vector for each text, in order; their lengths do not matter. Texts have at most 4,000 characters, and a call has
   * at most 32 of them. May reject: recall then ranks by words. The signal aborts when nobody waits for the answer any
   * more.
   */
  embed(
    texts: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly Float32Array[]>;
}

/** How passages are found by their meaning. */
export interface EmbedderOptions {
  /** Default: none; passages are found by their words. */
  readonly embedder?: Embedder;
  /** How long a question waits for the embedder, in milliseconds: 1 to 60,000. Then the words rank alone. Default 300. */
  readonly embedderTimeoutMs?: number;
}

const NAME_CHARS_MAX = 200;
const DIMENSION_MAX = 8_192;
const TIMEOUT_MS_MAX = 60_000;

/** @throws INVALID_ARGUMENT */
export function assertEmbedder({ embedder, embedderTimeoutMs: ms }: EmbedderOptions): void {
  if (embedder) assertPort(embedder);
  if (ms === undefined || (Number.isInteger(ms) && ms >= 1 && ms <= TIMEOUT_MS_MAX)) return;
  const text = `\`embedderTimeoutMs\` must be a whole number from 1 to ${TIMEOUT_MS_MAX}.`;
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { field: 'embedderTimeoutMs' } });
}

function assertPort({ name, dimension, embed }: Embedder): void {
  const isNamed = typeof name === 'string' && name.trim() !== '' && name.length <= NAME_CHARS_MAX;
  if (!isNamed) throw badEmbedder('name', `a text of 1 to ${NAME_CHARS_MAX} characters`);
  const isSize = Number.isInteger(dimension) && dimension >= 1 && dimension <= DIMENSION_MAX;
  if (!isSize) throw badEmbedder('dimension', `a whole number from 1 to ${DIMENSION_MAX}`);
  if (typeof embed !== 'function') throw badEmbedder('embed', 'a function');
}

function badEmbedder(field: string, needed: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `The \`${field}\` of an embedder must be ${needed}.`, {
    details: { field },
  });
}

/** How long to wait for vectors. */
export interface EmbedLimits {
  readonly timeoutMs: number;
  /** Ends the wait at once. */
  readonly signal?: AbortSignal;
}

/**
 * The vectors of some texts, each of length 1. A text without a direction, such as one that the model does not know, gets zeros.
 * @throws EMBEDDER_FAILED if the model throws, answers too late, or gives something else than vectors
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  { timeoutMs, signal }: EmbedLimits,
): Promise<readonly Float32Array[]> {
  const late = new AbortController();
  const stop = () => late.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  try {
    const given = await orAborted(embedder, texts, late.signal);
    return unitVectors(given, embedder, texts.length);
  } catch (thrown) {
    if (isRekindleError(thrown, 'EMBEDDER_FAILED')) throw thrown;
    if (!late.signal.aborted) throw failed(embedder, 'it threw', thrown);
    const why = signal?.aborted ? 'the wait was ended' : `it did not answer within ${timeoutMs} ms`;
    throw failed(embedder, why, thrown);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Rejects when the signal aborts, also if the model ignores it. */
function orAborted(embedder: Embedder, texts: readonly string[], signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    // A model that throws before its first wait is treated as one that rejects.
    Promise.resolve()
      .then(() => embedder.embed(texts, { signal }))
      .then(resolve, reject);
  });
}

/** @throws EMBEDDER_FAILED */
function unitVectors(given: unknown, embedder: Embedder, count: number): Float32Array[] {
  const { dimension } = embedder;
  if (!Array.isArray(given) || given.length !== count)
    throw failed(embedder, `it must give ${count} vectors`, null);
  return given.map((vector: unknown) => {
    if (!(vector instanceof Float32Array) || vector.length !== dimension)
      throw failed(embedder, `a vector must be a Float32Array of ${dimension} numbers`, null);
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    if (!Number.isFinite(length)) throw failed(embedder, 'a vector has a number that is not finite', null);
    return length === 0 ? vector : vector.map((value) => value / length);
  });
}

/** @param thrown null if the embedder gave something else than vectors */
function failed({ name }: Embedder, why: string, thrown: unknown): RekindleError {
  return new RekindleError('EMBEDDER_FAILED', `The embedder ${JSON.stringify(name)} failed: ${why}.`, {
    ...(thrown === null ? {} : { cause: thrown }),
    details: { embedder: name, why, problem: thrown === null ? why : problemOf(thrown) },
  });
}

function problemOf(thrown: unknown): string {
  return messageOf(thrown).slice(0, 300).toWellFormed();
}
