/** H12: a message without calls has no list of calls instead of an empty one, which providers reject. */
import { isToolCallPayload } from '../message.js';
import type { MessageRule } from './rule.js';

export const noEmptyCalls: MessageRule = {
  rule: 'H12',
  mend(message, note) {
    if (!isToolCallPayload(message.toolPayload) || message.toolPayload.toolCalls.length > 0) return message;
    note('omit-empty-tool-calls', 'the list of calls is empty');
    const { toolPayload: _, ...rest } = message;
    return rest;
  },
};
