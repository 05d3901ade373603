/** Reads a whole transcript in a test: its messages, the account, and pairs that do not fit. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { headOf } from '../../../src/messages/importers/detect-format.js';
import { LossAccount, type LossReport } from '../../../src/messages/importers/loss-account.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import type {
  TranscriptImporter,
  TranscriptItem,
  TranscriptSource,
} from '../../../src/messages/importers/transcript.js';
import { type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';

export interface ReadTranscript {
  readonly items: readonly TranscriptItem[];
  readonly messages: readonly Message[];
  readonly report: LossReport;
}

/** @param given a source, a text, a document, or the records of a file with one a line */
export async function readAll(importer: TranscriptImporter, given: unknown): Promise<ReadTranscript> {
  const losses = new LossAccount();
  const items: TranscriptItem[] = [];
  for await (const item of importer.read(asSource(given), losses)) items.push(item);
  const messages = items.flatMap((item) => (item.kind === 'message' ? [item.message] : item.messages));
  return { items, messages, report: losses.report() };
}

export async function isRecognised(importer: TranscriptImporter, given: unknown): Promise<boolean> {
  const head = await headOf(asSource(given));
  return head !== null && importer.recognises(head);
}

/** Records as the lines of a file. */
export function lines(...records: unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function asSource(given: unknown): TranscriptSource {
  if (typeof given === 'string') return sourceOf(given);
  const isSource = typeof given === 'object' && given !== null && 'chunks' in given;
  // Small chunks: values lie across their borders.
  return isSource ? (given as TranscriptSource) : sourceOf(JSON.stringify(given), 'document', 7);
}

/** Ids of results that no earlier call has. */
export function orphansOf(messages: readonly Message[]): string[] {
  const called = new Set<string>();
  const orphans: string[] = [];
  for (const message of messages) {
    for (const { id } of toolCallsOf(message)) called.add(id);
    const result = toolResultOf(message);
    if (result && !called.has(result.toolCallId)) orphans.push(result.toolCallId);
  }
  return orphans;
}

/** A folder that is not part of the project; tests over it are skipped where it is absent. */
export const SHARED = fileURLToPath(new URL('../../../../shared/', import.meta.url));

export function hasShared(folder: string): boolean {
  return existsSync(SHARED + folder);
}

/** All files below the folder, by their path relative to it. */
export function sharedFiles(folder: string): TranscriptSource[] {
  const root = `${SHARED}${folder}/`;
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(root + name).isFile())
    .sort()
    .map((name) => sourceOf(readFileSync(root + name), name));
}
