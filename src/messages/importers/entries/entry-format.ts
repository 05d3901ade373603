/** The formats of message lists, and what speaks for one. */

/** Where two formats are marked equally often, the first of these is taken. */
export const ENTRY_FORMATS = [
  'rekindle',
  'ai-sdk-ui',
  'ai-sdk-model',
  'anthropic',
  'openai-responses',
  'gemini',
  'openai-chat',
] as const;
export type EntryFormat = (typeof ENTRY_FORMATS)[number];

/** `weak`: other formats have it at times, so it decides only where nothing else does. */
export interface EntryMark {
  readonly format: EntryFormat;
  readonly weak?: true;
  /** In words: `a call with a field function`. */
  readonly what: string;
}
