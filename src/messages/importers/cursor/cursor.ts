/**
 * Agent transcripts of Cursor: one message per line, with content blocks in the form of Anthropic. Calls have no ids, and
 * most transcripts have no results.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { AnthropicReader } from '../anthropic/anthropic.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { idText, objectField } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';

export const cursorImporter: TranscriptImporter = {
  format: 'cursor',
  title: 'Cursor agent transcript',
  lookedFor: 'JSON lines {role, message: {content: [...]}}',
  recognises,
  async *read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
    const reader = new AnthropicReader(losses);
    const ids = new MadeIds(losses);
    for await (const { value, line } of readJsonLines(source.chunks(), losses)) {
      const place = `line ${line}`;
      const { content } = objectField(value, 'message');
      const role = value['role'];
      if (isMessage(value))
        yield* reader.read({ role: role!, content: ids.blocksOf(content!, place) }, place);
      else losses.drop('record that is not a message', place);
    }
  },
};

function recognises({ shape, items }: TranscriptHead): boolean {
  return shape === 'lines' && isMessage(items[0]);
}

function isMessage(line: JsonValue | undefined): boolean {
  if (!isJsonObject(line) || 'type' in line) return false;
  const { content } = objectField(line, 'message');
  const isContent = typeof content === 'string' || Array.isArray(content);
  return isContent && (line['role'] === 'user' || line['role'] === 'assistant');
}

/** Names calls by their number. A result belongs to the oldest call without one. */
class MadeIds {
  readonly #losses: LossAccount;
  readonly #known = new Set<string>();
  #open: string[] = [];
  #made = 0;

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  blocksOf(content: JsonValue, place: string): JsonValue {
    if (!Array.isArray(content)) return content;
    return content.map((block) => {
      if (!isJsonObject(block)) return block;
      if (block['type'] === 'tool_use') return this.#call(block, place);
      return block['type'] === 'tool_result' ? this.#result(block, place) : block;
    });
  }

  #call(block: JsonObject, place: string): JsonObject {
    const given = idText(block['id']);
    if (given !== '') {
      this.#known.add(given);
      return block;
    }
    this.#made += 1;
    const id = `cursor_call_${this.#made}`;
    this.#open.push(id);
    this.#losses.approximate('call without an id, named by its number', place);
    return { ...block, id };
  }

  #result(block: JsonObject, place: string): JsonObject {
    if (this.#known.has(idText(block['tool_use_id']))) return block;
    const id = this.#open.shift();
    if (id === undefined) return block;
    this.#losses.approximate('result without the id of its call, by its order', place);
    return { ...block, tool_use_id: id };
  }
}
