/**
 * What an exporter is: a writer of one tool's transcript format. Pure: the same messages and options give the same bytes, so ids
 * are derived from content and position, and times come from the options.
 */
import { sha256Hex } from '../../core/sha256.js';
import type { Message } from '../message.js';

export interface ExportOptions {
  readonly agentId: string;
  /** Bytes of artifacts by their `sha256:` reference; a medium without them becomes a line of text. */
  readonly artifacts?: ReadonlyMap<string, Uint8Array>;
  /** Of the first message, in milliseconds since 1970, for formats that have times. */
  readonly startedAtMs?: number;
}

export interface TranscriptExporter {
  /** `ai-sdk-ui`, `claude-code`, `markdown`: part of the API. */
  readonly format: string;
  /** For people. */
  readonly title: string;
  readonly extension: '.json' | '.jsonl' | '.md';
  /** Pieces of text, in order; joined they are the file. */
  write(messages: readonly Message[], options: ExportOptions): Iterable<string>;
}

/** Hex digits that depend on every one of the texts, and on their order. */
export function digestOf(...texts: readonly string[]): string {
  return sha256Hex(texts.map((text) => `${text.length}:${text}`).join(''));
}
