/** `rekindle compact`: summarize old turns now, with the offline summarizer. */
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { CompactionPlan } from '../memory/compaction/compactor.js';
import { assertAgentExists, openMemory } from '../memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../memory/restore/working-context-snapshot-bootstrapper.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { startProgress } from './progress.js';
import { count } from './report-text.js';

interface CompactOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly keepTurns: string;
}

export function addCompactCommand(program: Command): void {
  withCommonOptions(
    program
      .command('compact <agent>')
      .description('summarize old turns now (the traces are kept)')
      .option('--keep-turns <number>', 'recent turns to keep verbatim', '4')
      .option('--dry-run', 'only show what would be summarized'),
  ).action((agentId: string, options: CompactOptions) =>
    runCommand(options, async ({ storage, json, print }) => {
      const rawTailTurns = Number(options.keepTurns);
      if (!Number.isSafeInteger(rawTailTurns) || rawTailTurns < 1) {
        throw new RekindleError('INVALID_ARGUMENT', '--keep-turns must be a whole number of at least 1.', {
          details: { argument: '--keep-turns', given: options.keepTurns },
        });
      }
      await assertAgentExists(storage, agentId);
      const readOnly = options.dryRun === true;
      const opened = await openMemory(storage, agentId, { compaction: { rawTailTurns }, readOnly });
      const progress = startProgress('Compacting', !json);
      try {
        await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null);
        const plan = readOnly ? await opened.memory.planCompaction() : await opened.memory.compact();
        progress.end();
        print(describe(plan, opened.memory.epochId, readOnly), {
          compacted: plan !== null && !readOnly,
          dryRun: readOnly,
          epochId: opened.memory.epochId,
          ...summary(plan),
        });
        return undefined;
      } finally {
        progress.end();
        await opened.close();
      }
    }),
  );
}

function describe(plan: CompactionPlan | null, epochId: number, isDry: boolean): string[] {
  if (plan === null) return ['Nothing to compact: all turns are within --keep-turns.'];
  const tokens = [count(plan.tokensBefore, 'token'), count(plan.tokensAfter, 'token')];
  const turns = count(plan.turnIds.length, 'turn');
  return [
    isDry
      ? `${turns} would be summarized; ${tokens.join(' would become ')}. Nothing was changed.`
      : `${turns} summarized; ${tokens.join(' became ')}. Epoch ${epochId}.`,
    plan.episodic.summary,
  ];
}

function summary(plan: CompactionPlan | null): object {
  if (plan === null) return {};
  const { tokensBefore, tokensAfter, turnIds, episodic, semantic } = plan;
  return { tokensBefore, tokensAfter, turnIds, episodic, semantic };
}
