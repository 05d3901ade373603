/** What the projections return is what the official SDKs take, checked by `npm run typecheck`: nothing here runs. */
import type Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages';
import type { GenerateContentParameters, GoogleGenAI } from '@google/genai';
import type { ModelMessage } from 'ai';
import type OpenAI from 'openai';
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type {
  EasyInputMessage,
  ResponseCreateParams,
  ResponseInputItem,
  ResponseReasoningItem,
} from 'openai/resources/responses/responses';
import { expectTypeOf } from 'vitest';
import type { AnthropicRequest } from '../../src/messages/projections/anthropic.js';
import type { GeminiRequest } from '../../src/messages/projections/gemini.js';
import type { OpenAiChatRequest } from '../../src/messages/projections/openai-chat.js';
import type {
  OpenAiResponsesRequest,
  ResponsesItem,
  ResponsesReasoning,
} from '../../src/messages/projections/openai-responses.js';
import type { RequestOf } from '../../src/messages/projections/project.js';
import { project } from '../../src/messages/projections/project.js';

// --- OpenAI chat: the model is the caller's, where the target names none.
expectTypeOf<OpenAiChatRequest & { model: string }>().toExtend<ChatCompletionCreateParams>();
expectTypeOf<OpenAiChatRequest>().not.toExtend<ChatCompletionCreateParams>();

// --- OpenAI Responses. The type of a reasoning item asks for an id, which the API does not: with `store: false` the encrypted
// content is enough, and an id that is there twice is refused. This is the one exception; everything else is as the SDK has it.
type IdentifiedReasoning = ResponsesReasoning & { id: string };
type IdentifiedItem = Exclude<ResponsesItem, ResponsesReasoning> | IdentifiedReasoning;
type IdentifiedRequest = Omit<OpenAiResponsesRequest, 'input'> & { input: IdentifiedItem[] };
expectTypeOf<IdentifiedRequest>().toExtend<ResponseCreateParams>();
expectTypeOf<IdentifiedReasoning>().toExtend<ResponseReasoningItem>();
expectTypeOf<ResponsesReasoning>().toExtend<Omit<ResponseReasoningItem, 'id'>>();
expectTypeOf<ResponsesReasoning>().not.toExtend<ResponseReasoningItem>();
expectTypeOf<Exclude<ResponsesItem, ResponsesReasoning>>().toExtend<ResponseInputItem>();
expectTypeOf<Extract<ResponsesItem, { role: 'user' }>>().toExtend<EasyInputMessage>();

// --- Anthropic: model and length are the caller's.
expectTypeOf<AnthropicRequest & { model: string; max_tokens: number }>().toExtend<MessageCreateParams>();
expectTypeOf<AnthropicRequest & { model: string }>().not.toExtend<MessageCreateParams>();

// --- Gemini.
expectTypeOf<GeminiRequest & { model: string }>().toExtend<GenerateContentParameters>();
expectTypeOf<GeminiRequest>().not.toExtend<GenerateContentParameters>();

// --- AI SDK.
expectTypeOf<RequestOf<'ai-sdk'>['messages']>().toExtend<ModelMessage[]>();

// --- As a host calls them.
export async function sends(openai: OpenAI, anthropic: Anthropic, google: GoogleGenAI): Promise<void> {
  const model = 'a-model';
  await openai.chat.completions.create({ ...project('openai-chat', []).request, model });
  await anthropic.messages.create({ ...project('anthropic', []).request, model, max_tokens: 1024 });
  await google.models.generateContent({ ...project('gemini', []).request, model });
  // @ts-expect-error a request of one target is not one of another
  await google.models.generateContent({ ...project('openai-chat', []).request, model });
  // @ts-expect-error only the targets that there are
  project('openai', []);
}
