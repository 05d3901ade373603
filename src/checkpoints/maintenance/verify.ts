/**
 * Reads everything that is stored, and says what is wrong. What was cut off at the end, or put back as a whole to an older state, looks
 * like a store in which less was saved: only a head that was kept elsewhere tells.
 */
import { isRekindleError, messageOf } from '../../core/errors.js';
import { checkJournal, isHarmful } from '../../storage/journal-check.js';
import { checkpointId, sessionNotFound } from '../checkpoint-id.js';
import type { CheckpointSession } from '../session/checkpoint-session.js';
import { PackCache } from '../session/content-reader.js';
import type { SessionHead } from '../session/session-log.js';
import type { SessionPool } from '../session/session-pool.js';

export interface VerifyOptions {
  /** Only this session. */
  readonly sessionId?: string;
  /** What an earlier `verify` gave: that nothing before it was taken away or changed. */
  readonly heads?: readonly SessionHead[];
  readonly onProgress?: (checkpoints: number) => void;
}

export interface VerifyProblem {
  readonly sessionId: string;
  /** Null when it is about the session as a whole. */
  readonly checkpointId: string | null;
  readonly code: string;
  readonly message: string;
}

export interface VerifyReport {
  readonly ok: boolean;
  readonly sessions: number;
  /** Of them, those that were read to their end and are what was saved are all but the ones in `problems`. */
  readonly checkpoints: number;
  readonly problems: readonly VerifyProblem[];
  /** Data that nothing refers to, and that is older than the grace time: `prune` removes it. */
  readonly orphans: { readonly blobs: number; readonly bytes: number };
  /** To be kept elsewhere, and given to a later `verify`. */
  readonly heads: readonly SessionHead[];
}

export async function verifyCheckpoints(
  pool: SessionPool,
  graceMs: number,
  { sessionId, heads = [], onProgress }: VerifyOptions,
): Promise<VerifyReport> {
  const problems: VerifyProblem[] = [];
  const found: SessionHead[] = [];
  let orphans = { blobs: 0, bytes: 0 };
  let checkpoints = 0;
  const look = (id: string) =>
    pool.use(id, async (session) => {
      const wrong = await checkRecords(pool, session);
      problems.push(...wrong);
      // Without the key nothing can be read, and that is said once.
      if (wrong.some(({ code }) => code === 'KEY_UNAVAILABLE'))
        checkpoints += session.log.state.checkpoints.length;
      else checkpoints += await checkContents(session, problems, () => onProgress?.(checkpoints));
      const head = await session.log.headOf();
      if (head) found.push(head);
      const swept = await session.sweep(graceMs, false).catch(() => ({ blobs: 0, bytes: 0 }));
      orphans = { blobs: orphans.blobs + swept.blobs, bytes: orphans.bytes + swept.bytes };
    });
  if (sessionId !== undefined) {
    if (!(await pool.names()).includes(sessionId)) throw sessionNotFound(sessionId);
    await look(sessionId);
  } else
    for (const { sessionId: id, message } of await pool.each(look))
      problems.push({ sessionId: id, checkpointId: null, code: 'STORAGE_FAILED', message });
  for (const head of heads)
    if (sessionId === undefined || head.sessionId === sessionId)
      problems.push(...(await checkHead(pool, head)));
  return { ok: problems.length === 0, sessions: found.length, checkpoints, problems, orphans, heads: found };
}

async function checkRecords(pool: SessionPool, session: CheckpointSession): Promise<VerifyProblem[]> {
  const problem = (code: string, message: string): VerifyProblem => ({
    sessionId: session.id,
    checkpointId: null,
    code,
    message,
  });
  const { damage } = await checkJournal(pool.backend, [...pool.folderOf(session.id), 'checkpoints']);
  const problems = damage
    .filter(isHarmful)
    .map(({ reason, place, bytes }) => problem('JOURNAL_DAMAGED', `${place}: ${reason}, ${bytes} bytes.`));
  try {
    await session.read();
    await session.log.authenticate();
  } catch (thrown) {
    problems.push(problem(codeOf(thrown), messageOf(thrown)));
  }
  for (const [first, last] of session.log.gaps)
    problems.push(problem('JOURNAL_DAMAGED', `Records ${first} to ${last} are missing.`));
  for (const { seq, reason } of session.log.refused)
    problems.push(
      reason === 'forged'
        ? problem(
            'CHECKPOINT_DAMAGED',
            `Record ${seq} was changed, or put there by somebody without the key.`,
          )
        : problem('UNSUPPORTED_VERSION', `Record ${seq} is of no kind that is known here.`),
    );
  return problems;
}

async function checkContents(
  session: CheckpointSession,
  problems: VerifyProblem[],
  onChecked: () => void,
): Promise<number> {
  const cache = new PackCache();
  const { checkpoints } = session.log.state;
  for (const record of checkpoints) {
    const id = checkpointId({ sessionId: session.id, number: record.number });
    try {
      await session.check(record, cache);
    } catch (thrown) {
      problems.push({
        sessionId: session.id,
        checkpointId: id,
        code: codeOf(thrown),
        message: messageOf(thrown),
      });
    }
    onChecked();
  }
  return checkpoints.length;
}

async function checkHead(pool: SessionPool, head: SessionHead): Promise<VerifyProblem[]> {
  const isThere = await pool.use(head.sessionId, (session) => session.log.holds(head));
  if (isThere) return [];
  const message = `Record ${head.seq} is not what it was: the session was put back to an older state, or replaced.`;
  return [{ sessionId: head.sessionId, checkpointId: null, code: 'CHECKPOINT_DAMAGED', message }];
}

function codeOf(thrown: unknown): string {
  return isRekindleError(thrown) ? thrown.code : 'UNEXPECTED';
}
