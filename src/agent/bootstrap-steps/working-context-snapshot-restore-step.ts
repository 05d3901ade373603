import { WorkingContextSnapshotBootstrapper } from '../../memory/restore/working-context-snapshot-bootstrapper.js';
import type { AgentContext } from '../context/agent-context.js';
import type { BootstrapStep } from './bootstrap-step.js';

/** Restores the working context if `restoreOptions` are set; else does nothing. */
export class WorkingContextSnapshotRestoreStep implements BootstrapStep {
  readonly name = 'working-context-restore';
  readonly #bootstrapper: WorkingContextSnapshotBootstrapper;

  constructor(bootstrapper: WorkingContextSnapshotBootstrapper | null = null) {
    this.#bootstrapper = bootstrapper ?? new WorkingContextSnapshotBootstrapper();
  }

  async execute({ memory, state }: AgentContext): Promise<void> {
    if (state.restoreOptions === null) return;
    const report = await this.#bootstrapper.bootstrap(memory, state.systemPrompt, state.restoreOptions);
    state.report = state.fromCheckpoint === null ? report : { ...report, source: 'checkpoint' };
  }
}
