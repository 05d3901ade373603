/** The journal of a session as an attacker sees it who knows the format: lines, in files. */
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { JsonObject } from '../../src/core/json.js';
import { decodeLine } from '../../src/storage/file/journal-line.js';
import { encodeLineEnd, encodeRecord } from '../../src/storage/record-encoding.js';
import type { SessionFiles, StoredSession } from './stores.js';

export const LIVE = 'checkpoints.jsonl';

export interface Line {
  readonly file: string;
  /** Without its newline. */
  readonly text: string;
  /** Null for what is no record: a header, or damage. */
  readonly record: JsonObject | null;
  readonly seq: number | null;
}

export function isJournal(name: string): boolean {
  return /^checkpoints\.(?:\d{6}-\d+\.)?jsonl$/.test(name);
}

/** The lines of all its files, the oldest first. */
export function linesOf(files: SessionFiles): Line[] {
  const names = [...files.keys()].filter(isJournal);
  const ordered = [...names.filter((name) => name !== LIVE).sort(), ...names.filter((name) => name === LIVE)];
  return ordered.flatMap((file) => linesIn(file, files.get(file)!));
}

/** Most files are those of the session as it was, and were looked at for the mutation before. */
const KNOWN = new WeakMap<Buffer, readonly Line[]>();

function linesIn(file: string, bytes: Buffer): readonly Line[] {
  const known = KNOWN.get(bytes);
  if (known?.[0]?.file === file) return known;
  const texts = bytes.toString('latin1').split('\n');
  const lines = texts.filter((text) => text !== '').map((text) => lineOf(file, text));
  KNOWN.set(bytes, lines);
  return lines;
}

function lineOf(file: string, text: string): Line {
  const decoded = decodeLine(Buffer.from(text, 'latin1'));
  const { record, seq } = decoded.kind === 'record' ? decoded : { record: null, seq: null };
  return { file, text, record, seq };
}

/** Its checksum fits. */
export function lineWith(file: string, record: JsonObject, seq: number): Line {
  const encoded = encodeRecord(record);
  const bytes = Buffer.concat([encoded.body, Buffer.from(encodeLineEnd(encoded, seq).text.trimEnd())]);
  return { file, text: bytes.toString('latin1'), record, seq };
}

/** Other lines in place of those that were there. */
export function withLines(files: SessionFiles, lines: readonly Line[]): Map<string, Buffer> {
  const changed = new Map(files);
  for (const name of files.keys()) {
    if (!isJournal(name)) continue;
    const mine = lines.filter(({ file }) => file === name);
    changed.set(name, Buffer.from(mine.map(({ text }) => `${text}\n`).join(''), 'latin1'));
  }
  return changed;
}

/** Whether the journal is the beginning of what it was once: nothing but a head that was kept elsewhere can tell. */
export function isCut({ files: whole, history }: StoredSession, files: SessionFiles): boolean {
  const now = recordsOf(files);
  const isBeginningOf = (past: SessionFiles) => {
    const before = recordsOf(past);
    return now.length <= before.length && now.every((text, index) => text === before[index]);
  };
  return now.join() !== recordsOf(whole).join() && history.some(isBeginningOf);
}

const RECORDS = new WeakMap<SessionFiles, readonly string[]>();

/** Each once: an older live file in place of the last one has what is in a sealed one, too. */
function recordsOf(files: SessionFiles): readonly string[] {
  const known = RECORDS.get(files);
  if (known) return known;
  const texts = linesOf(files).flatMap(({ record, seq }) =>
    record ? [`${seq} ${canonicalJson(record)}`] : [],
  );
  const records = [...new Set(texts)];
  RECORDS.set(files, records);
  return records;
}
