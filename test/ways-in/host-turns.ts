/** The turns of a host, and the context that it holds. */
import { openWorkingContext } from '../../src/agent/context/open-working-context.js';
import type { WorkingContext } from '../../src/agent/context/working-context.js';
import { isBlankMessage, type Message, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import type { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { AGENT } from '../fuzz/restored.js';

/**
 * From a message of the user to the next. Left out is what no turn begins with, and results that the loop and a whole list take for
 * those of different calls: a second one under the id of a call of its turn (the first one told again, or one of an older call), and
 * a late one where several calls had its id (in the loop each has an id of its own, that the host gives), or where a call of its turn
 * has the id in another spelling.
 */
export function turnsOf(history: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  const calls = new Map<string, number>();
  let own = new Waiting();
  for (const message of history) {
    if (message.role === 'system' || (message.role === 'user' && isBlankMessage(message))) continue;
    if (message.role === 'user') {
      own = new Waiting();
      turns.push([message]);
      continue;
    }
    for (const { id } of toolCallsOf(message)) {
      own.add(id);
      calls.set(id, (calls.get(id) ?? 0) + 1);
    }
    const id = toolResultOf(message)?.toolCallId;
    if (id !== undefined && own.of(id) === 0) continue;
    const known = id === undefined ? 0 : (calls.get(id) ?? 0);
    const isLate = id !== undefined && own.of(id) === undefined;
    if (isLate && (id === '' || known > 1 || (known === 1 && own.hasAnotherSpelling(id)))) continue;
    if (id !== undefined) own.answer(id);
    turns.at(-1)?.push(message);
  }
  return turns;
}

/** An answer, and what each of its calls gave; null for a call that nobody ran. */
export interface Step {
  readonly answer: Message;
  readonly outcomes: readonly (Message | null)[];
}

/** Each result of the turn goes to the first call before it that waits under its id; others never happen in a loop. */
export function stepsOf(turn: readonly Message[]): Step[] {
  const steps: { answer: Message; outcomes: (Message | null)[] }[] = [];
  for (const message of turn) {
    const result = toolResultOf(message);
    if (!result) steps.push({ answer: message, outcomes: toolCallsOf(message).map(() => null) });
    const step = steps.at(-1);
    const calls = step ? toolCallsOf(step.answer) : [];
    const at = calls.findIndex(({ id }, index) => id === result?.toolCallId && !step!.outcomes[index]);
    if (result && at >= 0) step!.outcomes[at] = message;
  }
  return steps;
}

/** How many calls wait under an id. */
class Waiting {
  readonly #counts = new Map<string, number>();

  of(id: string): number | undefined {
    return this.#counts.get(id);
  }

  hasAnotherSpelling(id: string): boolean {
    const cleaned = (given: string) => given.replace(/\|.*/, '').replace(/[^a-zA-Z0-9_-]/g, '_');
    return [...this.#counts.keys()].some((own) => own !== id && cleaned(own) === cleaned(id));
  }

  add(id: string): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  answer(id: string): void {
    const count = this.#counts.get(id);
    if (count) this.#counts.set(id, count - 1);
  }
}

export async function withContext<T>(
  storage: MemoryStorage,
  use: (context: WorkingContext) => Promise<T>,
): Promise<T> {
  const context = await openWorkingContext({ agentId: AGENT, storage, memory: { compaction: null } });
  try {
    return await use(context);
  } finally {
    await context.close();
  }
}

export const THE_END: readonly Message[] = [
  { role: 'user', content: 'the end' },
  { role: 'assistant', content: 'Bye.' },
];

/** Calls without a result wait for it until the next turn begins. */
export async function end(context: WorkingContext): Promise<void> {
  await context.beginTurn('the end');
  await context.endTurn([{ role: 'assistant', content: 'Bye.' }]);
}
