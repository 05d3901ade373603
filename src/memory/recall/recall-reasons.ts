/** Why passages were recalled for a request. */
import type { RecallHit } from './recall-index.js';
import { type RecalledPassage, SHOWN_MAX } from './recall-report.js';
import { wordsInCommon } from './terms.js';

const WORDS_MAX = 8;
const WORD_CHARS_MAX = 40;

/** @param hits best first */
export function reasonsFor(request: string, hits: readonly RecallHit[]): Promise<RecalledPassage[]> {
  const most = hits[0]?.score ?? 1;
  const commonIn = wordsInCommon(request);
  return Promise.all(
    hits.slice(0, SHOWN_MAX).map(async ({ passage, score, isNear }): Promise<RecalledPassage> => {
      const { seq: record, piece, turnId, speaker, toolName } = passage;
      const common = await commonIn(passage.text);
      const words = common.slice(0, WORDS_MAX).map((word) => word.slice(0, WORD_CHARS_MAX).toWellFormed());
      const otherwise = isNear ? 'meaning' : 'related';
      const because = words.length > 0 ? 'words' : otherwise;
      const share = Math.max(0.001, Math.round((score / most) * 1_000) / 1_000);
      return { record, piece, turnId, speaker, toolName, score: share, words, because };
    }),
  );
}
