/**
 * The messages of a Claude.ai conversation. An answer has its calls, the results of its calls and its later texts in one
 * list of blocks, so it is split into the messages of the API.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { AnthropicReader } from '../anthropic/anthropic.js';
import type { LossAccount } from '../loss-account.js';
import { textOfBlock } from '../reading/opaque-blocks.js';
import { idText, listField, textField } from '../reading/record-fields.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptItem } from '../transcript.js';

/** Blocks that the API has, too. */
const API_BLOCKS: ReadonlySet<JsonValue | undefined> = new Set([
  'text',
  'thinking',
  'redacted_thinking',
  'image',
]);
const CALL_FIELDS = ['type', 'id', 'name', 'input'];

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonValue[];
}

export class ClaudeAiReader {
  readonly #losses: LossAccount;
  readonly #api: AnthropicReader;
  /** Calls without a result, oldest first: older exports have no ids. */
  #open: string[] = [];

  constructor(losses: LossAccount) {
    this.#losses = losses;
    this.#api = new AnthropicReader(losses, undefined, { provider: 'anthropic' });
  }

  *read(json: JsonObject, place: string): Generator<TranscriptItem> {
    const { sender } = json;
    if (sender !== 'human' && sender !== 'assistant') {
      this.#losses.drop('a message of an unknown sender', place);
      return;
    }
    const role = sender === 'human' ? 'user' : 'assistant';
    const turns = this.#turnsOf(role, [...blocksIn(json), ...this.#filesOf(json, place)], json, place);
    if (turns.length === 0) this.#losses.drop('an empty message', place);
    const time = timeOf(json['created_at']);
    for (const [index, turn] of turns.entries()) {
      const id = role === 'assistant' && index === 0 ? { id: idText(json['uuid']) } : {};
      for (const item of this.#api.read({ ...turn, ...id }, place)) yield { ...item, ...time };
    }
  }

  /** Results end a turn of the model, and the next block begins another one. */
  #turnsOf(role: Turn['role'], blocks: readonly JsonValue[], json: JsonObject, place: string): Turn[] {
    const turns: Turn[] = [];
    for (const [index, given] of blocks.entries()) {
      const isResult = isJsonObject(given) && given['type'] === 'tool_result';
      const block = this.#block(
        given,
        `${idText(json['uuid']) || place}/${index}`,
        `${place}/content/${index}`,
      );
      if (!block) continue;
      const by = isResult ? 'user' : role;
      const last = turns.at(-1);
      if (last?.role === by) last.content.push(block);
      else turns.push({ role: by, content: [block] });
    }
    return turns;
  }

  #block(block: JsonValue, madeId: string, place: string): JsonObject | null {
    if (!isJsonObject(block)) return this.#dropped('a block that is not an object', place);
    const { type } = block;
    if (type === 'tool_use') return this.#call(block, madeId, place);
    if (type === 'tool_result') return this.#result(block);
    if (type === 'text' && (textField(block, 'text') ?? '').trim() === '') return null;
    if (API_BLOCKS.has(type)) return block;
    const text = type === 'token_budget' ? null : textOfBlock(block);
    if (text === null) return this.#dropped('a block for display', place);
    this.#losses.approximate('a block of another type, as its text', place);
    return { type: 'text', text };
  }

  #call(block: JsonObject, madeId: string, place: string): JsonObject {
    const id = idText(block['id']) || madeId;
    this.#open.push(id);
    if (Object.keys(block).some((key) => !CALL_FIELDS.includes(key)))
      this.#losses.drop('how a tool call is shown', place);
    return { type: 'tool_use', id, name: idText(block['name']), input: block['input'] ?? {} };
  }

  #result(block: JsonObject): JsonObject {
    const id = idText(block['tool_use_id']) || (this.#open[0] ?? '');
    this.#open = this.#open.filter((open) => open !== id);
    return {
      type: 'tool_result',
      tool_use_id: id,
      content: block['content'] ?? '',
      is_error: block['is_error'] === true,
    };
  }

  /** The model was shown the text of an attached file. Of other files, the export has only the names. */
  #filesOf(json: JsonObject, place: string): JsonObject[] {
    const files = [...listField(json, 'attachments'), ...listField(json, 'files', 'files_v2')];
    return files.filter(isJsonObject).flatMap((file) => {
      const name = textField(file, 'file_name') ?? '';
      const text = textField(file, 'extracted_content') ?? '';
      if (text === '') {
        const where = `${place} ${name.slice(0, 60)}`.trimEnd();
        this.#losses.drop('an attached file, which the export does not contain', where);
        return [];
      }
      this.#losses.approximate('an attached file, as a text of the message', place);
      return [{ type: 'text', text: name === '' ? text : `${name}:\n${text}` }];
    });
  }

  #dropped(what: string, place: string): null {
    this.#losses.drop(what, place);
    return null;
  }
}

/** Older exports have only a text; newer ones repeat it next to the blocks. */
function blocksIn(json: JsonObject): readonly JsonValue[] {
  const blocks = listField(json, 'content');
  const text = textField(json, 'text') ?? '';
  return blocks.length === 0 && text !== '' ? [{ type: 'text', text }] : blocks;
}
