/**
 * OpenCode: the events of `opencode run --format json`, an exported session, and its storage folder, in which each
 * message and each part is a file.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { sliceJson } from '../reading/json-slices.js';
import { isAbsent, listField, objectField, textField } from '../reading/record-fields.js';
import { hasRecordPerLine } from '../reading/source-shape.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { openCodeItems } from './opencode-message.js';
import type { PlacedPart } from './opencode-parts.js';
import { readOpenCodeFolder } from './opencode-storage.js';
import { isUndoneMessage, isUndonePart, type UndoneFrom, undoneFrom } from './opencode-undo.js';

export const openCodeImporter: TranscriptImporter = {
  format: 'opencode',
  title: 'OpenCode session',
  lookedFor:
    'events with `sessionID` and `part`, a document with `info` and `messages` of `info` and `parts`, or files with `sessionID` or `messageID`',
  recognises,
  read,
};

function recognises(head: TranscriptHead): boolean {
  switch (head.shape) {
    case 'lines':
      return head.items.some(isPartEvent) && head.items.every(isEvent);
    case 'object':
      return isExport(head);
    case 'folder':
      return head.items.some((item) => isMessageFile(item) || isPartFile(item));
    default:
      return false;
  }
}

function isEvent(item: JsonValue): boolean {
  return isJsonObject(item) && typeof item['type'] === 'string' && typeof item['sessionID'] === 'string';
}

function isPartEvent(item: JsonValue): boolean {
  return isEvent(item) && isJsonObject(item) && typeof objectField(item, 'part')['messageID'] === 'string';
}

function isExport({ keys, fields }: TranscriptHead): boolean {
  const [first] = listField(fields, 'messages');
  if (!keys.has('info') || !keys.has('messages')) return false;
  if (isAbsent(first)) return typeof objectField(fields, 'info')['id'] === 'string';
  return isJsonObject(first) && isJsonObject(first['info']) && Array.isArray(first['parts']);
}

function isMessageFile(item: JsonValue): boolean {
  return (
    isJsonObject(item) &&
    typeof item['id'] === 'string' &&
    typeof item['sessionID'] === 'string' &&
    typeof objectField(item, 'time')['created'] === 'number' &&
    (item['role'] === 'user' || item['role'] === 'assistant')
  );
}

function isPartFile(item: JsonValue): boolean {
  if (!isJsonObject(item) || typeof item['messageID'] !== 'string') return false;
  return typeof item['id'] === 'string' && typeof item['type'] === 'string';
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  if (source.files) yield* readOpenCodeFolder(source.files, losses);
  else if (await hasRecordPerLine(source)) yield* readEvents(source, losses);
  else yield* readExport(source, losses);
}

/** Events contain only the parts of answers. Parts of one message are consecutive. */
async function* readEvents(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  let info: JsonObject = {};
  let parts: PlacedPart[] = [];
  const done = () => (parts.length > 0 ? openCodeItems(info, parts, parts[0]!.place, losses) : []);
  for await (const { value, line } of readJsonLines(source.chunks(), losses)) {
    const place = `line ${line}`;
    const part = objectField(value, 'part');
    const id = textField(part, 'messageID');
    if (id === undefined) {
      if (value['type'] === 'error' && parts.length > 0) info = { ...info, error: value['error'] ?? {} };
      losses.drop(value['type'] === 'error' ? 'an error of the run' : 'an event of another kind', place);
      continue;
    }
    if (id !== info['id']) {
      yield* done();
      info = { id, role: 'assistant', time: { created: value['timestamp'] ?? null } };
      parts = [];
    }
    parts.push({ json: part, place });
  }
  yield* done();
}

async function* readExport(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  let undone: UndoneFrom = {};
  let isList = false;
  const slices = sliceJson(source.chunks(), ([first, second]) => {
    if (first === undefined || (first === 'messages' && second === undefined)) return 'enter';
    return first === 'messages' || first === 'info' ? 'take' : 'skip';
  });
  for await (const { path, value } of slices) {
    const index = path[1];
    if (path[0] === 'info' && isJsonObject(value)) undone = undoneFrom(value);
    if (typeof index !== 'number') continue;
    isList = true;
    losses.record();
    const place = `messages/${index}`;
    const json = isJsonObject(value) ? value : {};
    const info = objectField(json, 'info');
    if (isUndoneMessage(textField(info, 'id'), undone)) losses.drop('a message that was undone', place);
    else yield* openCodeItems(info, partsOf(json, undone, place, losses), place, losses);
  }
  if (!isList) losses.drop('a session without messages', 'messages');
}

function partsOf(json: JsonObject, undone: UndoneFrom, place: string, losses: LossAccount): PlacedPart[] {
  return listField(json, 'parts').flatMap((part, index) => {
    const at = `${place}/parts/${index}`;
    if (isJsonObject(part) && !isUndonePart(part, undone)) return [{ json: part, place: at }];
    losses.drop(isJsonObject(part) ? 'a part that was undone' : 'a part that is not an object', at);
    return [];
  });
}
