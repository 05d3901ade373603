/** Texts of an editor's chat: trees of prompt elements, and the pieces of an answer as they are shown. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { listField, objectField, textField } from '../reading/record-fields.js';

const TEXT_NODE = 2;
const DEPTH_MAX = 200;

/** A text; the text of a tree of elements; or a list of either. Null for other content, such as an image. */
export function textOfContent(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return null;
  const node = value['node'];
  if (!isJsonObject(node)) return textField(value, 'text') ?? null;
  return textBelow(node, '', 0);
}

/** A piece that starts a new line does so only after text that has not ended its own. */
function textBelow(node: JsonObject, before: string, depth: number): string {
  if (depth > DEPTH_MAX) return before;
  if (node['type'] === TEXT_NODE) {
    const breaks = node['lineBreakBefore'] === true && before !== '' && !before.endsWith('\n');
    return `${before}${breaks ? '\n' : ''}${textField(node, 'text') ?? ''}`;
  }
  let text = before;
  for (const child of listField(node, 'children'))
    if (isJsonObject(child)) text = textBelow(child, text, depth + 1);
  return text;
}

/** The pieces of an answer that hold its text. Null for a piece that is only shown. */
export function shownText(piece: JsonValue): string | null {
  if (!isJsonObject(piece)) return null;
  const { kind } = piece;
  if (kind === undefined) return textField(piece, 'value') ?? null;
  if (kind === 'markdownContent')
    return textField(piece, 'content') ?? textField(objectField(piece, 'content'), 'value') ?? null;
  if (kind !== 'inlineReference') return null;
  const reference = objectField(piece, 'inlineReference');
  const name = textField(piece, 'name') ?? textField(reference, 'name');
  const path = textField(reference, 'path') ?? textField(objectField(reference, 'uri'), 'path');
  const shown = name ?? path?.split('/').at(-1);
  return shown === undefined ? null : `\`${shown}\``;
}
