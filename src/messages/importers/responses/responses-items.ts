/** The items of OpenAI's Responses API that are not messages, identified by their type. */
import type { JsonObject } from '../../../core/json.js';

const ITEMS = new RegExp(
  `^(?:${[
    '(?:function|custom_tool|computer|local_shell|shell|apply_patch)_call(?:_output)?',
    '(?:web_search|file_search|code_interpreter|image_generation|mcp)_call',
    'mcp_list_tools|mcp_approval_(?:request|response)|tool_search_(?:call|output)|item_reference',
  ].join('|')})$`,
);

export function isResponsesItem(entry: JsonObject): boolean {
  const { type, role } = entry;
  if (typeof type !== 'string' || role !== undefined) return false;
  if (type === 'reasoning') return Array.isArray(entry['summary']) || 'encrypted_content' in entry;
  return ITEMS.test(type);
}
