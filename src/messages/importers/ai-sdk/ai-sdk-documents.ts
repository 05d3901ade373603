/**
 * Reads the message objects of a stored AI SDK conversation one at a time: a list, an object with `messages`, or one
 * message per line.
 */
import { utf8Text } from '../../../core/bytes.js';
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import type { TranscriptHead, TranscriptSource } from '../transcript.js';

/** More white space than any program writes before a list. */
const HEAD_BYTES = 256;

export interface StoredMessage {
  readonly json: JsonObject;
  /** `line 3`, `messages/2` */
  readonly place: string;
}

/** @throws TRANSCRIPT_INVALID when there is no list of messages */
export async function* readStoredMessages(
  source: TranscriptSource,
  losses: LossAccount,
): AsyncGenerator<StoredMessage> {
  const head = await headOf(source);
  if (await beginsAsList(source)) yield* readDocument(source, losses, []);
  else if (head?.shape === 'lines') yield* readLines(source, losses);
  else if (head?.keys.has('messages')) yield* readDocument(source, losses, ['messages']);
  else throw noMessages(source);
}

/** A list with one message per line looks like JSON lines to detection. */
async function beginsAsList(source: TranscriptSource): Promise<boolean> {
  const start = utf8Text(await source.slice(0, HEAD_BYTES));
  return start.replace('\uFEFF', '').trimStart().startsWith('[');
}

async function* readLines(source: TranscriptSource, losses: LossAccount): AsyncGenerator<StoredMessage> {
  for await (const { value, line } of readJsonLines(source.chunks(), losses)) {
    yield { json: value, place: `line ${line}` };
  }
}

async function* readDocument(
  source: TranscriptSource,
  losses: LossAccount,
  prefix: JsonPath,
): AsyncGenerator<StoredMessage> {
  const choose = (path: JsonPath): SliceChoice => {
    if (path.length <= prefix.length && path.every((step, index) => step === prefix[index])) return 'enter';
    if (path.length === 1 && prefix.length === 1) losses.drop('field beside the messages', String(path[0]));
    return path.length === prefix.length + 1 && typeof path[prefix.length] === 'number' ? 'take' : 'skip';
  };
  for await (const { path, value } of sliceJson(source.chunks(), choose)) {
    const place = ['messages', ...path.slice(prefix.length)].join('/');
    losses.record();
    if (isJsonObject(value)) yield { json: value, place };
    else losses.unreadable('a message that is not an object', place);
  }
}

/** The messages that detection saw, wherever the shape has them. Null if something else stands between them. */
export function messagesInHead(head: TranscriptHead): JsonObject[] | null {
  const { messages } = head.fields;
  const given: JsonValue | readonly JsonValue[] | undefined = head.shape === 'object' ? messages : head.items;
  if (head.shape === 'folder' || !Array.isArray(given) || given.length === 0) return null;
  return given.every(isJsonObject) ? given : null;
}

function noMessages(source: TranscriptSource): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', `${JSON.stringify(source.name)} has no list of messages.`, {
    details: { name: source.name, lookedFor: 'a list of messages, a field `messages`, or a message a line' },
  });
}
