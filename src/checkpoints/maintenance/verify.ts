/**
 * Reads and checks everything that is stored. A truncated journal, or a session restored to an older state,
 * looks like one in which less was saved. Only a head stored elsewhere reveals it.
 */
import { isRekindleError, messageOf } from '../../core/errors.js';
import { checkJournal, isHarmful } from '../../storage/journal-check.js';
import { checkpointId, sessionNotFound } from '../checkpoint-id.js';
import type { CheckpointSession } from '../session/checkpoint-session.js';
import { PackCache } from '../session/content-reader.js';
import type { SessionHead } from '../session/session-log.js';
import type { SessionPool } from '../session/session-pool.js';

/** Options of `CheckpointService.verify`. */
export interface VerifyOptions {
  /** Only this session. */
  readonly sessionId?: string;
  /** Heads of an earlier report: checks that nothing before them was removed or changed. */
  readonly heads?: readonly SessionHead[];
  /**
   * Record the status of what was read: `corrupt` if it cannot be loaded, and no longer `corrupt` if it can. Durable. Default false:
   * nothing is changed.
   */
  readonly mark?: boolean;
  readonly onProgress?: (checkpoints: number) => void;
}

/** One problem that `verify` found. */
export interface VerifyProblem {
  readonly sessionId: string;
  /** Null if it concerns the whole session. */
  readonly checkpointId: string | null;
  readonly code: string;
  readonly message: string;
}

/** The result of `CheckpointService.verify`. */
export interface VerifyReport {
  readonly ok: boolean;
  readonly sessions: number;
  /** Number of checkpoints read. All except those in `problems` are exactly as saved. */
  readonly checkpoints: number;
  readonly problems: readonly VerifyProblem[];
  /** Unreferenced data older than the grace time; `prune` removes it. */
  readonly orphans: { readonly blobs: number; readonly bytes: number };
  /** Store them elsewhere and pass them to a later `verify`. */
  readonly heads: readonly SessionHead[];
}

export async function verifyCheckpoints(
  pool: SessionPool,
  graceMs: number,
  { sessionId, heads = [], mark = false, onProgress }: VerifyOptions,
): Promise<VerifyReport> {
  const problems: VerifyProblem[] = [];
  const found: SessionHead[] = [];
  let orphans = { blobs: 0, bytes: 0 };
  let checkpoints = 0;
  const look = (id: string) =>
    pool.use(id, async (session) => {
      const wrong = await checkRecords(pool, session);
      problems.push(...wrong);
      // Without the key nothing can be read; report that once.
      if (wrong.some(({ code }) => code === 'KEY_UNAVAILABLE'))
        checkpoints += session.log.state.checkpoints.length;
      else {
        const { checked, whole, corrupt } = await checkContents(session, problems, () =>
          onProgress?.(checkpoints),
        );
        checkpoints += checked;
        if (mark) await session.setStatus(whole, { corrupt: false });
        if (mark) await session.setStatus(corrupt, { corrupt: true });
      }
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
        ? problem('CHECKPOINT_DAMAGED', `Record ${seq} was changed, or written without the key.`)
        : problem(
            'UNSUPPORTED_VERSION',
            `Record ${seq} has an unknown kind. A newer release may have written it.`,
          ),
    );
  return problems;
}

/** The numbers of the checkpoints that can be loaded, and of those that cannot. Others could not be read now. */
interface Checked {
  readonly checked: number;
  readonly whole: readonly number[];
  readonly corrupt: readonly number[];
}

async function checkContents(
  session: CheckpointSession,
  problems: VerifyProblem[],
  onChecked: () => void,
): Promise<Checked> {
  const cache = new PackCache();
  const whole: number[] = [];
  const corrupt: number[] = [];
  const { checkpoints } = session.log.state;
  for (const record of checkpoints) {
    const id = checkpointId({ sessionId: session.id, number: record.number });
    try {
      await session.check(record, cache);
      whole.push(record.number);
    } catch (thrown) {
      if (isRekindleError(thrown, 'CHECKPOINT_DAMAGED')) corrupt.push(record.number);
      problems.push({
        sessionId: session.id,
        checkpointId: id,
        code: codeOf(thrown),
        message: messageOf(thrown),
      });
    }
    onChecked();
  }
  return { checked: checkpoints.length, whole, corrupt };
}

async function checkHead(pool: SessionPool, head: SessionHead): Promise<VerifyProblem[]> {
  const isThere = await pool.use(head.sessionId, (session) => session.log.holds(head));
  if (isThere) return [];
  const message = `Record ${head.seq} has changed: the session was restored to an older state, or replaced.`;
  return [{ sessionId: head.sessionId, checkpointId: null, code: 'CHECKPOINT_DAMAGED', message }];
}

function codeOf(thrown: unknown): string {
  return isRekindleError(thrown) ? thrown.code : 'UNEXPECTED';
}
