/**
 * The rungs over a list of messages that another program keeps: pure, nothing is stored. Only tool results get
 * shorter; every other message stays as it is, or goes into the digest of a compaction.
 */
import { isRekindleError } from '../../core/errors.js';
import { type Message, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { CompactionPolicy } from '../compaction/compaction-policy.js';
import { Compactor } from '../compaction/compactor.js';
import { ExtractiveSummarizer } from '../compaction/extractive-summarizer.js';
import type { Shrinking } from '../compaction/filled-tail.js';
import type { TokenCounter } from '../compaction/token-counter.js';
import type { MemoryBundle } from '../models/memory-items.js';
import type { Ladder } from './ladder.js';
import { clearResult, isClearable, trimMessage } from './shorten-message.js';
import { BYTES_A_TOKEN, clearable, resultBytesMax, shrinkingTo, trimmable } from './shrinkable.js';

/** A fitted list, and the items of its memory message. */
export interface FittedState {
  readonly messages: readonly Message[];
  readonly memory: MemoryBundle;
}

export interface ListLadderOptions {
  readonly policy: CompactionPolicy;
  readonly counter: TokenCounter;
  readonly inputBudgetTokens: number;
  /** The messages of the given list, by what replaced them. */
  readonly originals: WeakMap<Message, Message>;
}

/** The memory message shows fewer. */
const ITEMS_MAX = 50;

/** One climb. `state` is the result so far. */
export class ListLadder implements Ladder {
  state: FittedState;
  readonly #options: ListLadderOptions;
  readonly #compactor: Compactor;

  constructor(state: FittedState, options: ListLadderOptions) {
    this.state = state;
    this.#options = options;
    const { policy, counter } = options;
    const retriever = { retrieve: async (episodic: number) => newest(this.state.memory, episodic) };
    this.#compactor = new Compactor({ policy, counter, retriever, summarizer: new ExtractiveSummarizer() });
  }

  readonly tokens = (): Promise<number> => this.#options.counter.countMessages(this.state.messages);

  /** Before all rungs: results above their share keep their head and tail, as if they had been stored apart on arrival. */
  async shorten(): Promise<void> {
    const { policy, inputBudgetTokens } = this.#options;
    const opening = this.state.messages.findIndex(({ role }) => role !== 'tool');
    let calls = opening < 0 ? this.state.messages.length : opening; // of results whose calls are not in the list
    const messages: Message[] = [];
    for (const message of this.state.messages) {
      calls = toolCallsOf(message).length || calls;
      const maxBytes = resultBytesMax(policy, inputBudgetTokens, calls);
      const isWhole = canShorten(message) && !this.#options.originals.has(message);
      messages.push(
        isWhole ? await this.#shorter(message, (whole) => trimMessage(whole, maxBytes, null)) : message,
      );
    }
    this.state = { ...this.state, messages };
  }

  readonly clear = async (target: number, atMost: number): Promise<boolean> => {
    if (!hasRequest(this.state.messages)) return false;
    const { places, left } = await clearable(this.state.messages, target, this.#options.counter);
    if (places.length === 0 || left > atMost) return false;
    for (const at of places) await this.#replaceAt(at, (whole) => clearResult(whole, null));
    return true;
  };

  readonly compact = async (roomTokens: number): Promise<boolean> => {
    const { messages, memory } = this.state;
    if (!hasRequest(messages)) return false;
    let made = 0;
    const newId = (prefix: string) => `${prefix}_${memory.episodic.length + ++made}`;
    try {
      const plan = await this.#compactor.plan({
        messages,
        newId,
        ts: 0,
        roomTokens,
        shrinking: this.#shrinking,
      });
      if (!plan) return false;
      const episodic = [...memory.episodic, plan.episodic];
      this.state = {
        messages: plan.messages,
        memory: newest({ episodic, semantic: [...memory.semantic, ...plan.semantic] }, ITEMS_MAX),
      };
      return true;
    } catch (thrown) {
      if (isRekindleError(thrown, 'COMPACTION_REFUSED')) return false;
      throw thrown;
    }
  };

  readonly trim = async (target: number, limit: number): Promise<boolean> => {
    const { policy, counter, inputBudgetTokens } = this.#options;
    const bounds = {
      targetBytes: target * BYTES_A_TOKEN,
      resultBytesMax: (results: number) => resultBytesMax(policy, inputBudgetTokens, results),
    };
    const before = this.state.messages;
    for (const { at, maxBytes } of await trimmable(before, new Set(), bounds, counter)) {
      if ((await this.tokens()) <= limit) break;
      if (canShorten(before[at]!)) await this.#replaceAt(at, (whole) => trimMessage(whole, maxBytes, null));
    }
    return this.state.messages !== before;
  };

  readonly #shrinking: Shrinking = {
    tokensAfter: (message) => (isClearable(message) ? shrinkingTo(null).tokensAfter(message) : null),
    shrink: (message) => this.#shorter(message, (whole) => clearResult(whole, null)),
  };

  async #replaceAt(at: number, shrink: Shrinking['shrink']): Promise<void> {
    const messages = [...this.state.messages];
    messages[at] = await this.#shorter(messages[at]!, shrink);
    this.state = { ...this.state, messages };
  }

  /** Made from the whole message, so that its text names the whole size; the message itself if it is not larger. */
  async #shorter(message: Message, shrink: Shrinking['shrink']): Promise<Message> {
    const { counter, originals } = this.#options;
    const whole = originals.get(message) ?? message;
    const shorter = await shrink(whole);
    if ((await counter.countMessages([shorter])) >= (await counter.countMessages([message]))) return message;
    originals.set(shorter, whole);
    return shorter;
  }
}

/** A list without a request is the end of one that the provider keeps: each result in it is awaited there. */
function hasRequest(messages: readonly Message[]): boolean {
  return messages.some(({ role, kind, synthetic }) => role === 'user' && kind === undefined && !synthetic);
}

/** Results that are cleared, or marked so because nothing else can replace them, stay. */
function canShorten(message: Message): boolean {
  const result = toolResultOf(message);
  return result !== null && !message.pinned && result.extra?.['cleared'] !== true;
}

function newest({ episodic, semantic }: MemoryBundle, summaries: number): MemoryBundle {
  return {
    episodic: summaries > 0 ? episodic.slice(-summaries) : [],
    semantic: semantic.slice(-ITEMS_MAX),
  };
}
