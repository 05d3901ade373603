/** Answers of the providers' clients, recorded whole; their calls run in the host. */
import type { WorkingContext } from '../../src/agent/context/working-context.js';
import type { JsonObject } from '../../src/core/json.js';
import { repairHistory } from '../../src/messages/legality/history.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import { conversation } from './conversations.js';
import { end, type Step, stepsOf, THE_END, turnsOf, withContext } from './host-turns.js';
import { anthropic, openAiChat, responsesItems, withoutReasoning, withParsedArguments } from './shapes.js';
import type { WayIn } from './ways.js';

type Target = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

function answerOf(target: Target, message: Message): JsonObject {
  switch (target) {
    case 'openai-chat':
      return {
        id: 'c',
        model: 'm',
        choices: [{ index: 0, message: openAiChat.entry(message), finish_reason: 'stop' }],
      };
    case 'openai-responses':
      return {
        id: 'r',
        object: 'response',
        model: 'm',
        status: 'completed',
        output: responsesItems(message),
      };
    case 'anthropic': {
      const { content } = anthropic.entry(message)!;
      return { type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', content: content! };
    }
    case 'gemini': {
      const text = textOf(message);
      const calls = toolCallsOf(message).map(({ id, name, arguments: args }): JsonObject => {
        return { functionCall: { ...(id === '' ? {} : { id }), name, args } };
      });
      const parts = [...(text === '' ? [] : [{ text }]), ...calls];
      return { modelVersion: 'm', candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    }
  }
}

function meaningOfAnswer(target: Target, message: Message): Message {
  if (target === 'openai-chat') return openAiChat.meaning(message)!;
  return target === 'anthropic' ? message : withoutReasoning(withParsedArguments(message));
}

async function play(context: WorkingContext, target: Target, { answer, outcomes }: Step): Promise<void> {
  const { toolCalls } = await context.recordResponse(target, answerOf(target, answer));
  for (const [index, call] of toolCalls.entries()) {
    const result = outcomes[index] && toolResultOf(outcomes[index]);
    if (!result) continue;
    await context.runTool(call, () => {
      if (result.toolError !== null) throw new Error(result.toolError);
      return result.toolResult;
    });
  }
}

function wayOfAnswers(target: Target): WayIn {
  return {
    name: `answers ${target}`,
    originals: conversation,
    async bring(history, storage) {
      const said: Message[] = [];
      await withContext(storage, async (context) => {
        for (const [input, ...rest] of turnsOf(history)) {
          said.push(input!);
          await context.beginTurn(openAiChat.entry(input!) as never);
          for (const step of stepsOf(rest)) {
            await play(context, target, step);
            said.push(meaningOfAnswer(target, step.answer), ...resultsOf(step));
          }
          await context.endTurn();
        }
        await end(context);
      });
      const { messages } = repairHistory(said);
      return [{ what: 'the repaired original', messages: [...messages, ...THE_END] }];
    },
  };
}

/** Without media: what a function gives is a value. */
function resultsOf({ outcomes }: Step): Message[] {
  return outcomes.flatMap((message) => {
    if (!message) return [];
    const { parts: _, ...result } = message;
    return [result];
  });
}

export const ANSWER_WAYS: readonly WayIn[] = (
  ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const
).map(wayOfAnswers);
