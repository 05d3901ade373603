/** Checks calls and their results in a chat request: ids, names and arguments, and whether each has its counterpart. */
import { isJsonObject } from '../../../core/json.js';
import { argumentsProblem, functionNameProblem } from './openai-functions.js';
import { fieldOf, quote, type Report } from './request-check.js';

type Flavor = 'openai' | 'strict' | 'mistral';

/** The calls of one assistant message, until the first message that is not a result. */
interface Block {
  readonly open: Map<string, string>;
  readonly ids: ReadonlySet<string>;
}

const ID_LENGTH_MAX = 40;
const MISTRAL_ID = /^[a-zA-Z0-9]{9}$/;

export function checkChatCalls(messages: readonly unknown[], flavor: Flavor, report: Report): void {
  let block: Block | null = null;
  messages.forEach((message, i) => {
    const path = `messages/${i}`;
    if (fieldOf(message, 'role') === 'tool') {
      const answered = checkResult(message, block, path, report, flavor, fieldOf(messages[i - 1], 'role'));
      if (answered !== null) block?.open.delete(answered);
      return;
    }
    closeBlock(block, report);
    block = fieldOf(message, 'role') === 'assistant' ? openBlock(message, path, flavor, report) : null;
  });
  closeBlock(block, report);
}

function openBlock(message: unknown, path: string, flavor: Flavor, report: Report): Block | null {
  const calls = fieldOf(message, 'tool_calls');
  if (calls === undefined || calls === null) return null;
  if (!Array.isArray(calls)) {
    report('openai-chat/1.0', `${path}/tool_calls`, 'The calls are not a list.');
    return null;
  }
  if (calls.length === 0) report('openai-chat/1.3', `${path}/tool_calls`, 'The list of calls is empty.');
  const open = new Map<string, string>();
  calls.forEach((call: unknown, i) => {
    const place = `${path}/tool_calls/${i}`;
    checkCall(call, place, report);
    if (!isJsonObject(call)) return;
    const { id } = call;
    const twice = typeof id === 'string' && open.has(id);
    if (twice) report('openai-chat/1.8', `${place}/id`, `The id ${quote(id)} occurs twice in one message.`);
    else checkId(id, `${place}/id`, flavor, report);
    if (typeof id === 'string' && !twice) open.set(id, place);
  });
  return { open, ids: new Set(open.keys()) };
}

function checkCall(call: unknown, place: string, report: Report): void {
  if (!isJsonObject(call)) {
    report('openai-chat/1.0', place, 'The call is not an object.');
    return;
  }
  if (call['type'] === 'custom') {
    const name = functionNameProblem(fieldOf(call['custom'], 'name'));
    if (name !== null) report('openai-chat/1.9', `${place}/custom/name`, name);
    return;
  }
  // Some servers omit the type in their answers and accept calls without it.
  if (call['type'] !== 'function' && call['type'] !== undefined) {
    report('openai-chat/1.0', `${place}/type`, `The call type ${quote(call['type'])} is not known.`);
  }
  const name = functionNameProblem(fieldOf(call['function'], 'name'));
  if (name !== null) report('openai-chat/1.9', `${place}/function/name`, name);
  const problem = argumentsProblem(fieldOf(call['function'], 'arguments'));
  if (problem !== null) report('openai-chat/1.7', `${place}/function/arguments`, problem);
}

function checkId(id: unknown, place: string, flavor: Flavor, report: Report): void {
  if (flavor === 'mistral') {
    if (typeof id === 'string' && MISTRAL_ID.test(id)) return;
    report('mistral/5.3', place, `The call id ${quote(id)} is not made of exactly 9 letters or digits.`);
  } else if (typeof id !== 'string' || id === '' || id.length > ID_LENGTH_MAX) {
    report(
      'openai-chat/1.8',
      place,
      `The call id ${quote(id)} does not have 1 to ${ID_LENGTH_MAX} characters.`,
    );
  }
}

/** @returns the id of the call that is now answered, or null. */
function checkResult(
  message: unknown,
  block: Block | null,
  path: string,
  report: Report,
  flavor: Flavor,
  before: unknown,
): string | null {
  const id = fieldOf(message, 'tool_call_id');
  if (flavor !== 'openai' && (before === 'user' || before === 'system' || before === 'developer')) {
    report('mistral/5.2', path, `A tool message directly follows a message of the role ${before}.`);
    return null;
  }
  if (typeof id !== 'string') return null;
  if (block?.open.has(id)) return id;
  const reason = block?.ids.has(id)
    ? `The call ${quote(id)} is answered a second time.`
    : `The tool message answers ${quote(id)}, which is no call of the assistant message before it.`;
  report('openai-chat/1.2', path, reason);
  return null;
}

function closeBlock(block: Block | null, report: Report): void {
  for (const [id, place] of block?.open ?? []) {
    report(
      'openai-chat/1.1',
      place,
      `The call ${quote(id)} is not answered by the tool messages right behind it.`,
    );
  }
}
