/**
 * The limits of each target, in one table. Limits change, and a host can override them per model. `docs/legality.md`
 * gives the source of each number.
 */
import type { TargetName } from './targets.js';

export interface IdRule {
  readonly pattern: RegExp;
  readonly max: number;
  /** Ids have exactly `max` characters, letters and digits only. */
  readonly exact?: boolean;
  /** No id may occur twice in a request, even in different messages. */
  readonly unique: boolean;
}

export interface NameRule {
  readonly pattern: RegExp;
  readonly max: number;
}

/** What a target accepts. Override single values with `limits` of the target. */
export interface TargetLimits {
  readonly callId: IdRule;
  readonly toolName: NameRule;
  readonly imageMimes: ReadonlySet<string>;
  /** Of one image, as base64. */
  readonly imageBase64Bytes: number;
  /** Longer side in pixels. */
  readonly imageSide: number;
  /** If the request has more images than this, `manyImagesSide` applies to each of them. */
  readonly manyImages: number;
  readonly manyImagesSide: number;
  readonly images: number;
  /** URLs that the provider fetches itself. */
  readonly mediaUrl: RegExp;
  /** Of all media of the request, as base64. */
  readonly mediaBase64Bytes: number;
  /** Characters of one tool output. */
  readonly outputChars: number;
}

const WORD = /^[a-zA-Z0-9_-]+$/;
const MEBIBYTE = 1024 * 1024;
const NO_LIMIT = Number.POSITIVE_INFINITY;
const COMMON_IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

const OPENAI: TargetLimits = {
  callId: { pattern: /^[^\s]+$/, max: 40, unique: false },
  toolName: { pattern: WORD, max: 64 },
  imageMimes: COMMON_IMAGES,
  imageBase64Bytes: 20 * MEBIBYTE,
  imageSide: NO_LIMIT,
  manyImages: NO_LIMIT,
  manyImagesSide: NO_LIMIT,
  images: 500,
  mediaUrl: /^https?:\/\//i,
  mediaBase64Bytes: 45 * MEBIBYTE,
  outputChars: NO_LIMIT,
};

const ANTHROPIC: TargetLimits = {
  callId: { pattern: WORD, max: 64, unique: true },
  toolName: { pattern: WORD, max: 128 },
  imageMimes: COMMON_IMAGES,
  imageBase64Bytes: 5 * MEBIBYTE,
  imageSide: 8000,
  manyImages: 20,
  manyImagesSide: 2000,
  images: 100,
  mediaUrl: /^https:\/\//i,
  mediaBase64Bytes: 28 * MEBIBYTE, // the body limit is 32; the rest is for texts
  outputChars: NO_LIMIT,
};

const LIMITS: Readonly<Record<TargetName, TargetLimits>> = {
  'openai-chat': OPENAI,
  'openai-responses': {
    ...OPENAI,
    callId: { pattern: WORD, max: 64, unique: true },
    outputChars: 10_485_760,
  },
  anthropic: ANTHROPIC,
  gemini: {
    ...OPENAI,
    callId: { pattern: WORD, max: 64, unique: true },
    toolName: { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, max: 64 },
    imageMimes: new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']),
    images: 3000,
    mediaBase64Bytes: 18 * MEBIBYTE,
  },
  // Only what all providers behind the SDK accept.
  'ai-sdk': {
    ...ANTHROPIC,
    mediaUrl: OPENAI.mediaUrl, // the SDK fetches what a provider cannot
    callId: { pattern: WORD, max: 40, unique: true },
    toolName: { pattern: WORD, max: 64 },
  },
};

/** Mistral's ids: exactly nine letters and digits. */
const MISTRAL_IDS: IdRule = { pattern: /^[a-zA-Z0-9]+$/, max: 9, exact: true, unique: true };

export function limitsFor(
  target: TargetName,
  flavor: 'openai' | 'strict' | 'mistral' = 'openai',
  overrides: Partial<TargetLimits> = {},
): TargetLimits {
  return { ...LIMITS[target], ...(flavor === 'mistral' ? { callId: MISTRAL_IDS } : {}), ...overrides };
}
