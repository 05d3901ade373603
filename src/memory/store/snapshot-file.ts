/**
 * The bytes of `working_context_snapshot.json`: one JSON document, one message per line, changing fields last.
 *
 * {"schema_version":1,"agent_id":"a","messages":[
 * {"role":"system","content":"..."},
 * {"role":"user","content":"..."}
 * ],"epoch_id":1,"last_compaction_ts":null,"covers_seq":12,...,"crc":"1a2b3c4d"}
 *
 * `crc` is the CRC-32 of all bytes before `,"crc"`. Because the messages come first, a turn is added by one write over
 * the old footer: the new messages and a new footer. The checksum detects a torn or lost write.
 */
import { crc32, crcHex } from '../../core/crc32.js';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../core/json.js';
import { tryParseJsonKeepingDigits } from '../../core/json-digits.js';
import { DOCUMENT_BYTES_MAX } from '../../core/limits.js';
import type { Message } from '../../messages/message.js';
import { messageFromJson, messageToJson } from '../../messages/message-serializer.js';
import type { Cursor } from '../../storage/ports.js';
import type { UnknownTraces } from '../models/journal-header.js';
import { SNAPSHOT_SCHEMA_VERSION, verdictOnVersion } from '../working-context-snapshot-serializer.js';

/** What the cache states about itself, after the messages. */
export interface SnapshotFooter {
  readonly epochId: number;
  readonly lastCompactionTs: number | null;
  /** The cache covers the journal's records up to this one. */
  readonly coversSeq: number;
  /** Checksum and position of that record: they do not match for a cache of another line of history. */
  readonly coversCrc: string | null;
  readonly cursor: Cursor | null;
  readonly lastTurn: number;
  readonly turnId: string;
  readonly turnSeq: number;
  readonly compactionFailures: number;
  /** The reader version that the trace journal declares; 0 without a header. */
  readonly reader: number;
  /** Covered traces that were not understood. */
  readonly unknown: readonly UnknownTraces[];
}

/** The position of the next message: what an in-place save must know about the file. */
export interface SnapshotBody {
  readonly messageCount: number;
  /** Bytes up to the end of the last message, and their running checksum. */
  readonly bytes: number;
  readonly crc: number;
}

export type SnapshotFile =
  | {
      readonly status: 'valid';
      readonly messages: Message[];
      readonly footer: SnapshotFooter;
      readonly body: SnapshotBody;
    }
  /** A readable document without our footer: the plain snapshot format. */
  | { readonly status: 'plain'; readonly payload: JsonObject }
  | { readonly status: 'damaged'; readonly detail: string }
  /** The file exists but cannot be read: no permission, or a folder or a link in its place. */
  | { readonly status: 'unreadable'; readonly detail: string }
  | { readonly status: 'newer'; readonly detail: string }
  | { readonly status: 'foreign'; readonly detail: string };

/** Bytes of work before yielding to the event loop. */
const SLICE_BYTES = 1024 * 1024;
const CRC_START = Buffer.from(',"crc":"');
const CRC_TAIL_BYTES = CRC_START.length + 8 + 3; // `"}` and the newline
const yieldToLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The whole file, in chunks. */
export async function encodeSnapshot(
  agentId: string,
  messages: readonly Message[],
  footer: SnapshotFooter,
): Promise<{ readonly bytes: Buffer; readonly body: SnapshotBody }> {
  const head = `{"schema_version":${SNAPSHOT_SCHEMA_VERSION},"agent_id":${JSON.stringify(agentId)},"messages":[\n`;
  const start: SnapshotBody = { messageCount: 0, bytes: Buffer.byteLength(head), crc: crc32(head) };
  const chunks: Buffer[] = [Buffer.from(head)];
  let body = start;
  for (let from = 0; from < messages.length; ) {
    const slice = encodeMessages(body, messages, from, SLICE_BYTES);
    chunks.push(slice.bytes);
    body = slice.body;
    from = body.messageCount;
    if (from < messages.length) await yieldToLoop();
  }
  chunks.push(encodeFooter(body, footer));
  return { bytes: Buffer.concat(chunks), body };
}

/** The bytes to write at `body.bytes` so that the file also holds these messages. */
export function encodeTail(
  body: SnapshotBody,
  messages: readonly Message[],
  footer: SnapshotFooter,
): { readonly bytes: Buffer; readonly body: SnapshotBody } {
  const added = encodeMessages(body, messages, body.messageCount, Number.POSITIVE_INFINITY);
  return { bytes: Buffer.concat([added.bytes, encodeFooter(added.body, footer)]), body: added.body };
}

function encodeMessages(
  body: SnapshotBody,
  messages: readonly Message[],
  from: number,
  bytesMax: number,
): { readonly bytes: Buffer; readonly body: SnapshotBody } {
  let text = '';
  let index = from;
  for (; index < messages.length && text.length < bytesMax; index += 1) {
    text += `${index === 0 ? '' : ',\n'}${JSON.stringify(messageToJson(messages[index]!))}`;
  }
  const bytes = Buffer.from(text);
  return {
    bytes,
    body: { messageCount: index, bytes: body.bytes + bytes.length, crc: crc32(bytes, body.crc) },
  };
}

function encodeFooter(body: SnapshotBody, footer: SnapshotFooter): Buffer {
  const fields = JSON.stringify({
    epoch_id: footer.epochId,
    last_compaction_ts: footer.lastCompactionTs,
    covers_seq: footer.coversSeq,
    covers_crc: footer.coversCrc,
    cursor: footer.cursor,
    last_turn: footer.lastTurn,
    turn_id: footer.turnId,
    turn_seq: footer.turnSeq,
    compaction_failures: footer.compactionFailures,
    ...(footer.reader > 0 ? { reader: footer.reader } : {}),
    ...(footer.unknown.length > 0 ? { unknown: footer.unknown } : {}),
  });
  const text = `\n],${fields.slice(1, -1)}`;
  return Buffer.from(`${text},"crc":"${crcHex(crc32(text, body.crc))}"}\n`);
}

/** Reads a snapshot. `agentId` null accepts any owner. Never throws. */
export async function decodeSnapshot(bytes: Buffer, agentId: string | null): Promise<SnapshotFile> {
  const ours =
    bytes.length > CRC_TAIL_BYTES &&
    bytes.subarray(-CRC_TAIL_BYTES).subarray(0, CRC_START.length).equals(CRC_START);
  if (!ours) return decodePlain(bytes, agentId);
  const crcAt = bytes.length - CRC_TAIL_BYTES;
  const footerAt = bytes.lastIndexOf('\n],', crcAt);
  const headEnd = bytes.indexOf(0x0a) + 1;
  if (footerAt < 0 || headEnd === 0 || headEnd > footerAt) return damaged('its layout is not whole');
  const bodyCrc = crc32(bytes.subarray(0, footerAt));
  const claimed = bytes.toString('latin1', crcAt + CRC_START.length, crcAt + CRC_START.length + 8);
  const rest = bytes.toString('latin1', bytes.length - 3);
  if (crcHex(crc32(bytes.subarray(footerAt, crcAt), bodyCrc)) !== claimed || rest !== '"}\n') {
    return damaged('its checksum does not match');
  }
  const head = tryParseJson(`${bytes.toString('utf8', 0, headEnd - 1)}]}`);
  const refusal = refuseHead(head, agentId);
  if (refusal) return refusal;
  const footer = footerFromJson(tryParseJson(`{${bytes.toString('utf8', footerAt + 3, crcAt)}}`));
  if (!footer) return damaged('its footer is not whole');
  try {
    const messages = await decodeMessages(bytes, headEnd, footerAt);
    const body = { messageCount: messages.length, bytes: footerAt, crc: bodyCrc };
    return { status: 'valid', messages, footer, body };
  } catch (thrown) {
    return damaged(thrown instanceof Error ? thrown.message : 'a message cannot be read');
  }
}

/**
 * Line by line from the buffer: one large string would need twice the memory, or four times with one character outside
 * Latin-1.
 */
async function decodeMessages(bytes: Buffer, from: number, to: number): Promise<Message[]> {
  const messages: Message[] = [];
  let slice = 0;
  for (let start = from; start < to; ) {
    const newline = bytes.indexOf(0x0a, start);
    const next = newline < 0 || newline > to ? to : newline;
    const end = bytes[next - 1] === 0x2c ? next - 1 : next;
    messages.push(messageFromJson(JSON.parse(bytes.toString('utf8', start, end)) as JsonValue));
    slice += next - start;
    if (slice > SLICE_BYTES) {
      slice = 0;
      await yieldToLoop();
    }
    start = next + 1;
  }
  return messages;
}

function decodePlain(bytes: Buffer, agentId: string | null): SnapshotFile {
  if (bytes.length > DOCUMENT_BYTES_MAX)
    return damaged(
      `it has ${bytes.length} bytes, and one without a footer has at most ${DOCUMENT_BYTES_MAX}`,
    );
  const payload = tryParseJsonKeepingDigits(bytes.toString('utf8').replace(/^\ufeff/, ''));
  if (!isJsonObject(payload)) return damaged('it is not valid JSON');
  const refusal = refuseHead(payload, agentId);
  if (refusal) return refusal;
  if ('covers_seq' in payload) return damaged('its checksum is missing');
  if (typeof payload['agent_id'] !== 'string' || !Array.isArray(payload['messages']))
    return damaged('it does not have the shape of a snapshot');
  return { status: 'plain', payload };
}

function refuseHead(head: JsonValue | undefined, agentId: string | null): SnapshotFile | null {
  if (!isJsonObject(head)) return damaged('its first line is not whole');
  const verdict = verdictOnVersion(head['schema_version']);
  const version = JSON.stringify(head['schema_version'] ?? null);
  if (verdict === 'newer')
    return { status: 'newer', detail: `schema_version ${version} was written by a newer release` };
  if (verdict === 'damaged') return damaged(`schema_version ${version} is no version`);
  if (agentId !== null && head['agent_id'] !== agentId) {
    return { status: 'foreign', detail: `it belongs to agent ${JSON.stringify(head['agent_id'] ?? null)}` };
  }
  return null;
}

function footerFromJson(json: JsonValue | undefined): SnapshotFooter | null {
  if (!isJsonObject(json)) return null;
  const { covers_seq: coversSeq, covers_crc: coversCrc, epoch_id: epochId, cursor } = json;
  if (typeof coversSeq !== 'number' || typeof epochId !== 'number') return null;
  return {
    epochId,
    lastCompactionTs: typeof json['last_compaction_ts'] === 'number' ? json['last_compaction_ts'] : null,
    coversSeq,
    coversCrc: typeof coversCrc === 'string' ? coversCrc : null,
    cursor: isJsonObject(cursor) ? (cursor as unknown as Cursor) : null,
    lastTurn: Number(json['last_turn'] ?? 0),
    turnId: typeof json['turn_id'] === 'string' ? json['turn_id'] : '',
    turnSeq: Number(json['turn_seq'] ?? 0),
    compactionFailures: Number(json['compaction_failures'] ?? 0),
    reader: Number(json['reader'] ?? 0),
    unknown: Array.isArray(json['unknown']) ? (json['unknown'] as unknown as UnknownTraces[]) : [],
  };
}

function damaged(detail: string): SnapshotFile {
  return { status: 'damaged', detail };
}
