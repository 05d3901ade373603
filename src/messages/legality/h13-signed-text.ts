/**
 * H13: a signature stays with the text that it signs. A block that lost its text is removed as a whole: if it were sent
 * without the text, or with another one, the provider would reject every later request. Fully opaque blocks have no
 * text to lose.
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
