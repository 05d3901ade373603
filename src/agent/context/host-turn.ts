/** One turn of a host's own loop: takes response messages in as they come, each once, whoever recorded its calls first. */
import { isRekindleError } from '../../core/errors.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import {
  fromAiSdkMessages,
  type ImportedResponse,
  type ImportedResult,
} from '../../messages/importers/ai-sdk/ai-sdk.js';
import { type Message, type Origin, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { GuardedTurn } from '../tools/guard-tools.js';
import { CallIds } from './call-ids.js';

export class HostTurn implements GuardedTurn {
  readonly turnId: string;
  readonly #memory: MemoryManager;
  readonly #origin: Origin;
  readonly #ids: CallIds;
  /** Calls that run or ran in this process. */
  readonly #runs = new Map<string, Promise<unknown>>();
  /** Response messages taken in so far: later lists of the same turn start with the same messages. */
  #taken = 0;

  constructor(memory: MemoryManager, turnId: string, origin: Origin) {
    this.#memory = memory;
    this.turnId = turnId;
    this.#origin = origin;
    this.#ids = new CallIds((id) => this.#resultsOf(id).length > 0);
  }

  callIdOf(step: string, toolName: string, given: string): string {
    const isOpen = this.#memory
      .openCalls()
      .some(({ call, turnId }) => turnId === this.turnId && call.id === given);
    return this.#ids.ofRun(step, toolName, given, isOpen);
  }

  isRecorded(callId: string): boolean {
    return this.#recordedCalls().has(callId);
  }

  /** A run that the disk kept from being recorded may be tried again; the ledger knows whether the tool was started. */
  once(callId: string, run: () => Promise<unknown>): Promise<unknown> {
    const known = this.#runs.get(callId);
    if (known) return known;
    const started = run().catch((thrown: unknown) => {
      if (!isRekindleError(thrown, 'TOOL_FAILED')) this.#runs.delete(callId);
      throw thrown;
    });
    this.#runs.set(callId, started);
    return started;
  }

  async ingest(messages: readonly unknown[]): Promise<void> {
    const imported = messages.slice(this.#taken).map((message) => fromAiSdkMessages([message], this.#origin));
    for (const items of imported) {
      for (const item of items) {
        if (item.kind === 'assistant') await this.#ingestResponse(item);
        else await this.#ingestResult(item);
      }
      this.#taken += 1; // here, so that a host may try again after a failure
    }
  }

  /** Calls that a guarded tool recorded stay; their response's text joins them. */
  async #ingestResponse(response: ImportedResponse): Promise<void> {
    const { toolCalls: given, kind: _, ...said } = response;
    const toolCalls = given.map((call) => ({
      ...call,
      id: this.#ids.ofMessage(this.#taken, call.name, call.id),
    }));
    const known = this.#recordedCalls();
    const messageId = toolCalls.map((call) => known.get(call.id)).find((id) => id !== undefined);
    const unrecorded = toolCalls.filter((call) => !known.has(call.id));
    const { content, parts, reasoning, providerItems } = said;
    const silent = content === null && !parts && !reasoning && providerItems.length === 0;
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
    const callId = this.#ids.ofResult(input.callId);
    const known = this.#resultsOf(callId).some((message) => !message.synthetic); // a synthetic one gives way
    if (!known) await this.#memory.ingestToolResults([{ ...input, callId }], this.turnId);
  }

  #resultsOf(callId: string): Message[] {
    return this.#ownMessages().filter((message) => toolResultOf(message)?.toolCallId === callId);
  }

  /** Calls of this turn in the context: id → id of their response. */
  #recordedCalls(): Map<string, string | undefined> {
    return new Map(
      this.#ownMessages().flatMap((message) =>
        toolCallsOf(message).map((call) => [call.id, message.messageId]),
      ),
    );
  }

  #ownMessages(): Message[] {
    const messages = this.#memory.getWorkingContextMessages();
    let start = messages.length;
    while (start > 0 && messages[start - 1]!.turnId === this.turnId) start -= 1;
    return messages.slice(start);
  }
}
