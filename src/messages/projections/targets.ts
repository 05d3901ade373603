/** The formats that a history can be projected to. */

export const TARGETS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'ai-sdk'] as const;
/** Name of a provider API, for `project` and `checkRequest`. */
export type TargetName = (typeof TARGETS)[number];
