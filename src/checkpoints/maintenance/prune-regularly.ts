/** Prunes a store from time to time, as long as a server runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckpointService } from '../checkpoint-service.js';

/** Options of `pruneRegularly`. */
export interface RegularPruneOptions {
  /** Ends it. A prune that runs is not waited for. */
  readonly signal: AbortSignal;
  readonly prune: () => Promise<void>;
  /** Called with what a prune throws; the next one comes as planned. */
  readonly onFailed: (thrown: unknown) => void;
  /** Time until the first prune, in ms. Default: one minute, so that a start is not slowed down. */
  readonly firstMs?: number;
}

const HOUR_MS = 3_600_000;
const FIRST_MS = 60_000;

/** Prunes soon, and then every `pruneEveryHours` of the configuration. Resolves when the signal ends it, or at once if it is null. */
export async function pruneRegularly(
  service: CheckpointService,
  { signal, prune, onFailed, firstMs = FIRST_MS }: RegularPruneOptions,
): Promise<void> {
  let waitMs = firstMs;
  while (await slept(waitMs, signal)) {
    try {
      const { pruneEveryHours } = (await service.config()).storage;
      if (pruneEveryHours === null) return;
      waitMs = pruneEveryHours * HOUR_MS;
      await prune();
    } catch (thrown) {
      waitMs = Math.max(waitMs, HOUR_MS);
      if (!signal.aborted) onFailed(thrown);
    }
  }
}

/** False if the signal came first. Does not keep the process alive. */
async function slept(ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal, ref: false }).catch(() => false);
}
