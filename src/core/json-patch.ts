/** The difference between two JSON values as a JSON Patch (RFC 6902): stored in journals, and shown to people. */
import jsonPatch, { type Operation } from 'fast-json-patch';
import { canonicalJson } from './canonical-json.js';
import type { JsonObject, JsonValue } from './json.js';

/** `path` and `from` are JSON Pointers. */
export type JsonPatchStep =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string };

/**
 * The steps that lead from one value to the other. Null if no patch leads there exactly (keys that could reach a
 * prototype), or if `to` as a whole is shorter.
 */
export function patchBetween(from: JsonValue, to: JsonValue): JsonPatchStep[] | null {
  try {
    const steps = jsonPatch.compare(from as JsonObject, to as JsonObject) as JsonPatchStep[];
    if (JSON.stringify(steps).length > JSON.stringify(to).length) return null;
    return canonicalJson(applyPatch(from, steps)) === canonicalJson(to) ? steps : null;
  } catch {
    return null;
  }
}

/** The steps for a person to read, even if they are longer than the value. */
export function changesBetween(from: JsonValue, to: JsonValue): JsonPatchStep[] {
  const whole: JsonPatchStep[] = [{ op: 'replace', path: '', value: to }];
  if (!isContainer(from) || !isContainer(to) || Array.isArray(from) !== Array.isArray(to)) {
    return canonicalJson(from) === canonicalJson(to) ? [] : whole;
  }
  return jsonPatch.compare(from as JsonObject, to as JsonObject) as JsonPatchStep[];
}

/** Returns a new value and leaves the old one unchanged. Throws for a step that does not fit, or that could reach a prototype. */
export function applyPatch(value: JsonValue, ...patches: (readonly JsonPatchStep[])[]): JsonValue {
  let document: JsonValue = structuredClone(value);
  for (const steps of patches) {
    const own = structuredClone(steps) as Operation[]; // values in the steps become part of the document
    document = jsonPatch.applyPatch(document, own, true, true, true).newDocument as JsonValue;
  }
  return document;
}

function isContainer(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null;
}
