/**
 * What was recalled and why, as a report. Stored in the recall's message, in a field that no provider gets, so a restore
 * reports the same without a second search.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { ContextView } from '../working-context-snapshot.js';
import { recalledIn } from './context-passages.js';
import { SPEAKERS, type Speaker } from './passage.js';

/** A recalled passage, and why it was recalled. */
export interface RecalledPassage {
  /** The number of its trace in the journal. */
  readonly record: number;
  /** Its position among the passages of that trace. */
  readonly piece: number;
  readonly turnId: string;
  readonly speaker: Speaker;
  /** For calls and results; null otherwise. */
  readonly toolName: string | null;
  /** Relative to the best one: above 0, at most 1. */
  readonly score: number;
  /** Words of the request that occur in it, in some form; at most eight. */
  readonly words: readonly string[];
  /**
   * `words`: it has words of the request. `meaning`: only its meaning is similar. `related`: it is next to such a passage,
   * or has words in common with the best ones.
   */
  readonly because: 'words' | 'meaning' | 'related';
}

/** A recall that is in the context. */
export interface RecallReport {
  /** The turn for whose request it was made; null if unknown. */
  readonly turnId: string | null;
  readonly messageIndex: number;
  /** Number of its passages. */
  readonly passages: number;
  /** The best of them, best first, at most twelve. Empty for a recall of an older release. */
  readonly best: readonly RecalledPassage[];
}

/** Passages of one report. */
export const SHOWN_MAX = 12;

export function reasonToJson(reason: RecalledPassage): JsonObject {
  const { record, piece, turnId, speaker, toolName, score, words, because } = reason;
  const tool = toolName === null ? {} : { tool_name: toolName };
  return { record, piece, turn_id: turnId, speaker, ...tool, score, words: [...words], because };
}

/** The recalls of a context, oldest first. */
export function recallsIn({ messages }: Pick<ContextView, 'messages'>): RecallReport[] {
  return messages.flatMap((message, messageIndex) => {
    if (message.kind !== 'recall') return [];
    const stored = message.extra?.['recall'];
    const best = isJsonObject(stored) && Array.isArray(stored['best']) ? stored['best'] : [];
    return [
      {
        turnId: message.turnId ?? null,
        messageIndex,
        passages: recalledIn(message).length,
        best: best.slice(0, SHOWN_MAX).flatMap(reasonFromJson),
      },
    ];
  });
}

/** Leaves out what is not one: the file may have been changed by hand. */
function reasonFromJson(value: JsonValue): RecalledPassage[] {
  if (!isJsonObject(value)) return [];
  const { record, piece, turn_id: turnId, tool_name: tool, score, words, because } = value;
  const speaker = SPEAKERS.find((name) => name === value['speaker']);
  const isWhole = [record, piece].every((number) => Number.isSafeInteger(number));
  if (!isWhole || speaker === undefined || typeof score !== 'number') return [];
  return [
    {
      record: record as number,
      piece: piece as number,
      turnId: typeof turnId === 'string' ? turnId : '',
      speaker,
      toolName: typeof tool === 'string' ? tool : null,
      score,
      words: (Array.isArray(words) ? words : []).filter((word) => typeof word === 'string'),
      because: because === 'words' || because === 'meaning' ? because : 'related',
    },
  ];
}
