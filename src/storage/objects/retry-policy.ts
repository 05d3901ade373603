/**
 * The one retry policy of the network backends: exponential back-off with jitter, respecting `Retry-After`, limited by
 * attempts and by a deadline. A request is aborted, and counts as failed, if its server stays silent.
 */
import { setTimeout as realSleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../core/clock.js';
import { type ObjectRequest, objectError } from './object-errors.js';
import { assertWholeNumber } from './option-check.js';
import { RequestFailure } from './request-failure.js';

/** How often, and for how long, a failed request is repeated. */
export interface RetryOptions {
  /** Maximum number of requests. Default 5. */
  readonly attempts?: number;
  /** Milliseconds before the second request; doubled for each further one. Default 200. */
  readonly firstDelayMs?: number;
  /** Longest delay in milliseconds. A server may ask for a longer one. Default 10,000. */
  readonly maxDelayMs?: number;
  /** Milliseconds for all attempts and delays together; a running attempt is aborted. Default 600,000. */
  readonly deadlineMs?: number;
}

export interface RetryPolicyOptions extends RetryOptions {
  /** Longest silence of the server in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** For tests. */
  readonly clock?: Clock;
  readonly sleep?: (ms: number) => Promise<unknown>;
  /** From 0 to 1. */
  readonly random?: () => number;
}

export interface Attempt {
  /** Aborted if the server is silent for too long, with a `RequestFailure` as its reason. */
  readonly signal: AbortSignal;
  /** Call when data arrives: restarts the time limit for silence. */
  readonly heard: () => void;
}

export interface RunOptions {
  /** Bytes that one attempt sends; it gets more time for them. */
  readonly uploadBytes?: number;
  /** Overrides the attempts of the policy. */
  readonly attempts?: number;
}

/** The slowest supported link: while a body is being sent, the server is silent. */
const UPLOAD_BYTES_PER_MS = (1024 * 1024) / 1000;
const TIMER_MS_MAX = 2 ** 31 - 1;

export class RetryPolicy {
  readonly #options: Required<Omit<RetryPolicyOptions, 'timeoutMs'>> & { readonly timeoutMs: number };

  /** @throws INVALID_ARGUMENT */
  constructor(options: RetryPolicyOptions = {}) {
    assertWholeNumber('attempts', options.attempts, 1);
    for (const key of ['firstDelayMs', 'maxDelayMs', 'deadlineMs', 'timeoutMs'] as const)
      assertWholeNumber(key, options[key], 0);
    this.#options = {
      attempts: options.attempts ?? 5,
      firstDelayMs: options.firstDelayMs ?? 200,
      maxDelayMs: options.maxDelayMs ?? 10_000,
      deadlineMs: options.deadlineMs ?? 600_000,
      timeoutMs: options.timeoutMs ?? 30_000,
      clock: options.clock ?? systemClock,
      sleep: options.sleep ?? ((ms) => realSleep(ms)),
      random: options.random ?? Math.random,
    };
  }

  /**
   * Runs `work`, and repeats it while it rejects with a transient `RequestFailure`. Other errors are passed on.
   * @throws STORAGE_UNAVAILABLE, STORAGE_FAILED, STORAGE_FULL
   */
  async run<T>(
    request: ObjectRequest,
    work: (attempt: Attempt) => Promise<T>,
    options: RunOptions = {},
  ): Promise<T> {
    const { clock, deadlineMs, sleep, timeoutMs } = this.#options;
    const { uploadBytes = 0, attempts = this.#options.attempts } = options;
    const deadline = clock.nowMs() + deadlineMs;
    const silenceMs = timeoutMs + uploadBytes / UPLOAD_BYTES_PER_MS;
    for (let made = 1; ; made += 1) {
      try {
        return await this.#once(work, silenceMs, deadline);
      } catch (thrown) {
        if (!(thrown instanceof RequestFailure)) throw thrown;
        const delay = this.#delay(thrown, made);
        const again = thrown.transient && made < attempts && clock.nowMs() + delay < deadline;
        if (!again) throw objectError(thrown, request, made);
        await sleep(delay);
      }
    }
  }

  async #once<T>(work: (attempt: Attempt) => Promise<T>, silenceMs: number, deadline: number): Promise<T> {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    const heard = () => {
      clearTimeout(timer);
      if (ended) return;
      const ms = Math.max(0, Math.min(silenceMs, deadline - this.#options.clock.nowMs(), TIMER_MS_MAX));
      const end = () => controller.abort(new RequestFailure(`no answer within ${Math.round(ms)} ms.`));
      timer = setTimeout(end, ms);
    };
    const silence = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    heard();
    try {
      // A race, because not everything that is awaited (credentials, for instance) can be aborted.
      return await Promise.race([work({ signal, heard }), silence]);
    } finally {
      ended = true;
      clearTimeout(timer);
    }
  }

  #delay(failure: RequestFailure, made: number): number {
    const { firstDelayMs, maxDelayMs, random } = this.#options;
    const full = Math.min(maxDelayMs, firstDelayMs * 2 ** (made - 1));
    const own = full / 2 + (full / 2) * random();
    return Math.max(own, retryAfterMs(failure.retryAfter, this.#options.clock.nowMs()));
  }
}

/** `Retry-After` as milliseconds from now; 0 if it is missing, or neither seconds nor a date. */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  const text = header.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? 0 : Math.max(0, until - nowMs);
}
