/**
 * OpenCode's storage folder: each session, message and part is a file. A first pass keeps only ids and times; a second
 * reads one message with its parts at a time, in order of time and id.
 */
import { utf8Text } from '../../../core/bytes.js';
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { parseJsonKeepingDigits } from '../../../core/json-digits.js';
import type { LossAccount } from '../loss-account.js';
import { objectField, textField } from '../reading/record-fields.js';
import type { TranscriptItem, TranscriptSource } from '../transcript.js';
import { openCodeItems } from './opencode-message.js';
import type { PlacedPart } from './opencode-parts.js';
import { isUndoneMessage, isUndonePart, type UndoneFrom, undoneFrom } from './opencode-undo.js';

interface Entry {
  readonly file: TranscriptSource;
  readonly id: string;
  readonly created: number;
}

interface MessageEntry extends Entry {
  readonly session: string;
}

interface SessionEntry {
  readonly isSubtask: boolean;
  readonly undone: UndoneFrom;
}

class StorageIndex {
  readonly sessions = new Map<string, SessionEntry>();
  readonly messages: MessageEntry[] = [];
  readonly parts = new Map<string, Entry[]>();

  /** False for any other file. */
  add(file: TranscriptSource, json: JsonObject): boolean {
    const id = textField(json, 'id') ?? '';
    const messageId = textField(json, 'messageID');
    const session = textField(json, 'sessionID');
    if (messageId !== undefined) {
      const known = this.parts.get(messageId);
      const entry = { file, id, created: timeOf(json, 'start') };
      if (known) known.push(entry);
      else this.parts.set(messageId, [entry]);
    } else if (session !== undefined && typeof json['role'] === 'string') {
      this.messages.push({ file, id, session, created: timeOf(json, 'created') });
    } else if (id !== '' && isJsonObject(json['time'])) {
      this.sessions.set(id, {
        isSubtask: textField(json, 'parentID') !== undefined,
        undone: undoneFrom(json),
      });
    } else return false;
    return true;
  }

  /** The session used last. Sessions of sub-agents count only if there is no other. */
  newestSession(): string | undefined {
    const roots = this.messages.filter(({ session }) => !this.sessions.get(session)?.isSubtask);
    return (roots.length > 0 ? roots : this.messages).toSorted(byTime).at(-1)?.session;
  }
}

export async function* readOpenCodeFolder(
  files: readonly TranscriptSource[],
  losses: LossAccount,
): AsyncGenerator<TranscriptItem> {
  const index = await indexOf(files, losses);
  const session = index.newestSession();
  if (session === undefined) {
    throw new RekindleError('TRANSCRIPT_INVALID', 'The folder contains no OpenCode messages.', {
      details: { files: files.length, lookedFor: 'files with `sessionID` and `role`' },
    });
  }
  const undone = index.sessions.get(session)?.undone ?? {};
  for (const entry of index.messages.toSorted(byTime)) {
    const { file, id } = entry;
    const parts = (index.parts.get(id) ?? []).toSorted(byId);
    index.parts.delete(id);
    if (entry.session !== session) dropAll('a message of another session', file, parts, losses);
    else if (isUndoneMessage(id, undone)) dropAll('a message that was undone', file, parts, losses);
    else {
      const info = (await jsonOf(file)) ?? {};
      yield* openCodeItems(info, await readParts(parts, undone, losses), file.name, losses);
    }
  }
  for (const entries of index.parts.values())
    for (const { file } of entries) losses.drop('a part without its message', file.name);
}

async function indexOf(files: readonly TranscriptSource[], losses: LossAccount): Promise<StorageIndex> {
  const index = new StorageIndex();
  for (const file of files) {
    const json = await jsonOf(file);
    if (!json) losses.drop('a file that is not a JSON object', file.name);
    else {
      losses.record();
      if (!index.add(file, json)) losses.drop('a file of another kind', file.name);
    }
  }
  return index;
}

async function readParts(
  entries: readonly Entry[],
  undone: UndoneFrom,
  losses: LossAccount,
): Promise<PlacedPart[]> {
  const parts: PlacedPart[] = [];
  for (const { file } of entries) {
    const json = (await jsonOf(file)) ?? {};
    if (isUndonePart(json, undone)) losses.drop('a part that was undone', file.name);
    else parts.push({ json, place: file.name });
  }
  return parts;
}

function dropAll(what: string, file: TranscriptSource, parts: readonly Entry[], losses: LossAccount): void {
  losses.drop(what, file.name);
  for (const part of parts) losses.drop(what, part.file.name);
}

async function jsonOf(file: TranscriptSource): Promise<JsonObject | null> {
  const bytes = await file.slice(0, file.size);
  try {
    const json = parseJsonKeepingDigits(utf8Text(bytes));
    return isJsonObject(json) ? json : null;
  } catch {
    return null;
  }
}

function timeOf(json: JsonObject, key: string): number {
  const time = objectField(json, 'time')[key];
  return typeof time === 'number' ? time : 0;
}

function byTime(left: Entry, right: Entry): number {
  return left.created - right.created || byId(left, right);
}

function byId(left: Entry, right: Entry): number {
  if (left.id === right.id) return left.created - right.created;
  return left.id < right.id ? -1 : 1;
}
