/**
 * The line in front of a lease. Callers in one process wait in the order of their calls, and only the first one polls
 * the store, so a hundred requests for one agent cost as much as one. It polls as soon as this process releases the
 * lease, and every few milliseconds for the sake of other processes.
 */
import { isRekindleError, RekindleError } from '../core/errors.js';
import type { Lease, LeaseOptions, Name } from './ports.js';

const LOOK_AGAIN_MS = 15;
/** Polling interval for long waits. */
const LOOK_AGAIN_MAX_MS = 100;
/** Timers accept at most about 24 days. */
const SLEEP_MAX_MS = 60_000;

interface Place {
  /** Ends its sleep. */
  wake: () => void;
}

interface Line {
  readonly places: Place[];
  /** The last LEASE_HELD error of the first in the line. */
  held: RekindleError | null;
}

const lines = new Map<string, Line>();

/** This process released the lease, so the first in the line polls now. @param key of the store and the name */
export function wakeLine(key: string): void {
  lines.get(key)?.places[0]?.wake();
}

/** @throws INVALID_ARGUMENT */
export function waitMsOf({ waitMs = 0 }: LeaseOptions): number {
  if (typeof waitMs === 'number' && waitMs >= 0) return waitMs;
  throw new RekindleError('INVALID_ARGUMENT', '`waitMs` must be a number of milliseconds, 0 or more.', {
    details: { argument: 'waitMs' },
  });
}

/**
 * @param attempt takes the lease, or throws LEASE_HELD
 * @throws LEASE_HELD when the time is over, ABORTED, and what `attempt` throws
 */
export async function acquireInLine(
  key: string,
  name: Name,
  options: LeaseOptions,
  attempt: () => Promise<Lease>,
): Promise<Lease> {
  const line = lines.get(key) ?? { places: [], held: null };
  lines.set(key, line);
  const place: Place = { wake: () => {} };
  line.places.push(place);
  try {
    return await waitInLine(line, place, name, options, attempt);
  } finally {
    line.places.splice(line.places.indexOf(place), 1);
    if (line.places.length === 0) lines.delete(key);
    line.places[0]?.wake();
  }
}

async function waitInLine(
  line: Line,
  place: Place,
  name: Name,
  options: LeaseOptions,
  attempt: () => Promise<Lease>,
): Promise<Lease> {
  const { signal } = options;
  const started = performance.now();
  const waitMs = waitMsOf(options);
  for (;;) {
    if (signal?.aborted) throw aborted(name, signal);
    const isFirst = line.places[0] === place;
    const lease = isFirst ? await attemptOnce(line, attempt) : null;
    if (lease) return unlessAborted(name, lease, signal);
    const waitedMs = performance.now() - started;
    if (waitedMs >= waitMs) throw line.held ?? inUse(name);
    const again = isFirst ? LOOK_AGAIN_MS * (0.5 + Math.random()) + waitedMs / 100 : SLEEP_MAX_MS;
    const longest = isFirst ? LOOK_AGAIN_MAX_MS : SLEEP_MAX_MS;
    await sleepUntilWoken(place, Math.min(again, longest, waitMs - waitedMs), signal);
  }
}

async function attemptOnce(line: Line, attempt: () => Promise<Lease>): Promise<Lease | null> {
  try {
    return await attempt();
  } catch (thrown) {
    if (!isRekindleError(thrown, 'LEASE_HELD')) throw thrown;
    line.held = thrown;
    return null;
  }
}

/** A lease that arrives after its caller aborted is released. */
async function unlessAborted(name: Name, lease: Lease, signal: AbortSignal | undefined): Promise<Lease> {
  if (!signal?.aborted) return lease;
  await lease.release().catch(() => {}); // it expires then
  throw aborted(name, signal);
}

function inUse(name: Name): RekindleError {
  return new RekindleError(
    'LEASE_HELD',
    `${name.join('/')} is in use, and other callers are waiting for it.`,
    {
      details: { name: name.join('/') },
    },
  );
}

function aborted(name: Name, signal: AbortSignal): RekindleError {
  return new RekindleError('ABORTED', `The wait for ${name.join('/')} was cancelled.`, {
    details: { name: name.join('/') },
    cause: signal.reason,
  });
}

function sleepUntilWoken(place: Place, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      place.wake = () => {};
      resolve();
    };
    const timer = setTimeout(end, ms);
    place.wake = end;
    signal?.addEventListener('abort', end, { once: true });
  });
}
