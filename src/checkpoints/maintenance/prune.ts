/** Retention: what is too old or too much goes, and data that nothing refers to. What is marked as critical and the newest of a session stay. */
import { messageOf } from '../../core/errors.js';
import { checkpointId } from '../checkpoint-id.js';
import { type CheckpointMetadata, toMetadata } from '../checkpoint-metadata.js';
import type { CheckpointConfig } from '../config/checkpoint-config.js';
import type { SaveRecord } from '../session/checkpoint-record.js';
import type { SessionPool } from '../session/session-pool.js';
import type { SessionState } from '../session/session-state.js';

export interface PruneOptions {
  /** Only say what would go. */
  readonly dryRun?: boolean;
  /** Only this session. The bytes of all of them do not count then. */
  readonly sessionId?: string;
  /** In place of the configured ones. */
  readonly maxAgeDays?: number;
  readonly maxCheckpoints?: number;
  readonly orphanGraceMinutes?: number;
}

export type PruneReason = 'age' | 'count' | 'session bytes' | 'total bytes';

export interface PrunedCheckpoint {
  readonly checkpoint: CheckpointMetadata;
  readonly why: PruneReason;
}

export interface PruneReport {
  readonly dryRun: boolean;
  readonly removed: readonly PrunedCheckpoint[];
  /** Data that nothing referred to, and that was old enough. */
  readonly orphans: { readonly blobs: number; readonly bytes: number };
  /** What live checkpoints take, before and after. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Sessions that were left alone, or in part. */
  readonly problems: readonly { readonly sessionId: string; readonly message: string }[];
}

type Limits = CheckpointConfig['storage'];

interface Plan {
  readonly sessionId: string;
  readonly state: SessionState;
  readonly goes: Map<number, PruneReason>;
}

const DAY_MS = 86_400_000;

export async function prune(
  pool: SessionPool,
  configured: Limits,
  nowMs: number,
  options: PruneOptions,
): Promise<PruneReport> {
  const { dryRun = false, sessionId } = options;
  const limits = { ...configured, ...withoutUndefined(options) };
  const plans: Plan[] = [];
  for (const id of sessionId === undefined ? await pool.names() : [sessionId])
    plans.push({ sessionId: id, ...(await planSession(pool, id, limits, nowMs)) });
  if (sessionId === undefined) planTotal(plans, limits.maxTotalSize);
  const bytesBefore = sum(plans.map(({ state }) => state.storedBytes()));
  const bytesAfter = sum(plans.map(({ state, goes }) => state.storedBytes([...goes.keys()])));
  const problems: { sessionId: string; message: string }[] = [];
  const removed = plans.flatMap(describe);
  let orphans = { blobs: 0, bytes: 0 };
  for (const plan of plans) {
    try {
      const swept = await carryOut(pool, plan, limits.orphanGraceMinutes * 60_000, dryRun);
      orphans = { blobs: orphans.blobs + swept.blobs, bytes: orphans.bytes + swept.bytes };
    } catch (thrown) {
      problems.push({ sessionId: plan.sessionId, message: messageOf(thrown) });
    }
  }
  const failed = new Set(problems.map((problem) => problem.sessionId));
  return {
    dryRun,
    removed: removed.filter(({ checkpoint }) => !failed.has(checkpoint.sessionId)),
    orphans,
    bytesBefore,
    bytesAfter,
    problems,
  };
}

async function planSession(pool: SessionPool, id: string, limits: Limits, nowMs: number) {
  const state = await pool.use(id, (session) => session.read());
  const goes = new Map<number, PruneReason>();
  const free = removable(state);
  for (const { number, at } of free)
    if (nowMs - Date.parse(at) > limits.maxAgeDays * DAY_MS) goes.set(number, 'age');
  const left = () => free.filter(({ number }) => !goes.has(number));
  const excess = state.checkpoints.length - goes.size - limits.maxCheckpoints;
  for (const { number } of left().slice(0, Math.max(0, excess))) goes.set(number, 'count');
  for (const { number } of left()) {
    if (state.storedBytes([...goes.keys()]) <= limits.maxSessionSize) break;
    goes.set(number, 'session bytes');
  }
  return { state, goes };
}

/** The oldest of all sessions go first. */
function planTotal(plans: readonly Plan[], maxTotalSize: number): void {
  const bytesOf = ({ state, goes }: Plan) => state.storedBytes([...goes.keys()]);
  let total = sum(plans.map(bytesOf));
  const candidates = plans
    .flatMap((plan) => removable(plan.state).map((record) => ({ plan, record })))
    .filter(({ plan, record }) => !plan.goes.has(record.number))
    .sort((a, b) => (a.record.at < b.record.at ? -1 : 1));
  for (const { plan, record } of candidates) {
    if (total <= maxTotalSize) return;
    const before = bytesOf(plan);
    plan.goes.set(record.number, 'total bytes');
    total -= before - bytesOf(plan);
  }
}

/** Oldest first. */
function removable(state: SessionState): SaveRecord[] {
  return state.checkpoints.slice(0, -1).filter(({ number }) => !state.isCritical(number));
}

/** What was marked, or became the newest, meanwhile stays. */
async function carryOut(pool: SessionPool, { sessionId, goes }: Plan, graceMs: number, dryRun: boolean) {
  return pool.use(sessionId, async (session) => {
    if (goes.size > 0 && !dryRun) {
      const decide = (now: SessionState) =>
        removable(now).flatMap(({ number }) => (goes.has(number) ? [number] : []));
      await session.remove(decide, 'pruned');
    }
    return session.sweep(graceMs, !dryRun);
  });
}

function describe({ sessionId, state, goes }: Plan): PrunedCheckpoint[] {
  return [...goes].map(([number, why]) => {
    const record = state.find(number);
    if (!record) throw new RangeError(`${checkpointId({ sessionId, number })} is not there`);
    return { checkpoint: toMetadata(sessionId, record, false), why };
  });
}

function withoutUndefined({ maxAgeDays, maxCheckpoints, orphanGraceMinutes }: PruneOptions): Partial<Limits> {
  return {
    ...(maxAgeDays === undefined ? {} : { maxAgeDays }),
    ...(maxCheckpoints === undefined ? {} : { maxCheckpoints }),
    ...(orphanGraceMinutes === undefined ? {} : { orphanGraceMinutes }),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
