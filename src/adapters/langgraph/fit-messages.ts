import type { ToolDescription } from '../../core/tool-definition.js';
import type { ListBudget } from '../../memory/fit/list-fitter.js';
import { toolDescriptionsOf } from '../../messages/projections/tool-descriptions.js';
import { FittedList } from '../fitted-list.js';
import { type ThreadMessage, ThreadMessages, threadWriter } from './thread-messages.js';

/** Options of `fitMessages`. */
export interface FitMessagesOptions {
  /** The maximum size of a request, in tokens (o200k). */
  readonly budget: ListBudget;
  /** The system prompt, if the agent adds it after the hook. System messages of the thread are counted anyway. */
  readonly prompt?: string;
  /** The agent's tools: LangChain's, or declarations with a JSON Schema. They take room in each request. */
  readonly tools?: readonly object[];
}

/** The hook that `fitMessages` makes. It takes any state with messages. */
export type FitMessagesHook = <Message extends ThreadMessage>(state: {
  readonly messages: readonly Message[];
}) => Promise<{ llmInputMessages: Message[] }>;

/**
 * Keeps each request of a LangGraph agent within the model's input budget. Pass it as `preModelHook`, or call it before
 * each model call of your own node:
 *
 *     createReactAgent({ llm, tools, checkpointer, preModelHook: fitMessages({ budget: { inputBudgetTokens: 100_000 }, tools }) });
 *
 * It returns the messages for the model and changes nothing in the thread, which keeps every message. If all messages fit,
 * they are returned unchanged. Otherwise large results keep their head and tail, old results are cleared, and old steps are
 * summarized in one message; the text says what was left out, and how much. System messages, the last request and the
 * messages of the model stay as they are, or leave as a whole step. The result depends on the messages alone, so a restored
 * thread gives the same request.
 *
 * The hook rejects with CONTEXT_TOO_LARGE if the budget is too small for what must stay. The model is not called then.
 * @throws INVALID_ARGUMENT for a budget that is not a positive whole number; TOOL_INVALID for an unreadable tool
 */
export function fitMessages({ budget, prompt = '', tools = [] }: FitMessagesOptions): FitMessagesHook {
  const list = new FittedList<ThreadMessage>(budget, threadWriter());
  const thread = new ThreadMessages();
  const along = { instructions: prompt, tools: toolDescriptionsOf(tools.map(declarationOf)) };
  return async <Message extends ThreadMessage>({ messages }: { readonly messages: readonly Message[] }) => {
    const entries = messages.map((message) => thread.entryOf(message));
    return { llmInputMessages: (await list.fit(entries, along)) as Message[] };
  };
}

/** LangChain's tools hold their schema under a name of their own. */
function declarationOf(tool: object): object {
  const { name, description, schema } = tool as Partial<ToolDescription> & { schema?: unknown };
  return schema === undefined ? tool : { name, description, inputSchema: schema };
}
