/** Threads of Amp: one document with messages in the form of Anthropic, in which a result is the run of a tool. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { AnthropicReader } from '../anthropic/anthropic.js';
import type { LossAccount } from '../loss-account.js';
import { jsonTextOf } from '../reading/json-text.js';
import { membersOf } from '../reading/list-members.js';
import { listField, objectField, textField } from '../reading/record-fields.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';

export const ampImporter: TranscriptImporter = {
  format: 'amp',
  title: 'Amp thread',
  lookedFor: 'a document with `v`, an `id` that begins with `T-`, and `messages` with `messageId`',
  recognises,
  async *read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
    const reader = new AnthropicReader(losses);
    for await (const { value, place } of membersOf(source, ['messages'], losses)) {
      const message = isJsonObject(value) ? messageOf(value, losses, place) : null;
      if (!message || !isJsonObject(value)) losses.drop('record that is not a message', place);
      else for (const item of reader.read(message, place)) yield withState(item, value);
    }
  },
};

function recognises({ shape, keys, fields }: TranscriptHead): boolean {
  if (shape !== 'object' || !keys.has('messages') || typeof fields['v'] !== 'number') return false;
  const isNamed = /^T-/.test(textField(fields, 'id') ?? '');
  return (
    isNamed && listField(fields, 'messages').every((message) => isJsonObject(message) && 'role' in message)
  );
}

/** Null for a record of another role. */
function messageOf(record: JsonObject, losses: LossAccount, place: string): JsonObject | null {
  const { role, content } = record;
  if (role !== 'user' && role !== 'assistant') return null;
  const model = textField(objectField(record, 'usage'), 'model');
  if (isJsonObject(record['usage'])) losses.drop('token counts of an answer', place);
  const blocks = Array.isArray(content)
    ? content.flatMap((block) => blocksOf(block, losses, place))
    : (content ?? '');
  return { role, content: blocks, ...(model === undefined ? {} : { model }) };
}

function blocksOf(block: JsonValue, losses: LossAccount, place: string): JsonValue[] {
  if (!isJsonObject(block)) return [block];
  if (block['type'] === 'tool_use') return [callOf(block)];
  if (block['type'] !== 'tool_result') return [block];
  const run = objectField(block, 'run');
  const result = { type: 'tool_result', tool_use_id: block['toolUseID'] ?? block['tool_use_id'] ?? '' };
  switch (run['status']) {
    case 'done':
      return [{ ...result, content: resultValue(run['result']) }];
    case 'error':
      return [{ ...result, content: errorOf(run['error']), is_error: true }];
    case 'cancelled':
    case 'rejected-by-user':
      return [
        { ...result, content: textField(run, 'reason') ?? `The call was ${run['status']}.`, is_error: true },
      ];
    default:
      losses.drop('run of a tool that has not ended', place);
      return [];
  }
}

/** A call is also complete without the mark that it is. */
function callOf({ complete, ...call }: JsonObject): JsonObject {
  return complete === true || complete === undefined ? call : { ...call, complete };
}

/** A list would be read as content blocks. */
function resultValue(result: JsonValue | undefined): JsonValue {
  return Array.isArray(result) ? jsonTextOf(result) : (result ?? '');
}

function errorOf(error: JsonValue | undefined): string {
  if (typeof error === 'string') return error;
  return isJsonObject(error) ? (textField(error, 'message') ?? jsonTextOf(error)) : '';
}

function withState(item: TranscriptItem, record: JsonObject): TranscriptItem {
  const time = timeOf(objectField(record, 'usage')['timestamp'], objectField(record, 'meta')['sentAt']);
  const isCutOff = objectField(record, 'state')['type'] === 'cancelled';
  if (item.kind !== 'message' || item.message.role !== 'assistant' || !isCutOff) return { ...item, ...time };
  return { kind: 'message', message: { ...item.message, status: 'aborted' }, ...time };
}
