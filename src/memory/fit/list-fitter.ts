/**
 * Keeps requests within an input budget for a list of messages that another program keeps, such as a LangGraph thread
 * or a session of the OpenAI Agents SDK. Nothing is stored.
 *
 * The result depends on the list alone. The fitter goes through the list, stops at each place where a request was made
 * (before each answer), and climbs the ladder there if the request was too large. So each request contains the
 * decisions of the earlier ones, in a live process as in a restored one, and its beginning changes only at a rung. What
 * was computed for an earlier request of the same list is kept in memory, to save time only.
 */
import { RekindleError } from '../../core/errors.js';
import type { ToolDescription } from '../../core/tool-definition.js';
import type { Message } from '../../messages/message.js';
import { CompactionPolicy } from '../compaction/compaction-policy.js';
import { O200kTokenCounter } from '../compaction/token-counter.js';
import { climb, type Room, roomOf } from './ladder.js';
import { type FittedState, ListLadder } from './list-ladder.js';
import { contextTooLarge, requestParts } from './request-parts.js';
import { ToolTokens } from './tool-tokens.js';

/** The size of a request, in tokens. */
export interface ListBudget {
  /** Input tokens that the model accepts. */
  readonly inputBudgetTokens: number;
  /** Kept free: for the answer, if the model's window covers both, and for anything that is added to the request later. Default 0. */
  readonly reserveTokens?: number;
}

/** What is sent with the messages. */
export interface SentAlong {
  readonly instructions?: string;
  readonly tools?: readonly ToolDescription[];
}

/** How far the fitter is in one list. */
interface Progress {
  readonly seen: readonly Message[];
  /** The size for which the decisions were made. */
  readonly overhead: number;
  /** Before the decision at the end of `seen`, and after it. */
  readonly before: FittedState;
  readonly after: FittedState;
}

const EMPTY: FittedState = { messages: [], memory: { episodic: [], semantic: [] } };
/** What is sent along counts in steps of this size: instructions that differ a little, like the time, decide the same. */
const OVERHEAD_STEP = 256;

export class ListFitter {
  readonly #budget: ListBudget;
  readonly #policy: CompactionPolicy;
  readonly #counter = new O200kTokenCounter();
  readonly #toolTokens = new ToolTokens(this.#counter);
  /** By the message that replaces it. */
  readonly #originals = new WeakMap<Message, Message>();
  /** By the first message of the list. */
  readonly #progress = new WeakMap<Message, Progress>();
  #instructions: Message = { role: 'system', content: '' };

  /** @throws INVALID_ARGUMENT */
  constructor(budget: ListBudget) {
    const { inputBudgetTokens, reserveTokens = 0 } = budget ?? {};
    checkCount('budget.inputBudgetTokens', inputBudgetTokens, 1);
    checkCount('budget.reserveTokens', reserveTokens, 0);
    this.#budget = budget;
    this.#policy = new CompactionPolicy({ inputBudgetTokens });
  }

  /** The message of the given list that a shorter one replaces; the message itself if it is unchanged. */
  originalOf(message: Message): Message {
    return this.#originals.get(message) ?? message;
  }

  /**
   * The messages to send. Unchanged ones are the same objects. What left the list is summarized in one message with
   * `kind: 'memory'`. @throws CONTEXT_TOO_LARGE
   */
  async fit(messages: readonly Message[], along: SentAlong = {}): Promise<readonly Message[]> {
    const [first] = messages;
    if (!first) return messages;
    const overhead = await this.#overheadOf(along);
    const room = roomOf(this.#policy, this.#budget.inputBudgetTokens, overhead);
    const known = this.#progressIn(first, messages, overhead);
    const start = known?.seen.length ?? 0;
    let state = !known ? EMPTY : isRequestBefore(messages, start) ? known.after : known.before;
    for (let at = start; at < messages.length; at += 1) {
      if (at > start && isRequestBefore(messages, at)) state = await this.#climb(state, overhead, room);
      state = { ...state, messages: [...state.messages, messages[at]!] };
    }
    const after = await this.#climb(state, overhead, room);
    this.#progress.set(first, { seen: messages, overhead, before: state, after });
    const tokens = await this.#counter.countMessages(after.messages);
    if (tokens > room.limit) throw await this.#tooLarge(after.messages, tokens, overhead);
    return after.messages;
  }

  /** Null if the list, or the size of what is sent along, is another one. */
  #progressIn(first: Message, messages: readonly Message[], overhead: number): Progress | null {
    const known = this.#progress.get(first);
    return known && known.overhead === overhead && continues(known.seen, messages) ? known : null;
  }

  async #climb(state: FittedState, overhead: number, room: Room): Promise<FittedState> {
    const near = this.#policy.triggerTokensOf(this.#budget.inputBudgetTokens) - overhead;
    const isNear = async (now: FittedState) => (await this.#counter.countMessages(now.messages)) >= near;
    if (!(await isNear(state))) return state;
    const ladder = new ListLadder(state, {
      policy: this.#policy,
      counter: this.#counter,
      inputBudgetTokens: this.#budget.inputBudgetTokens,
      originals: this.#originals,
    });
    await ladder.shorten();
    if (await isNear(ladder.state)) await climb(ladder, room);
    return ladder.state;
  }

  async #overheadOf({ instructions = '', tools = [] }: SentAlong): Promise<number> {
    if (this.#instructions.content !== instructions)
      this.#instructions = { role: 'system', content: instructions };
    const said = instructions === '' ? 0 : await this.#counter.countMessages([this.#instructions]);
    const tokens = said + (await this.#toolTokens.of(tools));
    return Math.ceil(tokens / OVERHEAD_STEP) * OVERHEAD_STEP + (this.#budget.reserveTokens ?? 0);
  }

  async #tooLarge(messages: readonly Message[], tokens: number, overhead: number): Promise<RekindleError> {
    const parts = await requestParts(messages, overhead, this.#counter);
    return contextTooLarge(parts, tokens + overhead, this.#budget.inputBudgetTokens, undefined);
  }
}

/** A request was made before each answer. */
function isRequestBefore(messages: readonly Message[], at: number): boolean {
  return at > 0 && messages[at]?.role === 'assistant' && messages[at - 1]!.role !== 'assistant';
}

function continues(seen: readonly Message[], messages: readonly Message[]): boolean {
  return seen.length <= messages.length && seen.every((message, index) => message === messages[index]);
}

function checkCount(argument: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return;
  const problem = `it must be a whole number of at least ${least}`;
  throw new RekindleError('INVALID_ARGUMENT', `${argument} is refused: ${problem}.`, {
    details: { argument, problem },
  });
}
