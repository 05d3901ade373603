/** Sessions of Factory's Droid: a header, then one message per line, with content blocks in the form of Anthropic. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { AnthropicReader } from '../anthropic/anthropic.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { itemsAt } from '../reading/kept-item.js';
import { objectField } from '../reading/record-fields.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';

export const droidImporter: TranscriptImporter = {
  format: 'droid',
  title: 'Droid session',
  lookedFor: 'JSON lines {type:"session_start", id}, then {type:"message", id, message: {role, content}}',
  recognises,
  async *read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
    const reader = new AnthropicReader(losses);
    for await (const { value, line } of readJsonLines(source.chunks(), losses)) {
      const place = `line ${line}`;
      const message = messageOf(value);
      if (message) yield* itemsAt(reader.read(message, place), timeOf(value['timestamp']));
      else losses.drop(OTHERS.get(value['type']) ?? 'record of an unknown type', place);
    }
  },
};

const OTHERS: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['session_start', 'session header'],
  ['session_end', 'end of the session'],
  ['todo_state', 'list of tasks, for display'],
]);

function recognises({ shape, items }: TranscriptHead): boolean {
  const [first] = items;
  if (shape !== 'lines' || !isJsonObject(first)) return false;
  const isHeader = first['type'] === 'session_start' && typeof first['id'] === 'string';
  const others = items.filter(isJsonObject).filter((line) => line['type'] === 'message');
  return isHeader && others.every((line) => messageOf(line) !== null);
}

function messageOf(line: JsonObject): JsonObject | null {
  const { role, content } = objectField(line, 'message');
  if (line['type'] !== 'message' || content === undefined) return null;
  return role === 'user' || role === 'assistant' ? { role, content } : null;
}
