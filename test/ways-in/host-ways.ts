/** The host's own loop: messages of its turns in the shapes of the SDKs. */
import type { HostMessage } from '../../src/agent/context/host-message.js';
import { repairHistory } from '../../src/messages/legality/history.js';
import { conversation } from './conversations.js';
import { end, THE_END, turnsOf, withContext } from './host-turns.js';
import { aiSdk, anthropic, meaningOf, openAiChat, rekindle, type Shape } from './shapes.js';
import type { WayIn } from './ways.js';

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
        await end(context);
      });
      const { messages } = repairHistory(meaningOf(shape, turns.flat()));
      return [{ what: 'the repaired original', messages: [...messages, ...THE_END] }];
    },
  };
}

export const HOST_WAYS: readonly WayIn[] = [openAiChat, anthropic, aiSdk, rekindle].map(wayOfTurns);
