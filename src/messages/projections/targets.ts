/** What a history can be projected to. */

export const TARGETS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'ai-sdk'] as const;
export type TargetName = (typeof TARGETS)[number];
