/** What a host hands over of an answer, what it gets back, and what is kept of an answer that was cut off. */
import { RekindleError } from '../../core/errors.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { isBlankText, type Message, type Origin, textOf, toolResultOf } from '../../messages/message.js';
import type { TargetName } from '../../messages/projections/targets.js';
import type { HostCall } from '../tools/run-host-call.js';
import type { HostMessage } from './host-message.js';
import type { HostTurn } from './host-turn.js';

export interface RecordOptions {
  /** Told of each chunk of a stream, to show it. What it throws ends the reading, as a break of the stream does. */
  readonly onChunk?: (chunk: unknown) => void | Promise<void>;
}

/** An answer as it was recorded. */
export interface RecordedAnswer {
  readonly text: string;
  /** Calls that have no result yet, under the ids for `runTool`. */
  readonly toolCalls: readonly HostCall[];
  /** As it stands in the context; null when nothing was said. `status: 'aborted'` when it ended too early. */
  readonly message: Message | null;
}

export interface Answer {
  readonly turn: HostTurn;
  readonly memory: MemoryManager;
  readonly target: TargetName;
  readonly response: object;
  readonly toolNames: ReadonlyMap<string, string>;
  /** Who answers, where the host said it. */
  readonly origin: Origin | null;
  readonly options: RecordOptions;
  /** Takes in a list as `endTurn` does. */
  readonly ingest: (list: readonly HostMessage[]) => Promise<void>;
}

/** Calls and reasoning that were on their way go: nobody was told of them. */
export async function keepPartial(
  { turn, memory }: Pick<Answer, 'turn' | 'memory'>,
  said: readonly Message[],
): Promise<RecordedAnswer> {
  const text = said.map(textOf).join('');
  const origin = said[0]?.origin;
  const message: Message = {
    role: 'assistant',
    content: text,
    status: 'aborted',
    ...(origin ? { origin } : {}),
  };
  if (isBlankText(text)) return { text, toolCalls: [], message: null };
  await turn.record([message]);
  return viewOf(memory, [], [message]);
}

/** @param messages what was recorded now; left out, what the context ends with */
export function viewOf(
  memory: MemoryManager,
  calls: readonly HostCall[],
  messages?: readonly Message[],
): RecordedAnswer {
  const last = memory.context.messages.findLast((message) => toolResultOf(message) === null);
  const message = last?.role === 'assistant' ? last : null;
  const said = (messages ?? (message ? [message] : [])).filter(({ role }) => role === 'assistant');
  return {
    text: said.map(textOf).join(''),
    toolCalls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    message,
  };
}

export function noAnswer(target: TargetName, why: string): RekindleError {
  return new RekindleError('MESSAGE_INVALID', `This is no answer of ${target}: ${why}.`, {
    details: { target, reason: why },
  });
}
