/**
 * Retention: removes checkpoints beyond the limits, and unreferenced data. Critical checkpoints, and the
 * newest one of each owner in a session, stay.
 */
import { messageOf } from '../../core/errors.js';
import { sessionNotFound } from '../checkpoint-id.js';
import { type CheckpointMetadata, toMetadata } from '../checkpoint-metadata.js';
import { type CheckpointConfig, checkpointConfig } from '../config/checkpoint-config.js';
import { isTooOld, type SaveRecord } from '../session/checkpoint-record.js';
import type { CheckpointSession } from '../session/checkpoint-session.js';
import { byOwner, ownerOf } from '../session/record-owner.js';
import type { SessionPool, SessionProblem } from '../session/session-pool.js';
import type { SessionState } from '../session/session-state.js';
import { OwnerShares } from './owner-shares.js';

/** Options of `CheckpointService.prune`. */
export interface PruneOptions {
  /** Only report what would be removed. */
  readonly dryRun?: boolean;
  /** Only this session; the limit on the bytes of all sessions is then ignored. */
  readonly sessionId?: string;
  /** These three replace the configured limits. */
  readonly maxAgeDays?: number;
  readonly maxCheckpoints?: number;
  readonly orphanGraceMinutes?: number;
}

/** The limit that a removed checkpoint exceeded. */
export type PruneReason = 'age' | 'count' | 'session bytes' | 'total bytes';

/** A removed checkpoint, and why it was removed. */
export interface PrunedCheckpoint {
  readonly checkpoint: CheckpointMetadata;
  readonly why: PruneReason;
}

/** What `prune` removed. */
export interface PruneReport {
  readonly dryRun: boolean;
  readonly removed: readonly PrunedCheckpoint[];
  /** Unreferenced data that was old enough. */
  readonly orphans: { readonly blobs: number; readonly bytes: number };
  /** Bytes of live checkpoints, before and after. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Sessions that were skipped, or pruned only in part. */
  readonly problems: readonly SessionProblem[];
}

type Limits = CheckpointConfig['storage'];

interface Plan {
  readonly sessionId: string;
  readonly state: SessionState;
  readonly goes: Map<number, PruneReason>;
}

export async function prune(
  pool: SessionPool,
  configured: Limits,
  nowMs: number,
  options: PruneOptions,
): Promise<PruneReport> {
  const { dryRun = false, sessionId } = options;
  const limits = checkpointConfig({ storage: { ...configured, ...overrides(options) } }).storage;
  const graceMs = limits.orphanGraceMinutes * 60_000;
  const plans: Plan[] = [];
  const plan = async (id: string) => void plans.push(await planSession(pool, id, limits, nowMs));
  const problems = sessionId === undefined ? await pool.each(plan) : [];
  if (sessionId !== undefined) {
    if (!(await pool.names()).includes(sessionId)) throw sessionNotFound(sessionId);
    await plan(sessionId);
  } else planTotal(plans, limits.maxTotalSize);
  const report = { removed: [] as PrunedCheckpoint[], blobs: 0, bytes: 0, before: 0, after: 0 };
  for (const { sessionId: id, state, goes } of plans) {
    report.before += state.storedBytes();
    const tell = (thrown: unknown) => void problems.push({ sessionId: id, message: messageOf(thrown) });
    await pool.use(id, async (session) => {
      const removed = dryRun ? planned(state, goes) : await carryOut(session, goes).catch(tell);
      for (const record of removed ?? [])
        report.removed.push({ checkpoint: toMetadata(id, record, state), why: goes.get(record.number)! });
      const gone = dryRun ? [...goes.keys()] : [];
      report.after += session.log.state.storedBytes(gone);
      const swept = await session.sweep(graceMs, !dryRun).catch(tell);
      report.blobs += swept?.blobs ?? 0;
      report.bytes += swept?.bytes ?? 0;
    });
  }
  const { removed, blobs, bytes, before, after } = report;
  return { dryRun, removed, orphans: { blobs, bytes }, bytesBefore: before, bytesAfter: after, problems };
}

async function planSession(
  pool: SessionPool,
  sessionId: string,
  limits: Limits,
  nowMs: number,
): Promise<Plan> {
  const state = await pool.use(sessionId, (session) => session.read());
  const goes = new Map<number, PruneReason>();
  const plan = { sessionId, state, goes };
  for (const record of removable(plan))
    if (isTooOld(record, limits.maxAgeDays, nowMs)) goes.set(record.number, 'age');
  for (const own of byOwner(sessionId, left(plan, state.checkpoints)).values()) {
    const excess = own.length - limits.maxCheckpoints;
    const free = own.slice(0, -1).filter(({ number }) => !state.isCritical(number));
    for (const { number } of free.slice(0, Math.max(0, excess))) goes.set(number, 'count');
  }
  const shares = sharesOf([plan]);
  while (state.storedBytes([...goes.keys()]) > limits.maxSessionSize) {
    const next = shares.next();
    if (!next) break;
    goes.set(next.record.number, 'session bytes');
  }
  return plan;
}

function planTotal(plans: readonly Plan[], maxTotalSize: number): void {
  const bytesOf = ({ state, goes }: Plan) => state.storedBytes([...goes.keys()]);
  let total = sum(plans.map(bytesOf));
  const shares = sharesOf(plans);
  while (total > maxTotalSize) {
    const next = shares.next();
    if (!next) return;
    const { plan, record } = next;
    const before = bytesOf(plan);
    plan.goes.set(record.number, 'total bytes');
    total -= before - bytesOf(plan);
  }
}

interface Candidate {
  readonly plan: Plan;
  readonly record: SaveRecord;
}

function sharesOf(plans: readonly Plan[]): OwnerShares<Candidate> {
  const shares = new OwnerShares<Candidate>();
  for (const { sessionId, state } of plans)
    for (const record of state.checkpoints) shares.count(ownerOf(sessionId, record), record.pack.bytes);
  const candidates = plans.flatMap((plan) => left(plan, removable(plan)).map((record) => ({ plan, record })));
  for (const item of candidates.sort((a, b) => (a.record.at < b.record.at ? -1 : 1)))
    shares.offer({ item, owner: ownerOf(item.plan.sessionId, item.record), bytes: item.record.pack.bytes });
  return shares;
}

/** The checkpoints that the plan keeps. */
function left({ goes }: Plan, records: readonly SaveRecord[]): SaveRecord[] {
  return records.filter(({ number }) => !goes.has(number));
}

/** Oldest first: all except critical ones and the newest of each owner. */
function removable({ sessionId, state }: Pick<Plan, 'sessionId' | 'state'>): SaveRecord[] {
  const newest = new Set(
    [...byOwner(sessionId, state.checkpoints).values()].map((own) => own.at(-1)!.number),
  );
  return state.checkpoints.filter(({ number }) => !newest.has(number) && !state.isCritical(number));
}

function planned(state: SessionState, goes: ReadonlyMap<number, PruneReason>): readonly SaveRecord[] {
  return [...goes.keys()].flatMap((number) => state.find(number) ?? []);
}

/** Keeps checkpoints that were marked, or became the newest, meanwhile. */
async function carryOut(
  session: CheckpointSession,
  goes: ReadonlyMap<number, PruneReason>,
): Promise<readonly SaveRecord[]> {
  if (goes.size === 0) return [];
  const decide = (now: SessionState) =>
    removable({ sessionId: session.id, state: now }).flatMap(({ number }) =>
      goes.has(number) ? [number] : [],
    );
  return session.remove(decide, 'pruned');
}

function overrides({ maxAgeDays, maxCheckpoints, orphanGraceMinutes }: PruneOptions): Partial<Limits> {
  return {
    ...(maxAgeDays === undefined ? {} : { maxAgeDays }),
    ...(maxCheckpoints === undefined ? {} : { maxCheckpoints }),
    ...(orphanGraceMinutes === undefined ? {} : { orphanGraceMinutes }),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
