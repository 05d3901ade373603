/**
 * Reads one model response in AI SDK parts as one assistant message, plus the results that its provider produced
 * itself. Both stored forms of the SDK are read here: UI parts are first converted to model parts.
 */
import type { JsonObject } from '../../../core/json.js';
import { callExtraFrom } from '../../ai-sdk-metadata.js';
import { originFrom, signedReasoningFrom, thoughtSignatureFrom } from '../../ai-sdk-signatures.js';
import type {
  ContentPart,
  Message,
  Origin,
  ProviderItem,
  ReasoningItem,
  TextPart,
  ToolCallSpec,
} from '../../message.js';
import { assistantContentOf } from '../reading/content-parts.js';
import { opaqueBlock, textOfBlock } from '../reading/opaque-blocks.js';
import { argumentsFrom } from '../reading/open-calls.js';
import { idText, textField } from '../reading/record-fields.js';
import { fromAiSdkMessages } from './ai-sdk.js';
import { mediaFrom } from './ai-sdk-media.js';
import { type Reading, toolMessagesFrom } from './ai-sdk-results.js';

export interface Step {
  readonly parts: readonly JsonObject[];
  readonly place: string;
  readonly status?: 'aborted';
}

export function messagesOfStep(step: Step, reading: Reading): Message[] {
  const origin = step.parts.map((part) => originFrom(part['providerOptions'])).find((found) => found);
  const content = contentPartsOf(step, reading);
  const calls = callsOf(step);
  const providerItems = unknownItems(step, origin, reading);
  const message: Message = {
    role: 'assistant',
    ...assistantContentOf(content),
    ...(calls.length > 0 ? { toolPayload: { toolCalls: calls } } : {}),
    ...(providerItems.length > 0 ? { providerItems } : {}),
    ...(origin ? { origin } : {}),
    ...(step.status ? { status: step.status } : {}),
  };
  reading.openCalls.called(message);
  return [message, ...toolMessagesFrom(step.parts, step.place, reading)];
}

function contentPartsOf({ parts, place }: Step, { losses }: Reading): ContentPart[] {
  const content: ContentPart[] = [];
  let called = false;
  for (const part of parts) {
    const type = part['type'];
    called ||= type === 'tool-call';
    if (called && (type === 'text' || type === 'reasoning'))
      losses.approximate('text after a tool call of the same answer', place);
    if (type === 'text') content.push(textPartFrom(part));
    else if (type === 'reasoning') pushReasoning(content, reasoningFrom(part));
    else if (type === 'file' || type === 'image') {
      const media = mediaFrom(part);
      if (media) content.push({ type: 'media', media });
    } else if (typeof type !== 'string' || !KNOWN_PARTS.has(type)) {
      const text = textOfBlock(part);
      if (text !== null && type !== 'tool-approval-request') content.push({ type: 'text', text });
    }
  }
  return content;
}

export function textPartFrom(part: JsonObject): TextPart {
  return {
    type: 'text',
    text: textField(part, 'text') ?? '',
    ...thoughtSignatureFrom(part['providerOptions']),
  };
}

function reasoningFrom(part: JsonObject): ReasoningItem {
  return signedReasoningFrom(textField(part, 'text') ?? '', part['providerOptions']);
}

/** The SDK repeats an OpenAI item for each of its summary texts. */
function pushReasoning(content: ContentPart[], item: ReasoningItem): void {
  const last = content[content.length - 1];
  const before = last?.type === 'reasoning' ? last.reasoning : undefined;
  if (before?.id === undefined || before.id !== item.id) {
    content.push({ type: 'reasoning', reasoning: item });
    return;
  }
  const texts = [before.text, item.text].filter((text) => text !== null);
  const text = texts.length > 0 ? texts.join('\n\n') : null;
  content[content.length - 1] = { type: 'reasoning', reasoning: { ...before, ...item, text } };
}

function callsOf({ parts }: Step): ToolCallSpec[] {
  const given = parts.filter((part) => part['type'] === 'tool-call');
  const plain = given.map((part) => ({
    type: 'tool-call',
    toolCallId: idText(part['toolCallId']),
    toolName: idText(part['toolName']),
    input: part['input'] ?? part['args'] ?? {},
  }));
  const [response] = fromAiSdkMessages([{ role: 'assistant', content: plain }], { provider: 'unknown' });
  const calls = response?.kind === 'assistant' ? response.toolCalls : [];
  return calls.map((call, index) => {
    const metadata = given[index]?.['providerOptions'];
    return {
      ...call,
      ...argumentsFrom(call.arguments), // arguments that the SDK could not parse are the model's text
      ...thoughtSignatureFrom(metadata),
      ...callExtraFrom(metadata),
    };
  });
}

/** For parts without a provider's name: they are never sent back. */
const UNKNOWN = { provider: 'unknown' } as const;

function isUnreadableFile(part: JsonObject): boolean {
  return (part['type'] === 'file' || part['type'] === 'image') && mediaFrom(part) === null;
}

const KNOWN_PARTS = new Set(['text', 'reasoning', 'file', 'image', 'tool-call', 'tool-result']);

function unknownItems(
  { parts, place }: Step,
  origin: Origin | undefined,
  { losses }: Reading,
): ProviderItem[] {
  const items: ProviderItem[] = [];
  for (const part of parts) {
    const type = part['type'];
    if (typeof type === 'string' && KNOWN_PARTS.has(type) && !isUnreadableFile(part)) continue;
    if (type === 'tool-approval-request') losses.drop('the approval of a tool call', place);
    else items.push(opaqueBlock(part, origin ?? UNKNOWN, place, losses).item);
  }
  return items;
}
