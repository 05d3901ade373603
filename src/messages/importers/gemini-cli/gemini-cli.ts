/** Sessions of Gemini CLI: one document per session, a single message as a document, or the log of newer versions. */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { type Message, textOf } from '../../message.js';
import { headOf } from '../detect-format.js';
import { LossAccount } from '../loss-account.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { listField, objectField } from '../reading/record-fields.js';
import { RecordReader } from '../reading/record-reader.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { type LoggedMessage, type LogSegment, readGeminiLog } from './gemini-cli-log.js';
import { GeminiRecords } from './gemini-cli-message.js';

export const geminiCliImporter: TranscriptImporter = {
  format: 'gemini-cli',
  title: 'Gemini CLI session',
  lookedFor: 'sessionId, projectHash and messages in a document or a log, or one message of the type gemini',
  recognises,
  read,
};

function recognises(head: TranscriptHead): boolean {
  if (head.shape === 'object') return isSession(head) || isAnswer(head.fields);
  if (head.shape !== 'lines') return false;
  const lines = head.items.filter(isJsonObject);
  return (lines[0] !== undefined && isLogHeader(lines[0])) || lines.some(isAnswer);
}

function isSession({ keys, fields }: TranscriptHead): boolean {
  const isNamed = keys.has('sessionId') && keys.has('messages');
  if (!isNamed || keys.has('projectHash')) return isNamed;
  return listField(fields, 'messages').some((message) => isJsonObject(message) && isRecord(message));
}

/** An empty session has only this line. */
function isLogHeader(line: JsonObject): boolean {
  return ['sessionId', 'projectHash', 'startTime'].every((key) => typeof line[key] === 'string');
}

function isAnswer(record: JsonObject): boolean {
  return record['type'] === 'gemini' && isRecord(record);
}

function isRecord(record: JsonObject): boolean {
  return ['id', 'timestamp', 'type'].every((key) => typeof record[key] === 'string');
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const head = await headOf(source);
  if (head?.shape === 'lines') yield* readLog(source, losses);
  else if (head?.shape !== 'object') throw noSession();
  else yield* readDocument(source, head.keys.has('messages'), losses);
}

async function* readDocument(
  source: TranscriptSource,
  isWhole: boolean,
  losses: LossAccount,
): AsyncGenerator<TranscriptItem> {
  const records = new GeminiRecords(losses);
  if (isWhole) losses.drop('session header', 'the document');
  for await (const { path, value } of sliceJson(source.chunks(), isWhole ? inMessages : () => 'take')) {
    const place = path.length === 0 ? 'the document' : path.join('/');
    losses.record();
    if (isJsonObject(value)) yield* itemsOf(records.messagesOf(value, place), value, losses);
    else losses.drop('message that is not an object', place);
  }
}

function inMessages(path: JsonPath): SliceChoice {
  if (path.length === 0) return 'enter';
  if (path[0] !== 'messages') return 'skip';
  return path.length === 1 ? 'enter' : 'take';
}

function* itemsOf(
  messages: readonly Message[],
  record: JsonObject,
  losses: LossAccount,
): Generator<TranscriptItem> {
  for (const message of messages) {
    keepMessage(message, losses);
    yield { kind: 'message', message, ...timeOf(record['timestamp']) };
  }
}

async function* readLog(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const segments = await readGeminiLog(source, losses);
  const reader = new RecordReader(source);
  const records = new GeminiRecords(losses);
  for (const [index, segment] of segments.entries()) {
    if (index > 0) yield await compactionOf(segment, reader, losses);
    for (const logged of segment.appended.values()) {
      const record = await recordOf(logged, reader);
      yield* itemsOf(records.messagesOf(record, placeOf(logged)), record, losses);
    }
  }
}

/** The history that replaced the one before. All of it except its summary was yielded before. */
async function compactionOf(
  segment: LogSegment,
  reader: RecordReader,
  losses: LossAccount,
): Promise<TranscriptItem> {
  const records = new GeminiRecords(new LossAccount());
  const messages: Message[] = [];
  for (const logged of segment.replaced.values()) {
    const record = await recordOf(logged, reader);
    messages.push(...records.messagesOf(record, placeOf(logged)).map(asSummary));
  }
  for (const message of messages) if (message.kind === 'memory') keepMessage(message, losses);
  return { kind: 'compaction', messages };
}

/** The tool writes its summary as a user message in this tag. */
function asSummary(message: Message): Message {
  const isSummary = message.role === 'user' && textOf(message).includes('<state_snapshot>');
  return isSummary ? { ...message, kind: 'memory' } : message;
}

async function recordOf({ start, end, at }: LoggedMessage, reader: RecordReader): Promise<JsonObject> {
  const record = await reader.read(start, end);
  if (at === undefined) return record;
  const message = listField(objectField(record, '$set'), 'messages')[at];
  return isJsonObject(message) ? message : {};
}

function placeOf({ line }: LoggedMessage): string {
  return `line ${line}`;
}

function noSession(): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    'The file is neither a session document nor a session log of Gemini CLI.',
    {
      details: { lookedFor: geminiCliImporter.lookedFor },
    },
  );
}
