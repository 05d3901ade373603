/** The content of LangChain messages: a text, or blocks in LangChain's own form or in the form of the model's provider. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Origin } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { jsonTextOf } from '../reading/json-text.js';
import { isAbsent, textField } from '../reading/record-fields.js';
import { langChainMediaOf } from './langchain-media.js';
import { langChainThoughtOf } from './langchain-thoughts.js';

/** Blocks of calls, which are ignored: `tool_calls` holds the same calls. */
const CALLS: ReadonlySet<unknown> = new Set(['tool_use', 'tool_call', 'tool_call_chunk', 'invalid_tool_call'])
  .add('function_call')
  .add('functionCall');

export interface PartContext {
  readonly place: string;
  readonly losses: LossAccount;
  readonly origin?: Origin | undefined;
}

export function langChainPartsOf(content: JsonValue | undefined, context: PartContext): ContentPart[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (Array.isArray(content))
    return content.flatMap((block, index) =>
      partsOfBlock(block, { ...context, place: `${context.place}/content/${index}` }),
    );
  context.losses.approximate('content of another type, as its JSON', context.place);
  return [{ type: 'text', text: jsonTextOf(content) }];
}

export function isCallBlock(block: JsonValue): block is JsonObject {
  return isJsonObject(block) && CALLS.has(block['type']);
}

function partsOfBlock(block: JsonValue, context: PartContext): ContentPart[] {
  if (typeof block === 'string') return [{ type: 'text', text: block }];
  if (isCallBlock(block)) return [];
  const part = isJsonObject(block) ? partOf(block, context) : null;
  if (part) return [part];
  context.losses.drop('a block of the content of another kind', context.place);
  return [];
}

function partOf(block: JsonObject, context: PartContext): ContentPart | null {
  switch (block['type']) {
    case undefined: // Bedrock's blocks have no type
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'text-plain': {
      const text = textField(block, 'text');
      return text === undefined ? langChainMediaOf(block) : { type: 'text', text };
    }
    case 'refusal':
      context.losses.approximate('a refusal, as text', context.place);
      return { type: 'text', text: textField(block, 'refusal') ?? '' };
    default:
      return thoughtPart(block, context) ?? langChainMediaOf(block);
  }
}

function thoughtPart(block: JsonObject, context: PartContext): ContentPart | null {
  const reasoning = langChainThoughtOf(block, context.origin);
  return reasoning && { type: 'reasoning', reasoning };
}
