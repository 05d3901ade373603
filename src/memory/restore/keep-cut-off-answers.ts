/**
 * Puts the delivered parts of an unfinished answer into the context: what a person has read, the model knows.
 *
 * An answer is unfinished if no message follows its first part in the traces. If the calls of its response follow, the text
 * was whole and belongs to them. Otherwise the answer was cut off, and the message is marked so.
 */
import type { JsonObject } from '../../core/json.js';
import { isBlankText, type Message } from '../../messages/message.js';
import type { MemoryManager } from '../memory-manager.js';
import { answersSince, type StoredAnswer } from '../store/answer-parts.js';
import { type RecordedCall, recentTraces } from '../store/recent-traces.js';
import type { Frontier } from '../working-context-reducer.js';
import type { CutOffAnswer } from './restore-report.js';

/** Durable when it resolves; nothing is written if nothing was cut off. @throws what the journals throw */
export async function keepCutOffAnswers(
  memory: MemoryManager,
  frontier: Frontier,
): Promise<readonly CutOffAnswer[]> {
  if (frontier.kind === 'idle') return [];
  const { lastMessage, calls } = await recentTraces(await memory.store.journal('raw_traces'));
  const answers = await storedAnswers(memory, lastMessage);
  const kept = answers
    .map((answer, index) => ({ ...answer, response: responseOf(answer, answers[index + 1], calls) }))
    .filter(({ text }) => !isBlankText(text));
  await memory.answerParts.keep(
    kept.map((answer) => ({ turnId: answer.turnId, message: messageOf(answer) })),
  );
  return kept.map(({ turnId, text, response }) => ({
    turnId,
    characters: text.length,
    isCutOff: response === null,
  }));
}

/** Read-only: opening a journal for writing could create it. This process has the lease, so nobody adds to it. */
async function storedAnswers({ store }: MemoryManager, lastMessage: number): Promise<StoredAnswer[]> {
  const name = ['agents', store.agentId, 'answer_parts'];
  const journal = await store.backend.openJournal<JsonObject>(name, { readOnly: true });
  try {
    return await answersSince(journal, lastMessage);
  } finally {
    await journal.close();
  }
}

/** The id of the response whose calls follow the answer's first part; null if none do. */
function responseOf(
  answer: StoredAnswer,
  next: StoredAnswer | undefined,
  calls: readonly RecordedCall[],
): string | null {
  const until = next?.after ?? Number.POSITIVE_INFINITY;
  const own = calls.find(({ seq, messageId }) => seq > answer.after && seq <= until && messageId !== '');
  return own?.messageId ?? null;
}

function messageOf({
  messageId,
  text,
  origin,
  turnId,
  response,
}: StoredAnswer & { readonly response: string | null }): Message {
  return {
    role: 'assistant',
    content: text,
    ...(origin ? { origin } : {}),
    messageId: response ?? messageId,
    turnId,
    ...(response === null ? { status: 'failed' } : {}),
  };
}
