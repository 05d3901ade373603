/**
 * The interface of an exporter: it writes one tool's transcript format. Pure: the same messages and options give the
 * same bytes. So ids are derived from content and position, and times come from the options.
 */
import { sha256Hex } from '../../core/sha256.js';
import type { Message } from '../message.js';

/** Facts that the messages themselves do not hold. */
export interface ExportOptions {
  readonly agentId: string;
  /** Bytes of artifacts by their `sha256:` reference. Media without bytes become a line of text. */
  readonly artifacts?: ReadonlyMap<string, Uint8Array>;
  /** Time of the first message, in milliseconds since 1970, for formats with times. */
  readonly startedAtMs?: number;
}

/** Writes a conversation in one tool's format. The messages should be legal (`repairHistory`). */
export interface TranscriptExporter {
  /** `ai-sdk-ui`, `claude-code`, `markdown`: part of the API. */
  readonly format: string;
  /** Display name. */
  readonly title: string;
  readonly extension: '.json' | '.jsonl' | '.md';
  /** Yields the file in pieces of text, in order. */
  write(messages: readonly Message[], options: ExportOptions): Iterable<string>;
}

/** Hex digits that depend on each text and on their order. */
export function digestOf(...texts: readonly string[]): string {
  return sha256Hex(texts.map((text) => `${text.length}:${text}`).join(''));
}

/** A UUID of version 8, whose bits an application may choose. */
export function uuidOf(...texts: readonly string[]): string {
  const hex = digestOf(...texts);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
