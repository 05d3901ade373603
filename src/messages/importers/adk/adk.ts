/** Sessions of Google's Agent Development Kit: events with an author and contents of the Gemini API. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { headOf } from '../detect-format.js';
import { GeminiReader } from '../gemini/gemini-reader.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { itemsAt } from '../reading/kept-item.js';
import { membersOf } from '../reading/list-members.js';
import { isAbsent, listField, objectField, textField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';

export const adkImporter: TranscriptImporter = {
  format: 'adk',
  title: 'Google ADK session',
  lookedFor: 'a document with `events` of {author, content: {parts}}, or such events on lines or in a list',
  recognises,
  read,
};

function recognises({ shape, items, fields }: TranscriptHead): boolean {
  const events = shape === 'object' ? listField(fields, 'events') : shape === 'folder' ? [] : items;
  return (
    events.some(isEvent) &&
    events.every((event) => isJsonObject(event) && typeof event['author'] === 'string')
  );
}

function isEvent(event: JsonValue): boolean {
  if (!isJsonObject(event) || typeof event['author'] !== 'string') return false;
  const isNamed = ['invocationId', 'invocation_id', 'actions'].some((key) => key in event);
  return isNamed || Array.isArray(objectField(event, 'content')['parts']);
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const reader = new AdkReader(losses);
  const shape = (await headOf(source))?.shape;
  if (shape === 'lines')
    for await (const { value, line } of readJsonLines(source.chunks(), losses))
      yield* reader.read(value, `line ${line}`);
  else
    for await (const { value, place } of membersOf(source, ['events'], losses))
      yield* reader.read(value, place);
}

class AdkReader {
  readonly #losses: LossAccount;
  readonly #reader: GeminiReader;
  #agent: string | undefined;

  constructor(losses: LossAccount) {
    this.#losses = losses;
    this.#reader = new GeminiReader(losses);
  }

  *read(event: JsonValue, place: string): Generator<TranscriptItem> {
    if (!isJsonObject(event)) {
      this.#losses.drop('event that is not an object', place);
      return;
    }
    const { timestamp } = event;
    const time = typeof timestamp === 'number' && Number.isFinite(timestamp) ? { ts: timestamp } : {};
    this.#noteRest(event, place);
    if (event['partial'] === true) {
      this.#losses.drop('part of an answer that a later event holds whole', place);
      return;
    }
    const content = objectField(event, 'content');
    const parts = listField(content, 'parts');
    if (parts.length > 0)
      yield* itemsAt(this.#reader.read({ role: roleOf(event, content), parts: [...parts] }, place), time);
    else this.#losses.drop('event without content', place);
  }

  #noteRest(event: JsonObject, place: string): void {
    const actions = objectField(event, 'actions');
    if (Object.keys(objectField(actions, 'stateDelta', 'state_delta')).length > 0)
      this.#losses.drop('change of the state', place);
    if (isJsonObject(actions['compaction'])) this.#losses.drop('summary of earlier events', place);
    if (isJsonObject(event['usageMetadata'] ?? event['usage_metadata']))
      this.#losses.drop('token counts', place);
    if (!isAbsent(event['errorMessage'] ?? event['error_message']))
      this.#losses.drop('error of the model', place);
    const author = textField(event, 'author');
    if (author === undefined || author === 'user') return;
    if (this.#agent !== undefined && this.#agent !== author)
      this.#losses.approximate('answer of another agent, as one of the same assistant', place);
    this.#agent = author;
  }
}

/** An event of results has the name of the agent, and the role of the user. */
function roleOf(event: JsonObject, content: JsonObject): string {
  const role = textField(content, 'role');
  if (role === 'user' || role === 'model') return role;
  const isResults = listField(content, 'parts').every(
    (part) => isJsonObject(part) && ('functionResponse' in part || 'function_response' in part),
  );
  return event['author'] === 'user' || isResults ? 'user' : 'model';
}
