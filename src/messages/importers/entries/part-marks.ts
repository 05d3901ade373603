/** Content parts that only one format has. A part of an unknown type is ignored. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { EntryFormat, EntryMark } from './entry-format.js';

const OWN_TYPES: ReadonlyMap<string, EntryFormat> = new Map([
  ...['tool_use', 'tool_result', 'thinking', 'redacted_thinking'].map((type) => [type, 'anthropic'] as const),
  ...['input_text', 'output_text', 'input_image', 'input_file'].map(
    (type) => [type, 'openai-responses'] as const,
  ),
  ...['tool-call', 'tool-result', 'tool-approval-request', 'tool-approval-response', 'reasoning-file'].map(
    (type) => [type, 'ai-sdk-model'] as const,
  ),
  ['image_url', 'openai-chat'],
]);
/** Blocks of tools that the provider runs. Lists of other formats may hold them, so they do not decide alone. */
const SERVER_BLOCK = /^(?:server_tool_use|mcp_tool_use|[a-z_]{1,40}_tool_result)$/;

export function partMarkOf(part: JsonValue): EntryMark | null {
  if (!isJsonObject(part) || typeof part['type'] !== 'string') return null;
  const { type } = part;
  if (SERVER_BLOCK.test(type)) return { format: 'anthropic', weak: true, what: `a part \`${type}\`` };
  const own = OWN_TYPES.get(type);
  if (own) return { format: own, what: `a part \`${type}\`` };
  if (isJsonObject(part['providerOptions']))
    return { format: 'ai-sdk-model', what: 'a part with `providerOptions`' };
  return mediaMark(part, type);
}

function mediaMark(part: JsonObject, type: string): EntryMark | null {
  const what = `a part \`${type}\``;
  const isSourced = (type === 'image' || type === 'document') && isJsonObject(part['source']);
  if (isSourced) return { format: 'anthropic', what: `${what} with a \`source\`` };
  if (type === 'input_audio' && isJsonObject(part['input_audio'])) return { format: 'openai-chat', what };
  if (type === 'file' && isJsonObject(part['file'])) return { format: 'openai-chat', what };
  if (type === 'image' && part['image'] !== undefined) return { format: 'ai-sdk-model', what };
  const isFile = type === 'file' && part['data'] !== undefined;
  if (isFile && typeof (part['mediaType'] ?? part['mimeType']) === 'string')
    return { format: 'ai-sdk-model', what };
  if (type === 'reasoning' && typeof part['text'] === 'string')
    return { format: 'ai-sdk-model', weak: true, what };
  if (type === 'refusal') return { format: 'openai-chat', weak: true, what };
  return null;
}
