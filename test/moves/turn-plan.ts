/**
 * What an owner says, and what its model answers: all of it follows from the list of messages, so that the next owner's model goes on
 * where this one stopped. Everything carries the tag of who wrote it.
 */
import type { LanguageModel, ModelEvent, ModelRequest } from '../../src/agent/model/language-model.js';
import { type ScriptedAnswer, speak } from '../../src/agent/model/scripted-model.js';
import { textOf, toolCallsOf } from '../../src/messages/message.js';
import type { SeededRandom } from '../../src/storage/simulated/seeded-random.js';

export interface TurnPlan {
  /** `<tag>-<number>` */
  readonly id: string;
  /** Tools by step. */
  readonly steps: readonly (readonly string[])[];
}

export function planTurn(id: string, random: SeededRandom): TurnPlan {
  const steps = Array.from({ length: random.below(4) }, () =>
    Array.from({ length: 1 + random.below(3) }, () => random.pick(['work', 'work', 'note'])),
  );
  return { id, steps };
}

export class PlannedModel implements LanguageModel {
  readonly origin = { provider: 'scripted', model: 'scripted' } as const;
  readonly #tag: string;
  readonly #onAsked: () => void;

  constructor(tag: string, onAsked: () => void) {
    this.#tag = tag;
    this.#onAsked = onAsked;
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    this.#onAsked();
    yield* speak(this.#answer(request), request, 0);
  }

  #answer({ messages }: ModelRequest): ScriptedAnswer {
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const { id, steps } = JSON.parse(textOf(messages[asked]!)) as TurnPlan;
    const step = messages.slice(asked).filter((message) => toolCallsOf(message).length > 0).length;
    const tools = steps[step];
    if (!tools) return { text: answerText(id, this.#tag), wordMs: 1 };
    const calls = tools.map((name, index) => ({
      id: `${id}_${step}_${index}_${this.#tag}`,
      name,
      arguments: {},
    }));
    return { text: 'I do that now.', calls, wordMs: 1 };
  }
}

export function answerText(id: string, tag: string): string {
  return `answer to ${id} by ${tag}`;
}

/** Null for what is no final answer. */
export function parseAnswer(text: string): { readonly id: string; readonly tag: string } | null {
  const match = /^answer to (\S+) by (\S+)$/.exec(text);
  return match && { id: match[1]!, tag: match[2]! };
}

export function tagOfCall(callId: string): string {
  return callId.slice(callId.lastIndexOf('_') + 1);
}

/** The number of the move that made the owner. */
export function moveOf(tag: string): number {
  return Number(tag.slice(1));
}
