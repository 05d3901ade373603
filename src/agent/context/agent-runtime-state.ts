import type { OpenMemory } from '../../memory/open-memory.js';
import type { RestoreReport } from '../../memory/restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  type WorkingContextSnapshotBootstrapOptionsInit,
} from '../../memory/restore/working-context-snapshot-bootstrapper.js';
import type { FromCheckpoint } from '../checkpoints/from-checkpoint.js';
import type { ToolRegistry } from '../tools/tool-registry.js';

/**
 * State of one run of an agent. The bootstrap steps fill it in. `restoreOptions` requests a restore; null: a
 * new agent.
 */
export class AgentRuntimeState {
  #restoreOptions: WorkingContextSnapshotBootstrapOptions | null = null;
  /** The checkpoint that the agent begins from; null: it exists already, or is new. */
  fromCheckpoint: FromCheckpoint | null = null;
  memory: OpenMemory | null = null;
  registry: ToolRegistry | null = null;
  systemPrompt: string | null = null;
  report: RestoreReport | null = null;

  /** Whole, with the defaults of what was left out. */
  get restoreOptions(): WorkingContextSnapshotBootstrapOptions | null {
    return this.#restoreOptions;
  }

  /** Takes a plain object, too. Null: a new agent. */
  set restoreOptions(given: WorkingContextSnapshotBootstrapOptionsInit | null) {
    this.#restoreOptions = given ? new WorkingContextSnapshotBootstrapOptions(given) : null;
  }
}
