/**
 * Projects messages to `ModelMessage`s of the Vercel AI SDK. Pure and deterministic.
 *
 * The types here are structural, so that this file needs no package; a type test compares them with the SDK's own.
 * Results of one block share one `tool` message. Signed reasoning is sent back only to the provider that made it.
 */
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { AiSdkProviderOptions } from '../ai-sdk-metadata.js';
import { callMetadataOf, reasoningMetadataOf, textMetadataOf } from '../ai-sdk-signatures.js';
import {
  isBlankText,
  type Message,
  type Origin,
  partsOf,
  type ReasoningItem,
  type ToolResultPayload,
  toolCallsOf,
  toolResultOf,
} from '../message.js';
import { argumentsObjectOf } from './call-arguments.js';
import type { SentMedia } from './media-plan.js';
import { saidMime } from './media-source.js';
import { Preparation } from './preparation.js';
import type { Projection, ProjectionTarget } from './projection.js';
import { endingInText, isOwn, replayedParts } from './reasoning-origin.js';
import { markedOutputText } from './tool-output.js';

export interface AiSdkTextPart {
  type: 'text';
  text: string;
  providerOptions?: AiSdkProviderOptions;
}

export interface AiSdkReasoningPart {
  type: 'reasoning';
  text: string;
  providerOptions?: AiSdkProviderOptions;
}

export interface AiSdkFilePart {
  type: 'file';
  data: string | URL;
  mediaType: string;
  filename?: string;
}

export interface AiSdkImagePart {
  type: 'image';
  image: string | URL;
  mediaType?: string;
}

export interface AiSdkToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: JsonValue;
  providerOptions?: AiSdkProviderOptions;
}

export type AiSdkToolOutput =
  | { type: 'text'; value: string }
  | { type: 'json'; value: JsonValue }
  | { type: 'content'; value: ({ type: 'text'; text: string } | AiSdkMediaOutput)[] }
  | { type: 'error-text'; value: string };

/** A media item that a tool returned. */
export type AiSdkMediaOutput =
  | { type: 'image-data' | 'file-data'; data: string; mediaType: string }
  | { type: 'image-url' | 'file-url'; url: string };

export interface AiSdkToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: AiSdkToolOutput;
}

/** A request to a person to approve a call that has not run. */
export interface AiSdkApprovalRequest {
  type: 'tool-approval-request';
  approvalId: string;
  toolCallId: string;
}

export interface AiSdkApprovalResponse {
  type: 'tool-approval-response';
  approvalId: string;
  approved: boolean;
  reason?: string;
}

export type AiSdkAssistantPart =
  | AiSdkTextPart
  | AiSdkReasoningPart
  | AiSdkToolCallPart
  | AiSdkApprovalRequest;

/** A message as `generateText` and `streamText` take it. */
export type AiSdkMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | (AiSdkTextPart | AiSdkImagePart | AiSdkFilePart)[] }
  | { role: 'assistant'; content: string | AiSdkAssistantPart[] }
  | { role: 'tool'; content: (AiSdkToolResultPart | AiSdkApprovalResponse)[] };

/** Arguments for `generateText` or `streamText`, made by `project('ai-sdk', ...)`. */
export interface AiSdkRequest {
  messages: AiSdkMessage[];
  /** The target's tools by name. Without `execute`: the host has the executable ones. */
  tools?: { name: string; description: string; inputSchema: JsonObject }[];
}

/** @param target its `provider` gets its own signed reasoning back; without a `provider`, none is sent */
export function projectAiSdk(
  messages: readonly Message[],
  target: ProjectionTarget = {},
): Projection<AiSdkRequest> {
  const preparation = new Preparation('ai-sdk', messages, target, () => true);
  const system = preparation.systemText;
  const out: AiSdkMessage[] = system === '' ? [] : [{ role: 'system', content: system }];
  for (const { message } of preparation.conversation()) {
    const last = out[out.length - 1];
    if (message.role === 'tool') {
      const part = resultPart(message, preparation);
      if (last?.role === 'tool') last.content.push(part);
      else out.push({ role: 'tool', content: [part] });
    } else if (message.role === 'assistant') addAssistant(message, preparation, out);
    else out.push({ role: 'user', content: userContent(message, preparation) });
  }
  addResponses(preparation, out);
  const added = preparation.addedUserTurn();
  if (added !== null) out.push({ role: 'user', content: added });
  const tools = preparation
    .tools(false)
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return preparation.finish({ messages: out, ...(tools.length === 0 ? {} : { tools }) });
}

function userContent(
  message: Message,
  preparation: Preparation,
): string | (AiSdkTextPart | AiSdkImagePart | AiSdkFilePart)[] {
  if (message.content !== null && partsOf(message).length === 1) return message.content;
  return partsOf(message).flatMap((part): (AiSdkTextPart | AiSdkImagePart | AiSdkFilePart)[] => {
    if (part.type === 'reasoning') return [];
    if (part.type === 'text') return isBlankText(part.text) ? [] : [{ type: 'text', text: part.text }];
    const planned = preparation.media(part.media);
    return [typeof planned === 'string' ? { type: 'text', text: planned } : mediaPart(planned)];
  });
}

function mediaPart({ media, data }: SentMedia): AiSdkImagePart | AiSdkFilePart {
  const content = data.kind === 'url' ? new URL(data.url) : data.data;
  // The SDK inspects an image itself if the list does not give its type.
  const mime = data.kind === 'url' ? saidMime(media.mime) : data.mime;
  if (media.kind === 'image')
    return { type: 'image', image: content, ...(mime === undefined ? {} : { mediaType: mime }) };
  return {
    type: 'file',
    data: content,
    mediaType: data.mime,
    ...(media.name === undefined ? {} : { filename: media.name }),
  };
}

function addAssistant(message: Message, preparation: Preparation, out: AiSdkMessage[]): void {
  preparation.omitProviderItems(message);
  const { target } = preparation;
  const isOurs = (origin: Origin | undefined) =>
    target.provider !== undefined && isOwn(origin, target.provider, target);
  const own = isOurs(message.origin);
  // The provider that answered through the SDK gets its own reasoning back, under the key that the SDK uses.
  const replayed = replayedParts(message, target, (item) => (own || isOurs(item.origin)) && isUsable(item));
  const { parts, omitted } = endingInText(message, replayed);
  preparation.omitReasoning(omitted);
  const content: AiSdkAssistantPart[] = parts.map((part) => {
    if (part.type === 'text')
      return withOptions({ type: 'text', text: part.text }, own && textMetadataOf(part, message.origin));
    const { reasoning } = part;
    const signer = reasoning.origin ?? message.origin ?? { provider: target.provider ?? '' };
    return withOptions(
      { type: 'reasoning', text: reasoning.text ?? '' },
      reasoningMetadataOf(reasoning, signer),
    );
  });
  const ids = preparation.callIds(message);
  for (const [index, call] of toolCallsOf(message).entries()) {
    const { value, hasLargeInteger } = argumentsObjectOf(call);
    if (hasLargeInteger) preparation.note('large-integer-as-text', `in the arguments of ${call.name}`);
    const toolName = preparation.toolName(call.name);
    const part: AiSdkToolCallPart = { type: 'tool-call', toolCallId: ids[index]!, toolName, input: value };
    content.push(withOptions(part, (own || message.origin === undefined) && callMetadataOf(call, message)));
    const request = preparation.openRequest(call);
    if (request) content.push({ ...request, toolCallId: ids[index]! } as unknown as AiSdkApprovalRequest);
  }
  const [only] = content;
  const isPlain = content.length === 1 && only?.type === 'text' && only.providerOptions === undefined;
  if (content.some((part) => part.type !== 'reasoning'))
    out.push({ role: 'assistant', content: isPlain ? only.text : content });
  else preparation.note('message-omitted', 'nothing of it can be sent here');
}

/** People's decisions about calls that have yet to run. The SDK runs the calls if it finds the responses at the end. */
function addResponses(preparation: Preparation, out: AiSdkMessage[]): void {
  const responses = preparation.openResponses() as unknown as AiSdkApprovalResponse[];
  const last = out[out.length - 1];
  if (responses.length === 0) return;
  if (last?.role === 'tool') last.content.push(...responses);
  else out.push({ role: 'tool', content: responses });
}

/** Reasoning of a provider that does not sign is sent back unchanged: some require it next to its calls. */
function isUsable(item: ReasoningItem): boolean {
  return item.text !== null || item.redacted === true || item.encrypted !== undefined;
}

function withOptions<Part extends object>(
  part: Part,
  providerOptions: AiSdkProviderOptions | undefined | false,
): Part & { providerOptions?: AiSdkProviderOptions } {
  return providerOptions ? { ...part, providerOptions } : part;
}

function resultPart(message: Message, preparation: Preparation): AiSdkToolResultPart {
  const result = toolResultOf(message)!;
  return {
    type: 'tool-result',
    toolCallId: preparation.ids.ofResult(result.toolCallId),
    toolName: preparation.toolName(result.toolName),
    output: outputOf(message, preparation),
  };
}

function outputOf(message: Message, preparation: Preparation): AiSdkToolOutput {
  const result = toolResultOf(message)!;
  const shown = partsOf(message).flatMap((part): ({ type: 'text'; text: string } | AiSdkMediaOutput)[] => {
    if (part.type === 'reasoning') return [];
    if (part.type === 'text') return isBlankText(part.text) ? [] : [{ type: 'text', text: part.text }];
    const planned = preparation.media(part.media);
    return [typeof planned === 'string' ? { type: 'text', text: planned } : mediaOutput(planned)];
  });
  if (shown.length === 0) return bareOutput(result);
  const texts = shown.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  // An error output has only text. Next to media, the text itself marks the error.
  if (result.toolError !== null && texts.length === shown.length)
    return { type: 'error-text', value: [result.toolError, ...texts].join('\n') };
  const text = markedOutputText(result);
  return {
    type: 'content',
    value: [...(isBlankText(text) ? [] : [{ type: 'text' as const, text }]), ...shown],
  };
}

function bareOutput({ toolError, toolResult }: ToolResultPayload): AiSdkToolOutput {
  if (toolError !== null) return { type: 'error-text', value: toolError };
  return typeof toolResult === 'string'
    ? { type: 'text', value: toolResult }
    : { type: 'json', value: toolResult };
}

function mediaOutput({ media, data }: SentMedia): AiSdkMediaOutput {
  const kind = media.kind === 'image' ? 'image' : 'file';
  if (data.kind === 'url') return { type: `${kind}-url`, url: data.url };
  return { type: `${kind}-data`, data: data.data, mediaType: data.mime };
}
