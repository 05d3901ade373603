/**
 * H9: no message is blank. A result without output gets a text, because its call must stay answered; null, 0, false and
 * [] count as output. A message with nothing left to send is removed. Blank parts between others stay, because their
 * positions may be signed.
 */
import { isBlankMessage, isBlankText, type Message, toolResultOf } from '../message.js';
import type { MessageRule } from './rule.js';

export const EMPTY_RESULT_TEXT = '(no output)';
export const EMPTY_ERROR_TEXT = 'The tool failed without a message.';

export const nothingBlank: MessageRule = {
  rule: 'H9',
  mend(message, note) {
    const filled = filledResult(message);
    if (filled !== message) {
      note('fill-empty-result', 'the result is blank text', toolResultOf(message)?.toolCallId);
      return filled;
    }
    if (!isBlankMessage(message)) return message;
    note('drop-empty-message', 'the message has no text, no calls and no media');
    return null;
  },
};

function filledResult(message: Message): Message {
  const result = toolResultOf(message);
  if (!result) return message;
  const { toolResult, toolError } = result;
  if (toolError !== null) {
    if (!isBlankText(toolError)) return message;
    return { ...message, toolPayload: { ...result, toolError: EMPTY_ERROR_TEXT } };
  }
  if (typeof toolResult !== 'string' || !isBlankText(toolResult)) return message;
  if (
    message.parts?.some((part) => part.type === 'media' || (part.type === 'text' && !isBlankText(part.text)))
  )
    return message;
  return { ...message, toolPayload: { ...result, toolResult: EMPTY_RESULT_TEXT } };
}
