/** One long turn of large results, and steps at which nothing has to be done. */
import { project } from '../src/messages/projections/project.js';
import { tokensOf } from './fit-replay.js';
import { openReplay } from './fit-sessions.js';
import { quantile, textOfSize } from './support.js';

/** The longest time in which the event loop got no turn, while something runs. */
class LoopWatch {
  longestMs = 0;
  #last = 0;
  #runs = false;

  async during<T>(run: () => Promise<T>): Promise<T> {
    await this.#turn();
    this.#last = performance.now();
    this.#runs = true;
    this.#tick();
    const value = await run();
    await this.#turn();
    this.#look();
    this.#runs = false;
    return value;
  }

  #tick(): void {
    setImmediate(() => {
      if (!this.#runs) return;
      this.#look();
      this.#tick();
    });
  }

  #look(): void {
    const now = performance.now();
    this.longestMs = Math.max(this.longestMs, now - this.#last);
    this.#last = now;
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

const CALLS = 300;
const KB_MAX = 200;

export interface LongTurn {
  /** Tokens of the largest request. */
  readonly largest: number;
  readonly after: number;
  /** The same calls with nothing made smaller, as it was before there was a ladder. */
  readonly unfitted: number;
  readonly longestHoldMs: number;
}

/** 300 calls of 1 to 200 KB in one turn. */
export async function longTurn(budget: number): Promise<LongTurn> {
  const { memory, close, tell } = await openReplay(budget, 'Be kind.');
  await tell({ role: 'user', content: 'Read all files.' });
  const watch = new LoopWatch();
  let largest = 0;
  let unfitted = 0;
  for (let index = 0; index < CALLS; index += 1) {
    const bytes = 1_000 * (1 + ((index * 67) % KB_MAX));
    const text = textOfSize(bytes, index);
    unfitted += bytes / 4;
    await tell({
      role: 'assistant',
      content: null,
      toolPayload: {
        toolCalls: [{ id: `c${index}`, name: 'read', arguments: { path: `src/file-${index}.ts` } }],
      },
    });
    const toolPayload = { toolCallId: `c${index}`, toolName: 'read', toolResult: text, toolError: null };
    await watch.during(async () => {
      await tell({ role: 'tool', content: null, toolPayload });
      await memory.fit({});
    });
    const { request } = project('openai-chat', memory.getWorkingContextMessages());
    largest = Math.max(largest, tokensOf(request, 0));
  }
  const { request } = project('openai-chat', memory.getWorkingContextMessages());
  await close();
  return {
    largest,
    after: tokensOf(request, 0),
    unfitted: Math.round(unfitted),
    longestHoldMs: watch.longestMs,
  };
}

export interface IdleStep {
  readonly messages: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** The baseline: every message is counted anew. */
  readonly recountMs: number;
  readonly longestHoldMs: number;
}

/** What `fit` costs where nothing has to be done. */
export async function idleStep(messages: number): Promise<IdleStep> {
  const { memory, close, tell } = await openReplay(100_000_000);
  for (let index = 0; index < messages; index += 2) {
    const turnId = memory.startTurn();
    await memory.ingestUserMessage(`question ${index}`, turnId);
    await memory.ingestAssistantResponse({ content: `answer ${index}`, final: false }, turnId);
  }
  await memory.fit({});
  const times: number[] = [];
  const watch = new LoopWatch();
  for (let step = 0; step < 200; step += 1) {
    await tell({ role: step % 2 ? 'assistant' : 'user', content: `step ${step}` });
    await watch.during(async () => {
      const start = performance.now();
      await memory.fit({});
      times.push(performance.now() - start);
    });
  }
  const list = memory.getWorkingContextMessages();
  const start = performance.now();
  for (const message of list) Buffer.byteLength(JSON.stringify(message));
  const recountMs = performance.now() - start;
  await close();
  return {
    messages,
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    recountMs,
    longestHoldMs: watch.longestMs,
  };
}
