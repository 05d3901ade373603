/**
 * The interface of an importer: it reads one tool's transcripts, recognised by their content, never by their name.
 *
 * Importers are pure over a source of bytes. They yield messages in the order of the conversation and repair nothing (a
 * call without its result stays one; `checkHistory` finds it). They report what they could not carry over.
 */
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { Message } from '../message.js';
import type { EntryFormat } from './entries/entry-format.js';
import type { LossAccount } from './loss-account.js';

/** Bytes that can be read repeatedly. A folder has `files` instead, and no bytes of its own. */
export interface TranscriptSource {
  /** A path or title, for messages to people. */
  readonly name: string;
  readonly size: number;
  /** All bytes, in order. A chunk is valid until the next one is requested. */
  chunks(): AsyncIterable<Uint8Array>;
  /** The bytes of a range; shorter at the end of the source. */
  slice(start: number, end: number): Promise<Uint8Array>;
  readonly files?: readonly TranscriptSource[];
}

/** The parsed beginning of a transcript, for detection. */
export interface TranscriptHead {
  /**
   * `lines`: one JSON object a line; `object` or `array`: one JSON document; `folder`: many small files; `text`: any
   * other text, such as Markdown.
   */
  readonly shape: 'lines' | 'object' | 'array' | 'folder' | 'text';
  /**
   * The first lines (up to 50; texts if the shape is `text`), the first members of the array (up to 10), or the small
   * files (up to 50).
   */
  readonly items: readonly JsonValue[];
  /**
   * For a document that is an object: its scalars down to the third level, and the first member of each list there (up
   * to 10 for lists at the top).
   */
  readonly fields: JsonObject;
  /** For a document that is an object: all its keys. */
  readonly keys: ReadonlySet<string>;
}

/** One item of a transcript, in conversation order. */
export type TranscriptItem =
  /** `ts` in seconds since 1970, if the transcript has it. */
  | { readonly kind: 'message'; readonly message: Message; readonly ts?: number }
  /** From here on the context consists of the system prompt, these messages (usually a summary) and what follows. */
  | { readonly kind: 'compaction'; readonly messages: readonly Message[]; readonly ts?: number };

/** Reads one tool's transcripts. */
export interface TranscriptImporter {
  /** `claude-code`, `codex`, ...: part of the API. */
  readonly format: string;
  /** Display name. */
  readonly title: string;
  /** The marks of the format, for the error that lists what was looked for. */
  readonly lookedFor: string;
  /** Whether the head has the marks of the format. It may get any head, and must not throw. */
  recognises(head: TranscriptHead): boolean;
  /**
   * For a format of message lists: it is recognised by the content of the messages, and by `recognises` if they do not
   * show it.
   */
  readonly entries?: EntryFormat;
  /** Uses bounded memory: never holds the whole source. @throws TRANSCRIPT_INVALID, UNSUPPORTED_VERSION */
  read(source: TranscriptSource, losses: LossAccount): AsyncIterable<TranscriptItem>;
}
