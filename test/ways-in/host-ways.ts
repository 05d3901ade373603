/** The host's own loop: messages of its turns in the shapes of the SDKs, and answers of the providers' clients. */
import type { HostMessage } from '../../src/agent/context/host-message.js';
import { openWorkingContext } from '../../src/agent/context/open-working-context.js';
import type { WorkingContext } from '../../src/agent/context/working-context.js';
import { repairHistory } from '../../src/messages/legality/history.js';
import { isBlankMessage, type Message } from '../../src/messages/message.js';
import type { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { AGENT } from '../fuzz/restored.js';
import { conversation } from './conversations.js';
import { aiSdk, anthropic, meaningOf, openAiChat, rekindle, type Shape } from './shapes.js';
import type { WayIn } from './ways.js';

/** From a message of the user to the next. What no turn begins with is left out: blank ones, and what stands before the first. */
export function turnsOf(history: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  for (const message of history) {
    if (message.role === 'system' || (message.role === 'user' && isBlankMessage(message))) continue;
    if (message.role === 'user') turns.push([message]);
    else turns.at(-1)?.push(message);
  }
  return turns;
}

async function withContext<T>(
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

function wayOfTurns(shape: Shape): WayIn {
  return {
    name: `turns ${shape.name}`,
    originals: conversation,
    async bring(history, storage) {
      const turns = turnsOf(history);
      if (turns.length === 0) return null;
      await withContext(storage, async (context) => {
        for (const turn of turns) {
          const [input, ...rest] = turn.map((message) => shape.entry(message) as unknown as HostMessage);
          await context.beginTurn(input!);
          await context.endTurn(rest);
        }
      });
      const { messages } = repairHistory(meaningOf(shape, turns.flat()) ?? []);
      return [{ what: 'the repaired original', messages }];
    },
  };
}

export const HOST_WAYS: readonly WayIn[] = [openAiChat, anthropic, aiSdk, rekindle].map(wayOfTurns);
