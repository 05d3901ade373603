/**
 * Builds the completed steps of an AI SDK stream as model messages from its parts: some SDK versions report
 * no steps for a stream that broke.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';

export class AiSdkSteps {
  /** Messages of the completed steps. */
  readonly messages: JsonObject[][] = [];
  /** Text of the current step so far. */
  text = '';
  #content: JsonObject[] = [];
  #results: JsonObject[] = [];
  /** Unfinished texts and reasoning blocks, by id. */
  readonly #open = new Map<string, JsonObject>();

  add(part: JsonObject): void {
    const { type } = part;
    if (type === 'start-step') this.#begin();
    else if (type === 'finish-step') this.#end();
    else if (type === 'text-delta' || type === 'reasoning-delta') this.#addText(part);
    else if (type === 'text-end' || type === 'reasoning-end') this.#note(part, this.#blockOf(part));
    else if (type === 'tool-call') this.#content.push(callOf(part));
    else if (type === 'tool-approval-request') this.#content.push(requestOf(part));
    else if ((type === 'tool-result' || type === 'tool-error') && part['preliminary'] !== true)
      (part['providerExecuted'] === true ? this.#content : this.#results).push(resultOf(part));
  }

  #begin(): void {
    this.text = '';
    this.#content = [];
    this.#results = [];
    this.#open.clear();
  }

  #end(): void {
    const said = this.#content.filter(({ type, text }) => type !== 'text' || text !== '');
    this.messages.push([
      ...(said.length > 0 ? [{ role: 'assistant', content: said }] : []),
      ...(this.#results.length > 0 ? [{ role: 'tool', content: this.#results }] : []),
    ]);
    this.#begin();
  }

  #addText(part: JsonObject): void {
    const delta = typeof part['text'] === 'string' ? part['text'] : '';
    if (part['type'] === 'text-delta') this.text += delta;
    const block = this.#blockOf(part);
    block['text'] = `${block['text']}${delta}`;
    this.#note(part, block);
  }

  /** A signature may come with any part of its block. */
  #note(part: JsonObject, block: JsonObject): void {
    if (isJsonObject(part['providerMetadata'])) block['providerOptions'] = part['providerMetadata'];
    if (String(part['type']).endsWith('-end')) this.#open.delete(keyOf(part)); // ids are reused
  }

  #blockOf(part: JsonObject): JsonObject {
    const known = this.#open.get(keyOf(part));
    if (known) return known;
    const block: JsonObject = { type: kindOf(part), text: '' };
    this.#open.set(keyOf(part), block);
    this.#content.push(block);
    return block;
  }
}

function kindOf(part: JsonObject): string {
  return String(part['type']).startsWith('text') ? 'text' : 'reasoning';
}

function keyOf(part: JsonObject): string {
  return `${kindOf(part)} ${String(part['id'])}`;
}

function callOf(part: JsonObject): JsonObject {
  const { toolCallId, toolName, input, providerMetadata, providerExecuted } = part;
  return {
    type: 'tool-call',
    ...{ toolCallId: toolCallId!, toolName: toolName!, input: input ?? {} },
    ...(providerExecuted === true ? { providerExecuted } : {}),
    ...(isJsonObject(providerMetadata) ? { providerOptions: providerMetadata } : {}),
  };
}

function requestOf(part: JsonObject): JsonObject {
  const { toolCall, toolCallId, ...request } = part;
  const id = isJsonObject(toolCall) ? toolCall['toolCallId'] : toolCallId;
  return { ...request, toolCallId: id ?? null };
}

function resultOf({ type, toolCallId, toolName, output, error }: JsonObject): JsonObject {
  return {
    type: 'tool-result',
    ...{ toolCallId: toolCallId!, toolName: toolName! },
    output: type === 'tool-error' ? { type: 'error-text', value: textOf(error) } : shown(output),
  };
}

function shown(output: JsonValue | undefined): JsonObject {
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'json', value: output ?? null };
}

function textOf(error: JsonValue | undefined): string {
  if (typeof error === 'string') return error;
  const message = isJsonObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message : JSON.stringify(error ?? null);
}
