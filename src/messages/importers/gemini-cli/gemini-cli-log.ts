/**
 * The order of a Gemini CLI session that is stored as a log: a changed message is written again, a rewind removes
 * messages, and `$set` with messages replaces the history. Only ids and positions are held in memory.
 */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { type JsonLine, readJsonLines } from '../reading/json-lines.js';
import { idText, listField, objectField } from '../reading/record-fields.js';
import type { TranscriptSource } from '../transcript.js';
import { NOTICES } from './gemini-cli-message.js';

export interface LoggedMessage {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  /** Index in the list of the record; undefined if the record is the message itself. */
  readonly at?: number;
  readonly isNotice: boolean;
}

/** A stretch of the session. Each stretch except the first starts with the history that replaced the one before. */
export interface LogSegment {
  readonly replaced: Map<string, LoggedMessage>;
  readonly appended: Map<string, LoggedMessage>;
}

export async function readGeminiLog(source: TranscriptSource, losses: LossAccount): Promise<LogSegment[]> {
  const log = new GeminiLog(losses);
  for await (const line of readJsonLines(source.chunks(), losses)) log.add(line);
  return log.segments;
}

class GeminiLog {
  readonly #losses: LossAccount;
  readonly segments: LogSegment[] = [{ replaced: new Map(), appended: new Map() }];

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  get #current(): LogSegment {
    return this.segments[this.segments.length - 1]!;
  }

  add(place: JsonLine): void {
    const { value } = place;
    const id = idText(value['id']);
    if (typeof value['$rewindTo'] === 'string') this.#rewind(value['$rewindTo'], place.line);
    else if (typeof value['type'] === 'string' && id !== '') this.#message(id, loggedAt(place, value));
    else if (isJsonObject(value['$set'])) this.#set(value, place);
    else {
      const what = 'sessionId' in value ? 'session header' : 'record of an unknown type';
      this.#losses.drop(what, `line ${place.line}`);
    }
  }

  #message(id: string, message: LoggedMessage): void {
    const { replaced, appended } = this.#current;
    const known = replaced.get(id) ?? appended.get(id);
    if (known) this.#losses.drop('earlier version of a message', `line ${known.line}`);
    // An existing key keeps its position.
    if (replaced.has(id)) replaced.set(id, message);
    else appended.set(id, message);
  }

  /** Removes the message and everything after it. Removes everything if the message is missing, as the tool itself does. */
  #rewind(id: string, line: number): void {
    const { replaced, appended } = this.#current;
    const isKnown = replaced.has(id) || appended.has(id);
    let isTaken = !isKnown;
    for (const list of [replaced, appended]) {
      for (const key of list.keys()) {
        isTaken ||= key === id;
        if (!isTaken) continue;
        list.delete(key);
        this.#losses.drop('message that the user took back', `line ${line}`);
      }
    }
  }

  #set(record: JsonObject, place: JsonLine): void {
    const messages = listField(objectField(record, '$set'), 'messages');
    if (messages.length === 0) {
      this.#losses.drop('update of the session header', `line ${place.line}`);
      return;
    }
    const list = new Map<string, LoggedMessage>();
    for (const [at, message] of messages.entries()) {
      if (!isJsonObject(message)) this.#losses.drop('message that is not an object', `line ${place.line}`);
      else list.set(idText(message['id']) || `${place.line}/${at}`, { ...loggedAt(place, message), at });
    }
    this.#replace(list);
  }

  /** If all messages are still there, only their texts changed; else the tool summarised them. */
  #replace(list: Map<string, LoggedMessage>): void {
    const { replaced, appended } = this.#current;
    const isHere = ([id, message]: [string, LoggedMessage]) => message.isNotice || list.has(id);
    if (![...replaced, ...appended].every(isHere)) {
      this.segments.push({ replaced: list, appended: new Map() });
      return;
    }
    const fresh = [...list].filter(([id]) => !replaced.has(id));
    for (const id of replaced.keys()) {
      const newer = list.get(id);
      if (newer) replaced.set(id, newer);
    }
    appended.clear();
    for (const [id, message] of fresh) appended.set(id, message);
  }
}

/** Copies field by field: there are very many of these, and spread copies take several times the memory. */
function loggedAt({ start, end, line }: JsonLine, message: JsonObject): LoggedMessage {
  return { start, end, line, isNotice: NOTICES.has(message['type']) };
}
