/** Rejects, before anything is written, a transcript message that is too large for a record, and names its place. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { RECORD_BYTES_MAX } from '../../core/limits.js';
import type { TranscriptItem } from '../../messages/importers/transcript.js';
import { type Message, toolCallsOf } from '../../messages/message.js';
import { messageToJson } from '../../messages/message-serializer.js';

/** Bytes of a row in addition to its message. */
const ROW_BYTES = 4096;
/** A shorter text is not measured: it cannot become too many bytes. */
const MEASURED_CHARS = RECORD_BYTES_MAX / 8;

/** @param number of the item, starting at 1 @throws TRANSCRIPT_INVALID */
export function assertRecordable(item: TranscriptItem, number: number): void {
  const bytes = item.kind === 'message' ? largestRow(item.message) : 0;
  if (bytes + ROW_BYTES <= RECORD_BYTES_MAX) return;
  throw new RekindleError(
    'TRANSCRIPT_INVALID',
    `Message ${number} has ${bytes} bytes, and one record holds ${RECORD_BYTES_MAX}.`,
    { details: { problem: 'too large', message: number, bytes, bytesMax: RECORD_BYTES_MAX } },
  );
}

/** The message is a row, and so is each of its calls. */
function largestRow(message: Message): number {
  const { toolPayload, ...said } = message;
  const calls = toolCallsOf(message);
  const first = withoutInlineMedia(calls.length > 0 ? said : message);
  let most = bytesOf(messageToJson(first));
  for (const call of calls) most = Math.max(most, bytesOf(call as unknown as JsonValue));
  return most;
}

/** Inline media become artifacts. */
function withoutInlineMedia(message: Message): Message {
  if (!message.parts) return message;
  const parts = message.parts.filter((part) => part.type !== 'media' || !part.media.ref.startsWith('data:'));
  return { ...message, parts };
}

/** 0 for short values. */
function bytesOf(value: JsonValue): number {
  return hasLongText(value) ? Buffer.byteLength(JSON.stringify(value)) : 0;
}

function hasLongText(top: JsonValue): boolean {
  let chars = 0;
  const waiting: JsonValue[] = [top];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') chars += next.length;
    else if (typeof next === 'object' && next !== null)
      for (const inner of Object.values(next)) if (inner !== undefined) waiting.push(inner);
    if (chars > MEASURED_CHARS) return true;
  }
  return false;
}
