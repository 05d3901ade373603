/** Each rule in one line, and which providers reject a request that breaks it. `docs/legality.md` has the details. */
import type { RuleId } from './repairs.js';

export interface RuleText {
  readonly title: string;
  readonly enforcedBy: string;
}

const ALL = 'every provider';

export const RULES_TEXT: Readonly<Record<RuleId, RuleText>> = {
  H1: { title: 'known roles', enforcedBy: ALL },
  H2: {
    title: 'system only at the head, at most one',
    enforcedBy: 'Anthropic, Gemini, Mistral, strict servers',
  },
  H3: {
    title: 'the first other message is the user’s',
    enforcedBy: 'Anthropic, Gemini, Mistral, strict servers',
  },
  H4: { title: 'every call is answered at once', enforcedBy: ALL },
  H5: { title: 'no result elsewhere, none twice', enforcedBy: ALL },
  H6: { title: 'results in call order', enforcedBy: 'Gemini' },
  H7: { title: 'call ids non-empty and distinct in their message', enforcedBy: ALL },
  H8: { title: 'arguments are an object', enforcedBy: 'Anthropic, Gemini' },
  H9: { title: 'nothing blank', enforcedBy: ALL },
  H10: { title: 'well-formed Unicode', enforcedBy: 'Anthropic, strict servers' },
  H11: { title: 'a result or an error, with the name of its call', enforcedBy: 'Gemini, Mistral' },
  H12: { title: 'no empty list of calls', enforcedBy: 'OpenAI Chat' },
  H13: { title: 'no signature without its text', enforcedBy: 'Anthropic' },
  H14: { title: 'no message id twice', enforcedBy: 'OpenAI Responses' },
};
