/** Collects a stream of model events into one response. */
import type { AssistantResponse } from '../../memory/memory-input.js';
import type { Origin, ProviderItem, ReasoningItem, ToolCallSpec } from '../../messages/message.js';
import type { ModelEvent, TokenUsage } from './language-model.js';

export class ResponseCollector {
  readonly #origin: Origin;
  readonly #id: { readonly messageId?: string };
  #text = '';
  #reasoningText = '';
  readonly #reasoning: ReasoningItem[] = [];
  readonly #items: ProviderItem[] = [];
  readonly #calls: ToolCallSpec[] = [];
  finishReason: string | null = null;
  usage: TokenUsage = {};

  /** @param messageId under which its parts are stored, if they are */
  constructor(origin: Origin, messageId?: string) {
    this.#origin = origin;
    this.#id = messageId === undefined ? {} : { messageId };
  }

  get text(): string {
    return this.#text;
  }

  get isEmpty(): boolean {
    return (
      this.#text === '' &&
      this.#calls.length === 0 &&
      this.#reasoningText === '' &&
      this.#reasoning.length === 0
    );
  }

  add(event: ModelEvent): void {
    if (event.type === 'text') this.#text += event.delta;
    else if (event.type === 'reasoning') this.#reasoningText += event.delta;
    else if (event.type === 'reasoning_item') this.#reasoning.push(event.item);
    else if (event.type === 'provider_item') this.#items.push(event.item);
    else if (event.type === 'tool_call') this.#calls.push(event.call);
    else {
      this.finishReason = event.reason;
      this.usage = event.usage ?? {};
    }
  }

  /**
   * The whole response. @param takenIds ids of earlier calls of the turn, because a turn and an id must
   * identify one call
   */
  response(takenIds: ReadonlySet<string> = new Set()): AssistantResponse {
    return { ...this.#said(), toolCalls: uniqueCalls(this.#calls, takenIds) };
  }

  /** The text received before the cut; unfinished calls are dropped. Null if there is none. */
  partial(status: 'aborted' | 'failed'): AssistantResponse | null {
    if (this.#text.trim() === '') return null;
    return { ...this.#id, content: this.#text, origin: this.#origin, status, final: false };
  }

  #said(): AssistantResponse {
    const reasoningText =
      this.#reasoning.length === 0 && this.#reasoningText !== '' ? this.#reasoningText : undefined;
    return {
      ...this.#id,
      content: this.#text === '' ? null : this.#text,
      origin: this.#origin,
      ...(reasoningText === undefined ? {} : { reasoningContent: reasoningText }),
      ...(this.#reasoning.length > 0 ? { reasoning: this.#reasoning } : {}),
      ...(this.#items.length > 0 ? { providerItems: this.#items } : {}),
    };
  }
}

/** Gives a call a new id if the model repeats an id or leaves it blank. */
function uniqueCalls(calls: readonly ToolCallSpec[], takenIds: ReadonlySet<string>): ToolCallSpec[] {
  const seen = new Set(takenIds);
  return calls.map((call, index) => {
    const given = call.id === '' ? `call_${index + 1}` : call.id;
    let id = given;
    for (let count = 2; seen.has(id); count += 1) id = `${given}_${count}`;
    seen.add(id);
    return id === call.id ? call : { ...call, id };
  });
}
