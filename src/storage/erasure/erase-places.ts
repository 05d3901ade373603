/**
 * Erases everything below some names, and parts of shared places. A durable marker is written first; then everything is
 * erased under all its leases; the marker is removed last. After a crash, the same call continues.
 */
import type { JsonObject } from '../../core/json.js';
import type { Lease, Name, StorageBackend, StoredPlace } from '../ports.js';
import { deleteMarker, type ErasureTarget, readMarker, unfinished, writeMarker } from './erasure-marker.js';
import { amountOf, type ErasureReport, reportOf } from './erasure-report.js';

/** Data of the target in a place that it shares with others. */
export interface SharedPart {
  look(): Promise<readonly StoredPlace[]>;
  /** Takes the leases that it needs. Idempotent. */
  erase(): Promise<void>;
}

export interface ErasurePlan {
  readonly target: ErasureTarget;
  /** The lease that covers the whole plan; it is taken first. */
  readonly lease: Name;
  readonly trees: readonly Name[];
  readonly parts?: readonly SharedPart[];
  /** See `ErasureMarker`. */
  readonly guards?: readonly Name[];
  readonly scope?: JsonObject;
}

export interface ErasePlacesOptions {
  /** Only reports what would be erased. Takes no lease and writes nothing. */
  readonly dryRun?: boolean;
  /** See `StorageBackend.scrub`. */
  readonly quick?: boolean;
  /** The lease of the plan, if the caller already holds it. It is not released. */
  readonly held?: Lease;
  /** Milliseconds to wait for the lease of the plan. Default 0: LEASE_HELD at once. */
  readonly waitMs?: number;
}

/** Writers below an agent release their leases within a second when they have nothing to write. */
const WAIT_MS = 3_000;

/** @throws LEASE_HELD while part of it is in use, ERASURE_UNFINISHED if something is left afterwards, and what storage throws */
export async function erasePlaces(
  backend: StorageBackend,
  plan: ErasurePlan,
  options: ErasePlacesOptions = {},
): Promise<ErasureReport> {
  const { target } = plan;
  if (options.dryRun) {
    const marker = await readMarker(backend, target);
    return reportOf({ target, resumed: marker !== null }, await placesOf(backend, plan), null);
  }
  const main = options.held ?? (await backend.leases.acquire(plan.lease, { waitMs: options.waitMs ?? 0 }));
  try {
    return await eraseUnder(backend, plan, main, options.quick ?? false);
  } finally {
    if (!options.held) await main.release().catch(() => {}); // what was erased stays erased; a lease that is left expires
  }
}

async function eraseUnder(
  backend: StorageBackend,
  given: ErasurePlan,
  main: Lease,
  quick: boolean,
): Promise<ErasureReport> {
  const { target } = given;
  const marker = await readMarker(backend, target);
  const plan = { ...given, trees: union(given.trees, marker?.trees ?? []) };
  const leases = await leasesOf(backend, plan);
  try {
    const before = marker?.places ?? (await placesOf(backend, plan));
    if (!marker) {
      const { trees, guards, scope } = plan;
      const about = { ...(guards ? { guards } : {}), ...(scope ? { scope } : {}) };
      await writeMarker(backend, { target, trees, places: before, ...about });
    }
    for (const tree of plan.trees) await backend.removeBelow(tree, main);
    for (const part of plan.parts ?? []) await part.erase();
    await backend.scrub({ quick });
    const after = await placesOf(backend, plan);
    const left = amountOf(after);
    if (left.items > 0)
      throw unfinished(target, 'Something was written meanwhile', {
        places: after.map(({ place }) => place),
      });
    await deleteMarker(backend, target);
    return reportOf({ target, resumed: marker !== null }, before, after);
  } finally {
    for (const lease of leases) await lease.release().catch(() => {});
  }
}

/** Takes every lease below, except that of the plan. @throws LEASE_HELD */
async function leasesOf(backend: StorageBackend, plan: ErasurePlan): Promise<Lease[]> {
  const own = plan.lease.join('/');
  const taken: Lease[] = [];
  try {
    for (const tree of plan.trees)
      for (const name of await backend.leases.list(tree))
        if (name.join('/') !== own) taken.push(await backend.leases.acquire(name, { waitMs: WAIT_MS }));
    return taken;
  } catch (thrown) {
    for (const lease of taken) await lease.release().catch(() => {}); // the first error is the one to report
    throw thrown;
  }
}

async function placesOf(
  backend: StorageBackend,
  { trees, parts = [] }: Pick<ErasurePlan, 'trees' | 'parts'>,
): Promise<StoredPlace[]> {
  const places: StoredPlace[] = [];
  for (const tree of trees) for await (const place of backend.places(tree)) places.push(place);
  for (const part of parts) places.push(...(await part.look()));
  return places;
}

function union(a: readonly Name[], b: readonly Name[]): Name[] {
  return [...new Map([...a, ...b].map((name) => [JSON.stringify(name), name])).values()];
}
