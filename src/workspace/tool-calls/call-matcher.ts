/** Matches calls against a query. */
import { isRekindleError } from '../../core/errors.js';
import type { ToolCallRecord } from './tool-call-record.js';

/** Filter of `ToolCallLog.search`; all given fields must match. */
export interface ToolCallQuery {
  readonly tool?: string;
  readonly agent?: string;
  readonly session?: string;
  /** One of these. */
  readonly sessions?: readonly string[];
  readonly status?: 'ok' | 'error';
  /** Milliseconds since 1970; both ends included. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Text in the input, output or error, case-insensitive; also searched in values stored by reference. */
  readonly text?: string;
  /** Maximum of results. Default 10. */
  readonly limit?: number;
}

const DAY_MS = 86_400_000;

export class CallMatcher {
  readonly #query: ToolCallQuery;
  readonly #load: (ref: string) => Promise<string | null>;
  /** The text itself, and its JSON form with escaped quotes, backslashes and line ends. */
  readonly #texts: readonly string[] | null;

  constructor(query: ToolCallQuery, load: (ref: string) => Promise<string | null>) {
    this.#query = query;
    this.#load = load;
    const { text } = query;
    const texts = text === undefined ? null : [text, JSON.stringify(text).slice(1, -1)];
    this.#texts = texts && [...new Set(texts.map((one) => one.toLowerCase()))];
  }

  mayHold(day: string): boolean {
    const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = this.#query;
    const start = Date.parse(day);
    return start + DAY_MS > fromMs && start <= toMs;
  }

  async matches(record: ToolCallRecord): Promise<boolean> {
    const { tool, agent, session, sessions, status, fromMs, toMs } = this.#query;
    const at = Date.parse(record.startedAt);
    if ((fromMs !== undefined && at < fromMs) || (toMs !== undefined && at > toMs)) return false;
    if ((tool ?? record.tool) !== record.tool || (agent ?? record.agent) !== record.agent) return false;
    if ((session ?? record.session) !== record.session || (status ?? record.status) !== record.status)
      return false;
    if (sessions && (record.session === null || !sessions.includes(record.session))) return false;
    return this.#texts === null || this.#hasText(record, this.#texts);
  }

  async #hasText(record: ToolCallRecord, texts: readonly string[]): Promise<boolean> {
    const has = (part: string) => texts.some((text) => part.toLowerCase().includes(text));
    const here = [record.error ?? '', JSON.stringify(record.input), JSON.stringify(record.output)];
    if (here.some(has)) return true;
    for (const ref of [record.inputRef, record.outputRef])
      if (ref !== null && has((await this.#value(ref)) ?? '')) return true;
    return false;
  }

  /** Damaged values match nothing, but must not hide other calls. */
  async #value(ref: string): Promise<string | null> {
    try {
      return await this.#load(ref);
    } catch (thrown) {
      if (isRekindleError(thrown, 'BLOB_DAMAGED')) return null;
      throw thrown;
    }
  }
}
