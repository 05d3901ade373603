/** Reads fields of unchecked records with their expected type. A value of another type counts as absent. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Origin } from '../../message.js';

export function textField(json: JsonObject, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = json[key];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

/** Programs write the empty text where a model signed nothing. */
export function signatureField(json: JsonObject, ...keys: readonly string[]): string | undefined {
  const signature = textField(json, ...keys);
  return signature === '' ? undefined : signature;
}

export function objectField(json: JsonObject, ...keys: readonly string[]): JsonObject {
  for (const key of keys) {
    const value = json[key];
    if (isJsonObject(value)) return value;
  }
  return {};
}

export function listField(json: JsonObject, ...keys: readonly string[]): readonly JsonValue[] {
  for (const key of keys) {
    const value = json[key];
    if (Array.isArray(value)) return value;
  }
  return [];
}

/** An id as text. Numbers are converted; anything else becomes the empty text. */
export function idText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

export function isAbsent(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** Seconds, from a time in milliseconds. */
export function secondsOf(milliseconds: JsonValue | undefined): { readonly ts?: number } {
  return typeof milliseconds === 'number' && Number.isFinite(milliseconds) ? { ts: milliseconds / 1000 } : {};
}

/** The maker of a model, by the names that makers use. */
export function originOfModel(model: string | undefined): { readonly origin?: Origin } {
  if (model === undefined) return {};
  if (/claude/i.test(model)) return { origin: { provider: 'anthropic', model } };
  if (/gemini/i.test(model)) return { origin: { provider: 'google', model } };
  if (/^(?:.*\/)?(?:ft:)?(?:gpt|chatgpt|o\d|codex)/i.test(model))
    return { origin: { provider: 'openai', model } };
  return {};
}
