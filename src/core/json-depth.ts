/** Finds the nesting depth of a value without recursion: code that recurses over a deep value overflows the stack. */
import { JSON_DEPTH_MAX } from './limits.js';

/** Levels that a record adds around its value. */
const RECORD_LEVELS = 12;
/** A value nested deeper than this cannot be stored whole. */
export const VALUE_DEPTH_MAX = JSON_DEPTH_MAX - RECORD_LEVELS;

export function isNestedTooDeep(top: unknown, depthMax = VALUE_DEPTH_MAX): boolean {
  let level: object[] = isContainer(top) ? [top] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > depthMax) return true;
    const next: object[] = [];
    for (const value of level) {
      for (const key in value) {
        const inner = (value as { readonly [key: string]: unknown })[key];
        if (isContainer(inner)) next.push(inner);
      }
    }
    level = next;
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
