/** Normalizes the contents of a Gemini request: for a user content, the SDK also accepts a text, a part, or a list of them. */
import { isJsonObject } from '../../../core/json.js';
import { fieldOf, listOf, quote, type Report } from './request-check.js';

export interface PlacedPart {
  readonly part: unknown;
  readonly path: string;
}

export interface Content {
  readonly role: 'user' | 'model';
  readonly path: string;
  readonly parts: readonly PlacedPart[];
}

/** Reports why a content is invalid: its role, or because it has no parts. */
export function geminiContents(contents: unknown, report: Report): readonly Content[] {
  const list = Array.isArray(contents) ? contents : contents === undefined ? [] : [contents];
  if (list.length === 0) report('gemini/4.0', 'contents', 'The request has no contents.');
  const isPartList = Array.isArray(contents) && list.every(isBarePart);
  if (isPartList && list.length > 0) {
    const parts = list.map((part, i) => placedPart(part, `contents/${i}`));
    return [{ role: 'user', path: 'contents', parts }];
  }
  return list.flatMap((content: unknown, i) => {
    const path = Array.isArray(contents) ? `contents/${i}` : 'contents';
    if (isBarePart(content)) return [{ role: 'user' as const, path, parts: [placedPart(content, path)] }];
    return contentOf(content, path, report);
  });
}

function isBarePart(value: unknown): boolean {
  if (typeof value === 'string') return true;
  return isJsonObject(value) && !('parts' in value) && !('role' in value);
}

function placedPart(part: unknown, path: string): PlacedPart {
  return { part: typeof part === 'string' ? { text: part } : part, path };
}

function contentOf(content: unknown, path: string, report: Report): Content[] {
  if (!isJsonObject(content)) {
    report('gemini/4.0', path, 'The content is not an object.');
    return [];
  }
  const role = content['role'] ?? 'user';
  if (role === 'system') report('gemini/4.10', `${path}/role`, 'System text is in the contents.');
  else if (role !== 'user' && role !== 'model') {
    report('gemini/4.1', `${path}/role`, `The role ${quote(role)} is neither user nor model.`);
  }
  const parts = content['parts'];
  if (listOf(parts).length === 0) report('gemini/4.2', `${path}/parts`, 'The content has no parts.');
  if (role !== 'user' && role !== 'model') return [];
  return [{ role, path, parts: listOf(parts).map((part, i) => ({ part, path: `${path}/parts/${i}` })) }];
}

export function isResponse(content: Content): boolean {
  return content.parts.some(({ part }) => fieldOf(part, 'functionResponse') !== undefined);
}
