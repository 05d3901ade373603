/** The formats of message lists, and the marks that identify them. */

/** If two formats have equally many marks, the first in this list wins. */
export const ENTRY_FORMATS = [
  'rekindle',
  'ai-sdk-ui',
  'ai-sdk-model',
  'anthropic',
  'openai-responses',
  'gemini',
  'openai-chat',
] as const;
/** A format that is a list of messages, as `readMessages` takes it. */
export type EntryFormat = (typeof ENTRY_FORMATS)[number];

/** `weak`: other formats sometimes have it, so it decides only if nothing else does. */
export interface EntryMark {
  readonly format: EntryFormat;
  readonly weak?: true;
  /** In words: `a call with a field function`. */
  readonly what: string;
}
