/** The types of what a host hands over: messages of the SDKs fit, what is no message does not. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Content } from '@google/genai';
import type { ModelMessage, UIMessage } from 'ai';
import type { ModelMessage as ModelMessage5 } from 'ai-v5';
import type { ModelMessage as ModelMessage7 } from 'ai-v7';
import type OpenAI from 'openai';
import type { Message, WorkingContext } from '../../src/index.js';

export async function takes(
  ctx: WorkingContext,
  five: ModelMessage5[],
  six: ModelMessage[],
  seven: ModelMessage7[],
  ui: UIMessage[],
  chat: OpenAI.Chat.ChatCompletionMessageParam[],
  // A reference stands for what only the server has.
  items: Exclude<OpenAI.Responses.ResponseInputItem, OpenAI.Responses.ResponseInputItem.ItemReference>[],
  anthropic: Anthropic.MessageParam[],
  gemini: Content[],
  own: Message[],
): Promise<void> {
  for (const list of [five, six, seven, ui, chat, items, anthropic, gemini, own]) await ctx.step(list);
  await ctx.endTurn(six);
  await ctx.beginTurn(ui[0]!);
  await ctx.beginTurn({ text: 'hi' });
  // @ts-expect-error neither a text nor a number is a message
  await ctx.endTurn(['nonsense', 5]);
  // @ts-expect-error a list is wanted
  await ctx.endTurn(7);
  // @ts-expect-error a number is no input
  await ctx.beginTurn(5);
}
