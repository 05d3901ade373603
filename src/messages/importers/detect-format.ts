/** Detects the format of a transcript from its content. Its name does not matter. */
import { utf8Length, utf8Text } from '../../core/bytes.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, setOwn } from '../../core/json.js';
import { parseJsonKeepingDigits } from '../../core/json-digits.js';
import { EntryDetection } from './entries/detect-entries.js';
import { entriesIn } from './entries/entries-in-source.js';
import type { EntryFormat } from './entries/entry-format.js';
import { LossAccount } from './loss-account.js';
import { readJsonLines } from './reading/json-lines.js';
import { type JsonPath, type SliceChoice, sliceJson } from './reading/json-slices.js';
import { sourceOf } from './source.js';
import { beginsLikeJson, textHeadOf } from './text-head.js';
import type { TranscriptHead, TranscriptImporter, TranscriptSource } from './transcript.js';

const NEWLINE = 0x0a;
const LINES_MAX = 50;
const MEMBERS_MAX = 10;
const OUTLINE_DEPTH = 3;
const THIN_OUTLINE_DEPTH = 6;
/** Maximum size of one list member that is taken whole, in bytes. */
const TAKEN_BYTES_MAX = 8 * 1024 * 1024;
const FILES_MAX = 50;
/** Bytes of one line that detection reads. */
const HEAD_BYTES = 4 * 1024 * 1024;
/** A document inside a JSON string is decoded in memory up to this size, in bytes. */
const DOUBLE_ENCODED_BYTES_MAX = 64 * 1024 * 1024;

export interface DetectedTranscript {
  readonly importer: TranscriptImporter;
  /** What to read: the source, or the document that it held as one JSON string. */
  readonly source: TranscriptSource;
  readonly shape: TranscriptHead['shape'];
  /** Why this format was chosen. */
  readonly reasons: readonly string[];
}

/** @throws TRANSCRIPT_UNKNOWN, listing what was looked for */
export async function detectTranscript(
  given: TranscriptSource,
  importers: readonly TranscriptImporter[],
): Promise<DetectedTranscript> {
  const source = await decodeDoubleEncoded(given);
  const startsWithText = !(await beginsLikeJson(source));
  const text = await textHeadOf(source);
  const first = startsWithText && ownFormat(text, importers);
  if (first) return { ...first, source, shape: 'text' };
  const head = await headOf(source);
  const found = head && (await recognised(source, head, importers));
  if (found) return { ...found, source, shape: head.shape };
  const last = !startsWithText && ownFormat(text, importers);
  if (last) return { ...last, source, shape: 'text' };
  throw new RekindleError(
    'TRANSCRIPT_UNKNOWN',
    `${JSON.stringify(given.name)} has no known transcript format${head ? '' : ': it is not JSON'}. Looked for: ${importers
      .map(({ title }) => title)
      .join(', ')}.`,
    {
      details: {
        name: given.name,
        shape: head?.shape ?? null,
        keys: head ? [...head.keys].slice(0, 20) : [],
        lookedFor: importers.map(({ format, lookedFor }) => ({ format, lookedFor })),
      },
    },
  );
}

type Recognised = Pick<DetectedTranscript, 'importer' | 'reasons'>;

/** The first format whose own marks are in the head. */
function ownFormat(
  head: TranscriptHead | null,
  importers: readonly TranscriptImporter[],
): Recognised | undefined {
  const own = head && importers.find((candidate) => !candidate.entries && candidate.recognises(head));
  return own ? { importer: own, reasons: [`it looks like this: ${own.lookedFor}`] } : undefined;
}

/** Marks of a single tool are tried first, then the content of the messages, then the fields around them. */
async function recognised(
  source: TranscriptSource,
  head: TranscriptHead,
  importers: readonly TranscriptImporter[],
): Promise<Recognised | null> {
  const own = ownFormat(head, importers);
  if (own) return own;
  const { detection, isDecided } = await detectEntries(source, head);
  const ofEntries = (format: EntryFormat | undefined) => importers.find(({ entries }) => entries === format);
  const decided = isDecided ? ofEntries(detection?.format) : undefined;
  if (decided) return { importer: decided, reasons: detection!.reasons };
  const around = importers.find((candidate) => candidate.entries && candidate.recognises(head));
  if (around) return { importer: around, reasons: [`it looks like this: ${around.lookedFor}`] };
  const plain = detection && ofEntries(detection.format);
  return plain ? { importer: plain, reasons: detection.reasons } : null;
}

/** Reads as many messages as it takes: a conversation may start with many plain texts. */
async function detectEntries(source: TranscriptSource, head: TranscriptHead) {
  const seen = new EntryDetection();
  try {
    for await (const { entry, place } of entriesIn(source, head.shape)) {
      seen.add(entry, place);
      if (seen.isDecided) break;
    }
  } catch (thrown) {
    if (isTooLarge(thrown)) throw thrown;
    // The document is cut off: its importer reports where.
  }
  return { detection: seen.result({ ofAll: true }), isDecided: seen.isDecided };
}

/** Null if the source is not JSON. */
export async function headOf(source: TranscriptSource): Promise<TranscriptHead | null> {
  if (source.files) return folderHead(source.files);
  const lines = await headLines(source);
  if (lines) return { shape: 'lines', items: lines, fields: {}, keys: new Set() };
  try {
    const head = await documentHead(source);
    const isLines = head?.shape === 'object' && (await isLongLines(source));
    return isLines ? { shape: 'lines', items: [head.fields], fields: {}, keys: new Set() } : head;
  } catch {
    return null;
  }
}

/** Whether the first line is too long for the head and another record follows it. */
async function isLongLines(source: TranscriptSource): Promise<boolean> {
  if (source.size <= HEAD_BYTES || (await source.slice(0, HEAD_BYTES)).includes(NEWLINE)) return false;
  let values = 0;
  const count = (path: JsonPath): SliceChoice => {
    if (path.length === 0) values += 1;
    return values > 1 ? 'enter' : 'skip';
  };
  for await (const _ of sliceJson(source.chunks(), count)) break; // the first scalar of the second record
  return values > 1;
}

/** The first lines, if each of the first two is a JSON object. A single line counts only if it is the whole source. */
async function headLines(source: TranscriptSource): Promise<JsonObject[] | null> {
  const bytes = await source.slice(0, HEAD_BYTES);
  if (!(await hasRecordsOnLines(bytes))) return null;
  const whole = bytes.length === source.size;
  const losses = new LossAccount();
  const lines: JsonObject[] = [];
  for await (const { value } of readJsonLines(sourceOf(bytes).chunks(), losses)) {
    lines.push(value);
    if (lines.length === LINES_MAX) break;
  }
  if (lines.length === 0) return null;
  const broken = losses.report().dropped.reduce((sum, item) => sum + item.count, 0);
  const torn = whole ? 0 : 1; // the last line of the head may be cut
  if (lines.length === 1 && !whole && broken === torn) return lines; // a short record, and a very long one
  if (lines.length === 1) return broken === 0 && isOneRecord(lines[0]!) ? lines : null;
  return broken - torn <= lines.length ? lines : null;
}

/**
 * Whether records have lines of their own: the first one does, or two of the next (the first may be cut off). A list
 * with one member per line, or a document over several lines, also has objects on its lines, but with commas and
 * brackets.
 */
async function hasRecordsOnLines(bytes: Uint8Array): Promise<boolean> {
  const lines = utf8Text(bytes)
    .replace(/^\uFEFF/, '')
    .split('\n', LINES_MAX);
  let whole = 0;
  for (const [index, line] of lines.filter((candidate) => candidate.trim() !== '').entries()) {
    if (await isOnlyRecords(line.trim())) whole += index === 0 ? 2 : 1;
    if (whole >= 2) return true;
  }
  return false;
}

/** One record, or several that were joined because a newline was lost. */
async function isOnlyRecords(line: string): Promise<boolean> {
  if (!line.startsWith('{')) return false;
  let end = 0;
  for await (const record of readJsonLines(sourceOf(line).chunks(), new LossAccount())) end = record.end;
  return end === utf8Length(line);
}

/** A one-line file is a transcript of one record if the line identifies its format; else it is a document. */
function isOneRecord(record: JsonObject): boolean {
  return (
    (typeof record['type'] === 'string' || isWrappedMessage(record)) &&
    !Object.values(record).some((value) => Array.isArray(value) && value.length > 0)
  );
}

/** A message of Cursor, or an event of ADK: documents do not have a sender beside the object that was sent. */
function isWrappedMessage({ role, author, message, content }: JsonObject): boolean {
  return (
    (typeof role === 'string' && isJsonObject(message)) ||
    (typeof author === 'string' && isJsonObject(content))
  );
}

/** Small first members are taken whole; large ones only as an outline. */
async function documentHead(source: TranscriptSource): Promise<TranscriptHead | null> {
  try {
    return await outlineOf(source, outlineChoice);
  } catch (thrown) {
    if (!isRekindleError(thrown, 'TRANSCRIPT_INVALID') || thrown.details['problem'] !== 'too large')
      throw thrown;
    return outlineOf(source, thinOutlineChoice);
  }
}

function isTooLarge(thrown: unknown): boolean {
  return isRekindleError(thrown, 'TRANSCRIPT_INVALID') && thrown.details['problem'] === 'too large';
}

async function outlineOf(
  source: TranscriptSource,
  choose: (path: JsonPath) => SliceChoice,
): Promise<TranscriptHead | null> {
  const keys = new Set<string>();
  const fields: JsonObject = {};
  const items: JsonArray = [];
  let shape: 'object' | 'array' | null = null;
  const choice = (path: JsonPath): SliceChoice => {
    if (path.length === 0) return 'enter';
    shape ??= typeof path[0] === 'number' ? 'array' : 'object';
    if (path.length === 1 && typeof path[0] === 'string') keys.add(path[0]);
    return choose(path);
  };
  try {
    for await (const { path, value } of sliceJson(source.chunks(), choice, TAKEN_BYTES_MAX)) {
      if (path.length === 0) return null; // a scalar
      putAt(shape === 'array' ? items : fields, path, value);
      if (items.length === MEMBERS_MAX && choose === outlineChoice) break;
    }
  } catch (thrown) {
    // A document that is cut off may still be recognised: its importer then reports where it breaks.
    const isLast = choose === thinOutlineChoice;
    if ((isTooLarge(thrown) && !isLast) || shape === null) throw thrown;
  }
  return shape === null ? null : { shape, items, fields, keys };
}

/** Scalars down to the third level, and the first members of each list there. */
function outlineChoice(path: JsonPath): SliceChoice {
  const last = path[path.length - 1];
  if (typeof last === 'number') return last < (path.length <= 2 ? MEMBERS_MAX : 1) ? 'take' : 'leave';
  return path.length <= OUTLINE_DEPTH ? 'enter' : 'skip';
}

/** Only scalars of the first members of each list. */
function thinOutlineChoice(path: JsonPath): SliceChoice {
  const last = path[path.length - 1];
  if (typeof last === 'number' && last > 1) return 'leave';
  return path.length > THIN_OUTLINE_DEPTH ? 'skip' : 'enter';
}

/** Creates the missing containers on the way. */
function putAt(top: JsonObject | JsonArray, path: JsonPath, value: JsonValue): void {
  let at: JsonObject | JsonArray = top;
  for (const [index, step] of path.entries()) {
    const isLast = index === path.length - 1;
    const inner: JsonValue | undefined = Array.isArray(at) ? at[Number(step)] : ownOf(at, String(step));
    const isContainer = typeof inner === 'object' && inner !== null;
    const next: JsonValue = isLast
      ? value
      : isContainer
        ? inner
        : typeof path[index + 1] === 'number'
          ? []
          : {};
    if (Array.isArray(at)) at[Number(step)] = next;
    else setOwn(at, String(step), next);
    if (!isLast) at = next as JsonObject | JsonArray;
  }
}

function ownOf(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

async function folderHead(files: readonly TranscriptSource[]): Promise<TranscriptHead> {
  const items: JsonValue[] = [];
  for (const file of files.slice(0, FILES_MAX)) {
    const bytes = await file.slice(0, HEAD_BYTES);
    try {
      items.push(parseJsonKeepingDigits(utf8Text(bytes)));
    } catch {
      // A folder may hold other files next to the transcript's.
    }
  }
  return { shape: 'folder', items, fields: {}, keys: new Set() };
}

/** Some tools write the document as one JSON string that contains the JSON. */
async function decodeDoubleEncoded(source: TranscriptSource): Promise<TranscriptSource> {
  if (source.files) return source;
  const start = utf8Text(await source.slice(0, 64)).trimStart();
  if (!/^\uFEFF?\s*"/.test(start)) return source;
  if (source.size > DOUBLE_ENCODED_BYTES_MAX) {
    throw new RekindleError(
      'TRANSCRIPT_INVALID',
      'A document inside one JSON string is too large to decode.',
      {
        details: { bytes: source.size, bytesMax: DOUBLE_ENCODED_BYTES_MAX },
      },
    );
  }
  const text = utf8Text(await source.slice(0, source.size));
  try {
    const inner: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof inner === 'string' ? sourceOf(inner, source.name) : source;
  } catch (thrown) {
    throw new RekindleError('TRANSCRIPT_INVALID', 'The document starts like a JSON string but is not one.', {
      details: { problem: 'double encoded' },
      cause: thrown,
    });
  }
}
