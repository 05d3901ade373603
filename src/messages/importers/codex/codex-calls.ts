/** Calls of Codex items: functions, tools that take free text, and the shell of older models. */
import type { JsonObject, JsonValue } from '../../../core/json.js';
import type { ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { argumentsFrom } from '../reading/open-calls.js';
import { idText, objectField, textField } from '../reading/record-fields.js';

const CALLS: ReadonlySet<JsonValue | undefined> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'tool_call',
]);

export function isCodexCall(item: JsonObject): boolean {
  return CALLS.has(item['type']);
}

const OUTPUTS: ReadonlySet<JsonValue | undefined> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
  'mcp_tool_call_output',
  'tool_result',
  'function_result',
]);

export function isCodexOutput(item: JsonObject): boolean {
  return OUTPUTS.has(item['type']);
}

export function codexCallOf(item: JsonObject, losses: LossAccount, place: string): ToolCallSpec {
  const id = idText(item['call_id']) || idText(item['id']) || idByPlace(losses, place);
  if (item['type'] === 'local_shell_call') {
    losses.approximate('call of the local shell, as one of a function', place);
    return { id, name: 'local_shell', arguments: objectField(item, 'action') };
  }
  const name = textField(item, 'name') ?? textField(objectField(item, 'function'), 'name') ?? '';
  if (item['type'] === 'custom_tool_call') {
    losses.approximate('free text for a custom tool, as the argument input', place);
    return { id, name, arguments: { input: item['input'] ?? '' }, extra: { type: 'custom_tool_call' } };
  }
  const given = item['arguments'] ?? objectField(item, 'function')['arguments'];
  const namespace = textField(item, 'namespace');
  return { id, name, ...argumentsFrom(given), ...(namespace === undefined ? {} : { extra: { namespace } }) };
}

/** Gives the call an id, so that a result can refer to it. */
function idByPlace(losses: LossAccount, place: string): string {
  losses.approximate('call without an id, named by its place', place);
  return `call_${place.replaceAll(/\W+/g, '_')}`;
}
