/** Checks how the items of a Responses request depend on each other: calls and outputs, ids, and what must follow reasoning. */
import { fieldOf, isFilledText, quote, type Report } from './request-check.js';

/** Calls that the client answers, by the type of their output. The API answers others itself, or they have their own rules. */
const CALL_OF_OUTPUT = new Map([
  ['function_call_output', 'function_call'],
  ['custom_tool_call_output', 'custom_tool_call'],
]);
const CALLS = new Set(CALL_OF_OUTPUT.values());
const ID_PREFIX = new Map([
  ['message', 'msg_'],
  ['reasoning', 'rs_'],
  ['function_call', 'fc_'],
]);
const ID = /^[A-Za-z0-9_-]{1,64}$/;

export function checkCallPairs(items: readonly unknown[], isContinued: boolean, report: Report): void {
  const open = new Map<string, string>();
  const closed = new Set<string>();
  items.forEach((item, i) => {
    const type = typeOf(item);
    const id = fieldOf(item, 'call_id');
    if (!isFilledText(id)) return;
    const key = `${CALL_OF_OUTPUT.get(type) ?? type}:${id}`;
    if (CALLS.has(type)) {
      if (open.has(key)) {
        report(
          'openai-responses/2.1',
          `input/${i}`,
          `The call id ${quote(id)} is that of another open call.`,
        );
      }
      open.set(key, `input/${i}`);
    } else if (CALL_OF_OUTPUT.has(type)) {
      const isKnown = open.delete(key) || (isContinued && !closed.has(key));
      if (!isKnown) report('openai-responses/2.1', `input/${i}`, orphanReason(id, closed.has(key)));
      closed.add(key);
    }
  });
  for (const [key, path] of open) {
    const id = key.slice(key.indexOf(':') + 1);
    report('openai-responses/2.1', path, `No output is found behind the call ${quote(id)}.`);
  }
}

function orphanReason(id: string, isSecond: boolean): string {
  return isSecond
    ? `The call ${quote(id)} has a second output.`
    : `No call is found before the output for ${quote(id)}.`;
}

export function checkItemIds(items: readonly unknown[], report: Report): void {
  const seen = new Set<string>();
  items.forEach((item, i) => {
    const id = fieldOf(item, 'id');
    if (id === undefined || id === null) return;
    const problem = idProblem(id, ID_PREFIX.get(typeOf(item)) ?? '', seen);
    if (problem !== null) report('openai-responses/2.3', `input/${i}/id`, problem);
    if (typeof id === 'string') seen.add(id);
  });
}

function idProblem(id: unknown, prefix: string, seen: ReadonlySet<string>): string | null {
  if (typeof id !== 'string' || !ID.test(id)) {
    return `The item id ${quote(id)} is not made of 1 to 64 letters, digits, underscores or hyphens.`;
  }
  if (seen.has(id)) return `The item id ${quote(id)} occurs twice.`;
  if (!id.startsWith(prefix)) return `The item id ${quote(id)} does not begin with ${prefix}`;
  return id.endsWith('_') ? `The item id ${quote(id)} ends with an underscore.` : null;
}

export function checkReasoningFollowers(items: readonly unknown[], report: Report): void {
  items.forEach((item, i) => {
    if (typeOf(item) !== 'reasoning' || isOfTheModel(items[i + 1])) return;
    report('openai-responses/2.4', `input/${i}`, 'The reasoning item is not followed by an item it led to.');
  });
}

/** Items that a model may produce after its reasoning. The calls of all built-in tools have the same ending. */
function isOfTheModel(item: unknown): boolean {
  const type = typeOf(item);
  if (type === 'message') return fieldOf(item, 'role') === 'assistant';
  return type.endsWith('_call') || FOLLOWERS.has(type);
}

const FOLLOWERS = new Set([
  'reasoning',
  'item_reference',
  'mcp_approval_request',
  'mcp_list_tools',
  'compaction',
]);

function typeOf(item: unknown): string {
  const type = fieldOf(item, 'type') ?? 'message';
  return typeof type === 'string' ? type : '';
}
