/** Checks the additional rules of other servers: chat templates with alternating turns, and Mistral's message order. */
import { fieldOf, isFilledText, type Report } from './request-check.js';

export function checkStrictOrder(messages: readonly unknown[], report: Report): void {
  let before: unknown = null;
  messages.forEach((message, i) => {
    const path = `messages/${i}`;
    const role = fieldOf(message, 'role');
    if (role === 'assistant' && typeof fieldOf(message, 'content') !== 'string') {
      report('openai-chat/1.11', `${path}/content`, 'The content of an assistant message is not a text.');
    }
    if (role === 'system' || role === 'developer') {
      if (i > 0) report('openai-chat/1.10', path, 'A system message comes after the first message.');
      return;
    }
    checkTurn(role, before, path, report);
    before = role;
  });
}

function checkTurn(role: unknown, before: unknown, path: string, report: Report): void {
  if (before === null) {
    if (role === 'assistant') report('openai-chat/1.10', path, 'The conversation begins with the assistant.');
  } else if (role === 'user' && before === 'tool') {
    report('mistral/5.1', path, 'A user message directly follows a tool message.');
  } else if (role === before && role !== 'tool') {
    report('openai-chat/1.10', path, 'Two messages of one role follow each other.');
  }
}

export function checkMistralMessages(messages: readonly unknown[], report: Report): void {
  messages.forEach((message, i) => {
    if (fieldOf(message, 'role') !== 'tool' || isFilledText(fieldOf(message, 'name'))) return;
    report('mistral/5.4', `messages/${i}/name`, 'The tool message does not name its function.');
  });
  const last = messages.at(-1);
  if (fieldOf(last, 'role') === 'assistant' && fieldOf(last, 'prefix') !== true && !hasCalls(last)) {
    const path = `messages/${messages.length - 1}`;
    report('mistral/5.5', path, 'The last message is from the assistant and is not marked as a prefix.');
  }
}

/** Calls without results are reported elsewhere. */
function hasCalls(message: unknown): boolean {
  const calls = fieldOf(message, 'tool_calls');
  return Array.isArray(calls) && calls.length > 0;
}
