import type { Agent, AgentOutputType, CallModelInputFilter } from '@openai/agents-core';
import type { ToolDescription } from '../../core/tool-definition.js';
import type { ListBudget } from '../../memory/fit/list-fitter.js';
import { toolDescriptionsOf } from '../../messages/projections/tool-descriptions.js';
import { FittedList } from '../fitted-list.js';
import { InputItems, ITEM_WRITER } from './input-items.js';

/** Options of `fitInput`. */
export interface FitInputOptions {
  /** The maximum size of a request, in tokens (o200k). */
  readonly budget: ListBudget;
}

/**
 * Keeps each request of the OpenAI Agents SDK within the model's input budget. Pass it as `callModelInputFilter`:
 *
 *     await run(agent, 'Hello', { session, callModelInputFilter: fitInput({ budget: { inputBudgetTokens: 100_000 } }) });
 *
 * If all items fit, they are sent unchanged. Otherwise large results of functions keep their head and tail, old ones are
 * cleared, and old steps are summarized in one message; the text says what was left out, and how much. System messages, the
 * last request and the items of the model stay as they are, or leave as a whole step with its reasoning. The instructions
 * and the functions of the agent are counted; keep room for other tools with `reserveTokens`. The result depends on the
 * items alone, so a restored session gives the same request.
 *
 * The items that a run makes reach the session whole. The SDK itself stores the input of a run as the filter returns it. The
 * last request is never changed, so only a run that is given a longer list can lose older items of that list.
 *
 * The filter rejects with CONTEXT_TOO_LARGE if the budget is too small for what must stay. The model is not called then.
 * @throws INVALID_ARGUMENT for a budget that is not a positive whole number
 */
export function fitInput({ budget }: FitInputOptions): CallModelInputFilter {
  const list = new FittedList(budget, ITEM_WRITER);
  const items = new InputItems();
  const filter: CallModelInputFilter = async ({ modelData, agent }) => {
    const { input, instructions = '' } = modelData;
    const along = { instructions, tools: functionsOf(agent) };
    return { ...modelData, input: await list.fit(items.entriesOf(input), along) };
  };
  // No item is changed here, and an item that is known by its identity is read once.
  return Object.assign(filter, { preserveInputIdentity: true });
}

/** Hosted tools have no schema here. */
function functionsOf({ tools }: Agent<unknown, AgentOutputType>): ToolDescription[] {
  return toolDescriptionsOf(tools.filter(({ type }) => type === 'function'));
}
