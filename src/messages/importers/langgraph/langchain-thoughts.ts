/** Reasoning in LangChain messages, as each provider's package writes it. Signatures are kept unchanged. */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { Origin, ReasoningItem } from '../../message.js';
import { listField, objectField, signatureField, textField } from '../reading/record-fields.js';

/** Null for a block that is not reasoning. */
export function langChainThoughtOf(block: JsonObject, origin: Origin | undefined): ReasoningItem | null {
  switch (block['type']) {
    case 'thinking':
      return signed(textField(block, 'thinking') ?? null, block, origin);
    case 'redacted_thinking':
      return { text: null, encrypted: textField(block, 'data') ?? '', redacted: true, ...from(origin) };
    case 'reasoning':
      return reasoningOf(block, origin);
    case 'reasoning_content': // Bedrock
      return bedrockThought(objectField(block, 'reasoning_content'), origin);
    default:
      return null;
  }
}

/** The item of the Responses API, or LangChain's own block with the provider's fields in `extras`. */
export function reasoningOf(block: JsonObject, origin: Origin | undefined): ReasoningItem {
  const summary = listField(block, 'summary').filter(isJsonObject);
  const summarised = summary.map((part) => textField(part, 'text') ?? '').join('\n\n');
  const text = textField(block, 'reasoning', 'text') ?? (summary.length > 0 ? summarised : null);
  const encrypted = textField(block, 'encrypted_content');
  const id = textField(block, 'id');
  const isOfOpenAi = encrypted !== undefined || id?.startsWith('rs_');
  const maker = origin ?? (isOfOpenAi ? { provider: 'openai' } : undefined);
  return {
    ...signed(text, { ...objectField(block, 'extras'), ...block }, maker),
    ...(encrypted === undefined ? {} : { encrypted }),
    ...(id === undefined ? {} : { id }),
  };
}

function bedrockThought(inner: JsonObject, origin: Origin | undefined): ReasoningItem {
  return signed(textField(inner, 'text') ?? null, inner, origin ?? { provider: 'anthropic' });
}

function signed(text: string | null, block: JsonObject, origin: Origin | undefined): ReasoningItem {
  const signature = signatureField(block, 'signature');
  return { text, ...(signature === undefined ? {} : { signature }), ...from(origin) };
}

function from(origin: Origin | undefined): { readonly origin?: Origin } {
  return origin === undefined ? {} : { origin };
}
