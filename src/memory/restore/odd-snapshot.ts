/** The messages of a snapshot that is taken over. Messages in another form are read as an import reads them, and reported. */
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { neutralMessageFrom } from '../../messages/importers/rekindle/neutral-message.js';
import type { Message } from '../../messages/message.js';
import { messageFromJson } from '../../messages/message-serializer.js';
import { WorkingContextSnapshot } from '../working-context-snapshot.js';

export interface TakenSnapshot {
  readonly snapshot: WorkingContextSnapshot;
  /** In words, for the report. */
  readonly odd: readonly string[];
}

const PLACES_MAX = 5;

export function snapshotFrom(payload: JsonObject): TakenSnapshot {
  const { epoch_id: epochId, last_compaction_ts: ts } = payload;
  const reader = new MemberReader();
  const members = Array.isArray(payload['messages']) ? payload['messages'] : [];
  const messages = members.flatMap((member, index) => reader.read(member, index));
  const snapshot = new WorkingContextSnapshot(messages);
  if (typeof epochId === 'number' && Number.isSafeInteger(epochId)) snapshot.epochId = epochId;
  // A number with too many digits was read as text.
  if (typeof ts === 'number' || typeof ts === 'string') snapshot.lastCompactionTs = numberOf(ts);
  return { snapshot, odd: reader.report() };
}

class MemberReader {
  readonly #converted: number[] = [];
  readonly #skipped: number[] = [];

  read(member: unknown, index: number): Message[] {
    if (!isJsonObject(member)) {
      this.#skipped.push(index);
      return [];
    }
    try {
      return [messageFromJson(member)];
    } catch {
      this.#converted.push(index);
      return [neutralMessageFrom(member)];
    }
  }

  report(): string[] {
    return [
      ...told(
        this.#converted,
        'messages of the snapshot have fields of another type; they were read as an import reads them',
      ),
      ...told(this.#skipped, 'members of the snapshot are no messages; they are not in the context'),
    ];
  }
}

function told(indexes: readonly number[], what: string): string[] {
  if (indexes.length === 0) return [];
  const places = indexes.slice(0, PLACES_MAX).map((index) => `messages/${index}`);
  return [`${indexes.length} ${what} (${places.join(', ')}${indexes.length > PLACES_MAX ? ', ...' : ''}).`];
}

function numberOf(ts: string | number): number | null {
  const value = Number(ts);
  return Number.isFinite(value) ? value : null;
}
