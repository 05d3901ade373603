/** Every target by name: how its request is made and checked. */
import type { Message } from '../message.js';
import { type AiSdkRequest, projectAiSdk } from './ai-sdk.js';
import { type AnthropicRequest, projectAnthropic } from './anthropic.js';
import { checkAiSdkRequest } from './checks/ai-sdk-check.js';
import { checkAnthropicRequest } from './checks/anthropic-check.js';
import { checkGeminiRequest } from './checks/gemini-check.js';
import { checkOpenAiChatRequest } from './checks/openai-chat-check.js';
import { checkOpenAiResponsesRequest } from './checks/openai-responses-check.js';
import type { RequestViolation } from './checks/request-check.js';
import { type GeminiRequest, projectGemini } from './gemini.js';
import { type OpenAiChatRequest, projectOpenAiChat } from './openai-chat.js';
import { type OpenAiResponsesRequest, projectOpenAiResponses } from './openai-responses.js';
import type { Project, Projection, ProjectionTarget } from './projection.js';
import type { TargetName } from './targets.js';
import { type GivenTools, toolDescriptionsOf } from './tool-descriptions.js';

interface Requests {
  'openai-chat': OpenAiChatRequest;
  'openai-responses': OpenAiResponsesRequest;
  anthropic: AnthropicRequest;
  gemini: GeminiRequest;
  'ai-sdk': AiSdkRequest;
}

/** The request type of a target. */
export type RequestOf<Name extends TargetName> = Requests[Name];

const PROJECTIONS: { readonly [Name in TargetName]: Project<RequestOf<Name>> } = {
  'openai-chat': projectOpenAiChat,
  'openai-responses': projectOpenAiResponses,
  anthropic: projectAnthropic,
  gemini: projectGemini,
  'ai-sdk': projectAiSdk,
};

const CHECKS: Readonly<Record<TargetName, (request: unknown) => RequestViolation[]>> = {
  'openai-chat': checkOpenAiChatRequest,
  'openai-responses': checkOpenAiResponsesRequest,
  anthropic: checkAnthropicRequest,
  gemini: checkGeminiRequest,
  'ai-sdk': checkAiSdkRequest,
};

/** A target, with the tools of the request in whichever form the host has them. */
export type RequestTarget = Omit<ProjectionTarget, 'tools'> & { readonly tools?: GivenTools };

/**
 * Projects a history to the request of a provider's API. Pure: the same list and target give the same bytes. Never
 * throws for a list of messages. Nothing is sent.
 * ```ts
 * const { request } = project('anthropic', messages, { model: 'claude-sonnet-4-5', tools });
 * await client.messages.create({ max_tokens: 1024, ...request });
 * ```
 * @throws TOOL_INVALID for a tool whose shape or schema cannot be read
 */
export function project<Name extends TargetName>(
  name: Name,
  messages: readonly Message[],
  { tools, ...target }: RequestTarget = {},
): Projection<RequestOf<Name>> {
  return PROJECTIONS[name](
    messages,
    tools === undefined ? target : { ...target, tools: toolDescriptionsOf(tools) },
  );
}

/**
 * Reasons why the provider would reject a request, also one of another library; empty if there are none. Shares no code with the
 * projections.
 */
export function checkRequest(name: TargetName, request: unknown): RequestViolation[] {
  return CHECKS[name](request);
}
