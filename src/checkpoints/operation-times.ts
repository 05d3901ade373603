/** How long the calls of the service take, and which of them are slow. */
import { isRekindleError } from '../core/errors.js';
import { type CheckpointConfig, DEFAULT_CONFIG } from './config/checkpoint-config.js';

/** `change`: a mark, an archiving or a deletion. */
export type OperationKind = 'save' | 'load' | 'list' | 'metadata' | 'change';

/** A call of `CheckpointService` that has ended. */
export interface CheckpointOperation {
  readonly operation: OperationKind;
  readonly ms: number;
  /** The code of its error; null if it succeeded, `UNEXPECTED` without a code. */
  readonly code: string | null;
  /** From `targets` of the configuration. */
  readonly targetMs: number;
  /** Whether it took longer than its target. */
  readonly isSlow: boolean;
}

type Targets = CheckpointConfig['targets'];

/** At most one warning in this time for each kind. */
const WARN_EVERY_MS = 60_000;

export class OperationTimes {
  readonly #report: (operation: CheckpointOperation) => void;
  readonly #warnedAt = new Map<OperationKind, number>();

  constructor(report?: (operation: CheckpointOperation) => void) {
    this.#report = report ?? ((operation) => this.#warn(operation));
  }

  /** @param targets undefined while the configuration is not read @throws what the work throws */
  async timed<T>(
    operation: OperationKind,
    work: () => Promise<T>,
    targets: () => Promise<Targets | undefined>,
  ): Promise<T> {
    const start = performance.now();
    let code: string | null = null;
    try {
      return await work();
    } catch (thrown) {
      code = isRekindleError(thrown) ? thrown.code : 'UNEXPECTED';
      throw thrown;
    } finally {
      const ms = performance.now() - start;
      const targetMs = targetOf(
        operation,
        (await targets().catch(() => undefined)) ?? DEFAULT_CONFIG.targets,
      );
      this.#tell({ operation, ms, code, targetMs, isSlow: ms > targetMs });
    }
  }

  #tell(operation: CheckpointOperation): void {
    try {
      this.#report(operation);
    } catch {
      // The operation has ended; a fault of its listener does not change the outcome.
    }
  }

  /** The way Node.js does: on standard error, and to listeners of `process.on('warning')`. */
  #warn({ operation, ms, targetMs, isSlow }: CheckpointOperation): void {
    const now = performance.now();
    if (!isSlow || now - (this.#warnedAt.get(operation) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return;
    this.#warnedAt.set(operation, now);
    const took = `A checkpoint operation (${operation}) took ${Math.round(ms)} ms; its target is ${targetMs} ms.`;
    process.emitWarning(took, { type: 'RekindleWarning', code: 'REKINDLE_SLOW' });
  }
}

function targetOf(operation: OperationKind, { saveMs, loadMs, queryMs }: Targets): number {
  if (operation === 'load') return loadMs;
  return operation === 'save' || operation === 'change' ? saveMs : queryMs;
}
