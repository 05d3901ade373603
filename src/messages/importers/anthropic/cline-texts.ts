/** Cline before native tool calls: calls are XML inside the answer, and results are user texts. Both stay texts. */
import { type Message, textOf } from '../../message.js';
import type { LossAccount } from '../loss-account.js';

const TOOLS = [
  ...['execute_command', 'read_file', 'write_to_file', 'replace_in_file', 'apply_diff', 'insert_content'],
  ...[
    'search_files',
    'list_files',
    'list_code_definition_names',
    'browser_action',
    'use_mcp_tool',
    'switch_mode',
  ],
  ...['access_mcp_resource', 'ask_followup_question', 'attempt_completion', 'new_task', 'plan_mode_respond'],
  ...['load_mcp_documentation', 'search_and_replace', 'update_todo_list', 'codebase_search', 'web_fetch'],
];
const CALL = new RegExp(`<(?:${TOOLS.join('|')})>`);
/** `[read_file for 'a.ts'] Result:` */
const RESULT_HEAD = /^\[[a-z_]{2,40}(?: |\])/;
const RESULT_HEAD_MAX = 4000;

export function accountForTextTools(message: Message, place: string, losses: LossAccount): void {
  if (message.role === 'assistant' && message.toolPayload === undefined && CALL.test(textOf(message)))
    losses.approximate('tool call written as XML, kept as text', place);
  const texts = message.role === 'user' ? (message.parts ?? [{ type: 'text', text: textOf(message) }]) : [];
  for (const part of texts) {
    if (part.type === 'text' && isResult(part.text)) losses.approximate('tool result written as text', place);
  }
}

function isResult(text: string): boolean {
  return RESULT_HEAD.test(text) && text.slice(0, RESULT_HEAD_MAX).includes('] Result:');
}
