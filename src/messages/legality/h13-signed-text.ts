/**
 * H13: a signature stands beside the text that it signs. A block that has lost its text goes as a whole: sent without it, or
 * with it rewritten, the provider refuses every later request. Blocks that are opaque as a whole have no text to lose.
 */
import { type ContentPart, isBlankText, type Message, type ReasoningItem } from '../message.js';
import type { MessageRule } from './rule.js';

export const signedText: MessageRule = {
  rule: 'H13',
  mend(message, note) {
    const { reasoning, parts } = message;
    const hollow = reasoning?.some(isHollow) || parts?.some(isHollowPart);
    if (!hollow) return message;
    note('drop-hollow-reasoning', 'reasoning has its signature but not its text');
    const { reasoning: _, parts: __, ...rest } = message;
    const kept = (reasoning ?? []).filter((item) => !isHollow(item));
    const keptParts = (parts ?? []).filter((part) => !isHollowPart(part));
    return {
      ...rest,
      ...(kept.length > 0 ? { reasoning: kept } : {}),
      ...(keptParts.length > 0 ? { parts: keptParts } : {}),
    } satisfies Message;
  },
};

function isHollow(item: ReasoningItem): boolean {
  return (
    item.signature !== undefined &&
    item.encrypted === undefined &&
    item.redacted !== true &&
    (item.text === null || isBlankText(item.text))
  );
}

function isHollowPart(part: ContentPart): boolean {
  return part.type === 'reasoning' && isHollow(part.reasoning);
}
