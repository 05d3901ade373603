/** One turn of a host's own loop: takes response messages in as they come, each once, whoever recorded its calls first. */
import type { MemoryManager } from '../../memory/memory-manager.js';
import {
  fromAiSdkMessages,
  type ImportedResponse,
  type ImportedResult,
} from '../../messages/importers/ai-sdk.js';
import { type Origin, toolCallsOf, toolResultOf } from '../../messages/message.js';

export class HostTurn {
  readonly turnId: string;
  readonly #memory: MemoryManager;
  readonly #origin: Origin;
  /** Response messages taken in so far: later lists of the same turn start with the same messages. */
  #taken = 0;

  constructor(memory: MemoryManager, turnId: string, origin: Origin) {
    this.#memory = memory;
    this.turnId = turnId;
    this.#origin = origin;
  }

  async ingest(messages: readonly unknown[]): Promise<void> {
    const imported = fromAiSdkMessages(messages.slice(this.#taken), this.#origin);
    for (const item of imported) {
      if (item.kind === 'assistant') await this.#ingestResponse(item);
      else await this.#ingestResult(item);
    }
    this.#taken = messages.length;
  }

  /** Calls that a guarded tool recorded stay; their response's text joins them. */
  async #ingestResponse(response: ImportedResponse): Promise<void> {
    const { toolCalls, kind: _, ...said } = response;
    const known = this.#recordedCalls();
    const messageId = toolCalls.map((call) => known.get(call.id)).find((id) => id !== undefined);
    const unrecorded = toolCalls.filter((call) => !known.has(call.id));
    const silent = said.content === null && said.reasoning.length === 0 && said.providerItems.length === 0;
    if (silent && unrecorded.length === 0) return;
    await this.#memory.ingestAssistantResponse(
      {
        ...said,
        origin: this.#origin,
        toolCalls: unrecorded,
        ...(messageId === undefined ? {} : { messageId }),
        final: false,
      },
      this.turnId,
    );
  }

  async #ingestResult(result: ImportedResult): Promise<void> {
    const { kind: _, ...input } = result;
    const answered = this.#ownMessages().some((message) => {
      const known = toolResultOf(message);
      return known?.toolCallId === result.callId && !message.synthetic;
    });
    if (!answered) await this.#memory.ingestToolResults([input], this.turnId);
  }

  /** Calls of this turn in the context: id → id of their response. */
  #recordedCalls(): Map<string, string | undefined> {
    return new Map(
      this.#ownMessages().flatMap((message) =>
        toolCallsOf(message).map((call) => [call.id, message.messageId]),
      ),
    );
  }

  #ownMessages(): ReturnType<MemoryManager['getWorkingContextMessages']> {
    const messages = this.#memory.getWorkingContextMessages();
    let start = messages.length;
    while (start > 0 && messages[start - 1]!.turnId === this.turnId) start -= 1;
    return messages.slice(start);
  }
}
