/** Records results of tool calls. A result that exceeds its share of the input budget is stored apart. */
import type { ToolResultPayload } from '../messages/message.js';
import type { ContextFitter } from './fit/context-fitter.js';
import type { ToolResultInput } from './memory-input.js';
import type { MemoryStore } from './store/memory-store.js';
import { byTurn, type ResultBody, resultBody } from './trace-bodies.js';
import type { TraceLog } from './trace-log.js';

export class ResultIngestion {
  readonly #log: TraceLog;
  readonly #store: MemoryStore;
  readonly #fitter: ContextFitter | null;

  /** @param fitter null: every result is kept in the context as it is */
  constructor(log: TraceLog, store: MemoryStore, fitter: ContextFitter | null) {
    this.#log = log;
    this.#store = store;
    this.#fitter = fitter;
  }

  /** Durable when it resolves. Returns the results as recorded, by turn. @throws MESSAGE_INVALID before anything is written */
  async ingest(
    results: readonly ToolResultInput[],
    turnId: string,
    sourceEvent: string,
  ): Promise<readonly ToolResultPayload[]> {
    const groups: [turn: string, bodies: ResultBody[]][] = [];
    for (const [turn, group] of byTurn(results, turnId)) {
      groups.push([turn, await this.bodies(group, turn, sourceEvent)]);
    }
    if (groups.length > 1) for (const [turn, bodies] of groups) this.#log.check(turn, bodies);
    for (const [turn, bodies] of groups) await this.#log.append(turn, bodies);
    return groups.flatMap(([, bodies]) => bodies.map(({ result }) => result));
  }

  /** @param calls number of calls in the response of these results, if it is not recorded yet */
  async bodies(
    results: readonly ToolResultInput[],
    turnId: string,
    sourceEvent: string,
    calls = 0,
  ): Promise<ResultBody[]> {
    const bodies = results.map((result) => resultBody(result, sourceEvent, this.#store.backend.redactor));
    const fitter = this.#fitter;
    return fitter ? Promise.all(bodies.map((body) => fitter.withinShare(body, turnId, calls))) : bodies;
  }
}
