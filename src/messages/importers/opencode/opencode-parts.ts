/** The parts of an OpenCode message: the user's input, and the steps of an answer. */

import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ReasoningItem, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf, mediaPartOf } from '../reading/content-parts.js';
import { jsonTextOf } from '../reading/json-text.js';
import { argumentsFrom } from '../reading/open-calls.js';
import { idText, listField, objectField, textField } from '../reading/record-fields.js';

export interface PlacedPart {
  readonly json: JsonObject;
  readonly place: string;
}

/** Parts that the model does not see, and their names. */
const UNSAID: ReadonlyMap<unknown, string> = new Map([
  ['step-start', 'the mark of a step'],
  ['step-finish', 'the mark of a step'],
  ['snapshot', 'a snapshot of files'],
  ['patch', 'a snapshot of files'],
  ['agent', 'the mention of an agent'],
  ['retry', 'a retried request'],
  ['compaction', 'the mark of a compaction'],
]);

/** Null if it contains nothing for the model. */
export function userMessageOf(parts: readonly PlacedPart[], losses: LossAccount): Message | null {
  const content = parts.flatMap(({ json, place }) => userPartOf(json, place, losses));
  return content.length === 0 && parts.length > 0 ? null : { role: 'user', ...contentOf(content) };
}

function userPartOf(json: JsonObject, place: string, losses: LossAccount): ContentPart[] {
  const text = textField(json, 'text');
  if (json['type'] === 'text' && text !== undefined) {
    if (json['ignored'] !== true) return [{ type: 'text', text }];
    losses.drop('a text that is not for the model', place);
    return [];
  }
  if (json['type'] === 'file') return filePartsOf(json, place, losses);
  const prompt = textField(json, 'prompt');
  if (json['type'] === 'subtask' && prompt !== undefined) {
    losses.approximate('a task for another agent, as text', place);
    return [{ type: 'text', text: prompt }];
  }
  dropPart(json, place, losses);
  return [];
}

function dropPart(json: JsonObject, place: string, losses: LossAccount): void {
  losses.drop(UNSAID.get(json['type']) ?? 'a part of an unknown kind', place);
}

/** The text of a text file is a separate part next to it. */
function filePartsOf(json: JsonObject, place: string, losses: LossAccount): ContentPart[] {
  const url = textField(json, 'url');
  const mime = textField(json, 'mime');
  if (mime === 'text/plain' || mime === 'application/x-directory' || url === undefined) {
    losses.drop('an attached file, whose text stands beside it', place);
    return [];
  }
  return [mediaPartOf(url, { mime, name: textField(json, 'filename') })];
}

/** One model response, and the results of its calls. */
export class OpenCodeStep {
  readonly #origin: Origin | undefined;
  readonly #losses: LossAccount;
  readonly #parts: ContentPart[] = [];
  readonly #calls: ToolCallSpec[] = [];
  readonly #results: Message[] = [];
  /** When the last tool ended. */
  #toolsEnded = Number.POSITIVE_INFINITY;

  constructor(origin: Origin | undefined, losses: LossAccount) {
    this.#origin = origin;
    this.#losses = losses;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.#calls.length === 0;
  }

  /** A step mark, or a text written after the results, means that the model was called again in between. */
  isOverBefore({ json }: PlacedPart): boolean {
    if (this.isEmpty) return false;
    const started = objectField(json, 'time')['start'];
    const isLater = typeof started === 'number' && started >= this.#toolsEnded;
    return json['type'] === 'step-start' || (isLater && json['type'] !== 'tool');
  }

  add({ json, place }: PlacedPart): void {
    const text = textField(json, 'text');
    if (json['type'] === 'text' && text !== undefined) this.#parts.push(textPartOf(json, text));
    else if (json['type'] === 'reasoning' && text !== undefined)
      this.#parts.push({ type: 'reasoning', reasoning: reasoningOf(json, text, this.#origin) });
    else if (json['type'] === 'file') this.#parts.push(...filePartsOf(json, place, this.#losses));
    else if (json['type'] === 'tool') this.#addTool(json, place);
    else dropPart(json, place, this.#losses);
  }

  /** @param marks of the response: its id, and how it ended */
  messages(marks: Partial<Message>): Message[] {
    const answer: Message = {
      role: 'assistant',
      ...assistantContentOf(this.#parts),
      ...(this.#calls.length > 0 ? { toolPayload: { toolCalls: this.#calls } } : {}),
      ...(this.#origin ? { origin: this.#origin } : {}),
      ...marks,
    };
    return [answer, ...this.#results];
  }

  #addTool(json: JsonObject, place: string): void {
    const state = objectField(json, 'state');
    const input = isJsonObject(state['input']) ? state['input'] : undefined;
    const signature = metadataOf(json, 'thoughtSignature')?.value;
    const call: ToolCallSpec = {
      id: idText(json['callID']),
      name: idText(json['tool']),
      ...argumentsFrom(
        input && Object.keys(input).length > 0 ? input : textField(state, 'raw') || state['input'],
      ),
      ...(signature === undefined ? {} : { signature }),
    };
    this.#calls.push(call);
    const result = resultOf(call, state);
    if (result) this.#results.push(result);
    else this.#losses.approximate('a call that was still running', place);
    const { end } = objectField(state, 'time');
    if (typeof end === 'number')
      this.#toolsEnded = Number.isFinite(this.#toolsEnded) ? Math.max(this.#toolsEnded, end) : end;
    const metadata = objectField(state, 'metadata');
    if (Object.keys(metadata).length > 0) this.#losses.drop('what the tool told its display', place);
  }
}

/** Null if the call is still running. */
function resultOf(call: ToolCallSpec, state: JsonObject): Message | null {
  const { status, output = null } = state;
  if (status !== 'completed' && status !== 'error') return null;
  const error = textField(state, 'error', 'output') ?? jsonTextOf(output);
  const media = listField(state, 'attachments')
    .filter(isJsonObject)
    .flatMap((file) => {
      const url = textField(file, 'url');
      return url === undefined
        ? []
        : [mediaPartOf(url, { mime: textField(file, 'mime'), name: textField(file, 'filename') })];
    });
  return {
    role: 'tool',
    content: null,
    toolPayload: {
      toolCallId: call.id,
      toolName: call.name,
      toolResult: status === 'error' ? null : output,
      toolError: status === 'error' ? error : null,
    },
    ...(media.length > 0 ? { parts: media } : {}),
  };
}

function textPartOf(json: JsonObject, text: string): ContentPart {
  const signature = metadataOf(json, 'thoughtSignature')?.value;
  return { type: 'text', text, ...(signature === undefined ? {} : { signature }) };
}

function reasoningOf(json: JsonObject, text: string, origin: Origin | undefined): ReasoningItem {
  const signature = metadataOf(json, 'signature') ?? metadataOf(json, 'thoughtSignature');
  const redacted = metadataOf(json, 'redactedData');
  const encrypted = redacted ?? metadataOf(json, 'reasoningEncryptedContent');
  const id = metadataOf(json, 'itemId');
  const provider = (signature ?? encrypted ?? id)?.provider ?? origin?.provider;
  return {
    text: redacted && text === '' ? null : text,
    ...(signature ? { signature: signature.value } : {}),
    ...(encrypted ? { encrypted: encrypted.value } : {}),
    ...(redacted ? { redacted: true } : {}),
    ...(id ? { id: id.value } : {}),
    ...(provider === undefined ? {} : { origin: { ...origin, provider } }),
  };
}

/** What the provider wants back with a part is stored under the provider's name. */
function metadataOf(json: JsonObject, key: string): { provider: string; value: string } | undefined {
  for (const [provider, fields] of Object.entries(objectField(json, 'metadata'))) {
    const value = isJsonObject(fields) ? textField(fields, key) : undefined;
    if (value !== undefined) return { provider, value };
  }
  return undefined;
}
