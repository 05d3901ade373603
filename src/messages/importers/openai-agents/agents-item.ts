/** Classifies one item of an agent's run: a text, a call, a result, or an item that only the provider understands. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message, ProviderItem, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { contentOf } from '../reading/content-parts.js';
import { jsonTextOf } from '../reading/json-text.js';
import { opaqueBlock } from '../reading/opaque-blocks.js';
import { argumentsFrom } from '../reading/open-calls.js';
import { idText, isAbsent, objectField, textField } from '../reading/record-fields.js';
import { agentsPartsOf, agentsReasoningOf } from './agents-parts.js';

export type AgentsPiece =
  /** Part of the model's answer. */
  | { readonly kind: 'said'; readonly parts: readonly ContentPart[] }
  | { readonly kind: 'thought'; readonly parts: readonly ContentPart[] }
  | { readonly kind: 'call'; readonly call: ToolCallSpec }
  | { readonly kind: 'hosted'; readonly item: ProviderItem; readonly shown: readonly ContentPart[] }
  /** A message of the host. */
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'result'; readonly id: string; readonly name: string; readonly parts: Outcome };

interface Outcome {
  readonly result: JsonValue;
  readonly media: readonly ContentPart[];
}

/** API tools that the host runs: their calls have results like those of functions. */
const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ['computer_call', 'computer'],
  ['shell_call', 'shell'],
  ['local_shell_call', 'local_shell'],
  ['apply_patch_call', 'apply_patch'],
  ['program', 'program'],
]);
const RESULTS =
  /^(?:function_call|computer_call|shell_call|local_shell_call|apply_patch_call|custom_tool_call|program)_(?:output|result)$/;
/** Run by the provider, or understood only by it. */
const HOSTED =
  /^(?:web_search_call|file_search_call|code_interpreter_call|image_generation_call|mcp_.+|hosted_tool_call|tool_search_.+|compaction.*)$/;
/** Fields of an item that are not tool arguments. */
const ENVELOPE = new Set([
  'type',
  'id',
  'call_id',
  'callId',
  'status',
  'providerData',
  'provider_data',
  'name',
]);

/** Null for an item without a place in a conversation, which is counted as a loss. */
export function agentsPieceOf(item: JsonObject, place: string, losses: LossAccount): AgentsPiece | null {
  const type = textField(item, 'type') ?? (typeof item['role'] === 'string' ? 'message' : '');
  if (type === 'message') return messageOf(item, place, losses);
  if (type === 'reasoning')
    return { kind: 'thought', parts: [{ type: 'reasoning', reasoning: agentsReasoningOf(item) }] };
  if (type === 'function_call') return { kind: 'call', call: functionCallOf(item) };
  if (type === 'custom_tool_call' || BUILT_IN.has(type)) {
    losses.approximate('a call of a built-in or custom tool', place);
    return { kind: 'call', call: builtInCallOf(item, type) };
  }
  if (RESULTS.test(type)) return resultOf(item, place, losses);
  if (HOSTED.test(type)) return { kind: 'hosted', item: { origin: ORIGIN, item }, shown: [] };
  const { item: kept, text } = opaqueBlock(item, ORIGIN, place, losses);
  return { kind: 'hosted', item: kept, shown: text === null ? [] : [{ type: 'text', text }] };
}

const ORIGIN = { provider: 'openai' } as const;

export function callIdOf(item: JsonObject): string {
  const id = item['call_id'] ?? item['callId'];
  return idText(isAbsent(id) ? item['id'] : id);
}

/** Equal for an item in a model response and its copy among the items of the run. */
export function identityOf(item: JsonObject): string {
  const id = textField(item, 'call_id', 'callId', 'id');
  const hasId = id !== undefined && id !== '' && !id.startsWith('__fake');
  return `${idText(item['type'])}:${hasId ? id : jsonTextOf(item).slice(0, 400)}`;
}

function messageOf(item: JsonObject, place: string, losses: LossAccount): AgentsPiece | null {
  const role = item['role'];
  const parts = agentsPartsOf(item['content'], place, losses);
  if (role === 'assistant') return { kind: 'said', parts };
  if (role === 'user' || role === 'system')
    return { kind: 'message', message: { role, ...contentOf(parts) } };
  if (role === 'developer') return { kind: 'message', message: { role: 'system', ...contentOf(parts) } };
  losses.unreadable('a message of an unknown role', place);
  return null;
}

function functionCallOf(item: JsonObject): ToolCallSpec {
  return { id: callIdOf(item), name: idText(item['name']), ...argumentsFrom(item['arguments']) };
}

function builtInCallOf(item: JsonObject, type: string): ToolCallSpec {
  const told = Object.entries(item).filter(([key]) => !ENVELOPE.has(key));
  return {
    id: callIdOf(item),
    name: BUILT_IN.get(type) ?? idText(item['name']),
    arguments: Object.fromEntries(told),
  };
}

function resultOf(item: JsonObject, place: string, losses: LossAccount): AgentsPiece {
  const output = item['output'] ?? item['result'] ?? null;
  return {
    kind: 'result',
    id: callIdOf(item),
    name: idText(item['name']),
    parts: outcomeOf(output, place, losses),
  };
}

/** Texts and media if the output consists of such parts; any other value is the result itself. */
function outcomeOf(output: JsonValue, place: string, losses: LossAccount): Outcome {
  const list = Array.isArray(output) ? output : [output];
  const isContent = list.length > 0 && list.every((part) => isJsonObject(part) && isContentType(part));
  if (!isContent) return { result: output, media: [] };
  const parts = agentsPartsOf(list, place, losses);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length > 1) losses.approximate('several texts of a result, as one', place);
  return {
    result: texts.length > 0 ? texts.join('') : null,
    media: parts.filter((part) => part.type === 'media'),
  };
}

function isContentType(part: JsonObject): boolean {
  return /^(?:text|image|file|input_text|input_image|input_file|output_text)$/.test(idText(part['type']));
}

/** The item inside its wrapper. The wrapper records what the run did with it. */
export function rawItemOf(wrapper: JsonObject): JsonObject {
  return objectField(wrapper, 'raw_item', 'rawItem');
}
