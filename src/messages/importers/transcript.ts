/**
 * What an importer is: a reader of one tool's transcripts, recognised by their content, never by their name.
 *
 * Importers are pure over a source of bytes. They yield what was said in the order of the conversation, repair nothing
 * (a call without its result stays one: `checkHistory` finds it), and account for what they could not carry over.
 */
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { Message } from '../message.js';
import type { EntryFormat } from './entries/entry-format.js';
import type { LossAccount } from './loss-account.js';

/** Bytes that can be read again and again; a folder has `files` instead and no bytes of its own. */
export interface TranscriptSource {
  /** For people: a path or a title. */
  readonly name: string;
  readonly size: number;
  /** All bytes, in order. A chunk holds what it holds until the next one is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
  /** The bytes of a range; shorter at the end of the source. */
  slice(start: number, end: number): Promise<Uint8Array>;
  readonly files?: readonly TranscriptSource[];
}

/** What detection looks at: the beginning, already taken apart. */
export interface TranscriptHead {
  /** `lines`: one JSON object a line; `object` or `array`: one document; `folder`: many small files. */
  readonly shape: 'lines' | 'object' | 'array' | 'folder';
  /** The first lines (up to 50), the first members of the array (up to 10), or the small files (up to 50). */
  readonly items: readonly JsonValue[];
  /** Of a document that is an object: its scalars down to the third level, and the first member of each list there (of lists at the top: up to 10). */
  readonly fields: JsonObject;
  /** Of a document that is an object: all its keys. */
  readonly keys: ReadonlySet<string>;
}

export type TranscriptItem =
  /** `ts` in seconds since 1970, where the transcript knows it. */
  | { readonly kind: 'message'; readonly message: Message; readonly ts?: number }
  /** From here on the context consists of the system prompt, these messages (a summary, usually) and what follows. */
  | { readonly kind: 'compaction'; readonly messages: readonly Message[]; readonly ts?: number };

export interface TranscriptImporter {
  /** `claude-code`, `codex`, ...: part of the API. */
  readonly format: string;
  /** For people. */
  readonly title: string;
  /** What it is recognised by, for the error that says what was looked for. */
  readonly lookedFor: string;
  recognises(head: TranscriptHead): boolean;
  /** The format is one of message lists: it is told by the content of the messages, and by `recognises` where that says nothing. */
  readonly entries?: EntryFormat;
  /** Bounded memory: never the whole source at once. @throws TRANSCRIPT_INVALID, UNSUPPORTED_VERSION */
  read(source: TranscriptSource, losses: LossAccount): AsyncIterable<TranscriptItem>;
}
