/** The tools of the AI SDK as descriptions, to count their size. */
import { isRekindleError } from '../../core/errors.js';
import type { ToolDescription } from '../../core/tool-definition.js';
import { type GivenTools, toolDescriptionsOf } from '../../messages/projections/tool-descriptions.js';
import type { GuardableTools } from '../tools/guard-tools.js';

/** Tools that the provider runs have no schema to count. */
export function descriptionsIn(tools: GuardableTools): ToolDescription[] {
  return Object.entries(tools).flatMap(([name, tool]) => {
    try {
      return toolDescriptionsOf({ [name]: tool } as GivenTools);
    } catch (thrown) {
      if (isRekindleError(thrown, 'TOOL_INVALID')) return [];
      throw thrown;
    }
  });
}
