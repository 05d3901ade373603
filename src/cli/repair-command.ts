/**
 * `rekindle repair` and `rekindle rebuild`: repair an agent's files. Damaged files are kept under another
 * name.
 */
import type { Command } from 'commander';
import { type RepairReport, rebuildAgent, repairAgent } from '../memory/maintenance/repair-agent.js';
import type { SegmentRepair } from '../storage/ports.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { startProgress } from './progress.js';
import { count, describeReport } from './report-text.js';
import { repairNamedJournal } from './shared-journals.js';

export function addRepairCommand(program: Command): void {
  withCommonOptions(
    program
      .command('repair <agent>')
      .description(
        'replace damaged journal files with clean copies (the old ones are kept) and rewrite the cache',
      ),
  ).action((name: string, options: CommonOptions) =>
    // No agent id has a slash: `state/agent_state.events` is a journal.
    name.includes('/') ? mendJournal(name, options) : mend(name, options, 'Repairing', repairAgent),
  );
}

export function addRebuildCommand(program: Command): void {
  withCommonOptions(
    program.command('rebuild <agent>').description('rewrite the cache from the traces alone'),
  ).action((agentId: string, options: CommonOptions) => mend(agentId, options, 'Rebuilding', rebuildAgent));
}

function mendJournal(name: string, options: CommonOptions): Promise<void> {
  return runCommand(options, async ({ storage, print }) => {
    const repairs = await repairNamedJournal(storage, name);
    print(describeRepairs(repairs), { name, journals: repairs });
    return undefined;
  });
}

function mend(
  agentId: string,
  options: CommonOptions,
  doing: string,
  run: typeof repairAgent,
): Promise<void> {
  return runCommand(options, async ({ storage, json, print }) => {
    const progress = startProgress(doing, !json);
    let report: RepairReport;
    try {
      report = await run(storage, agentId);
    } finally {
      progress.end();
    }
    print(describe(report), report);
    return undefined;
  });
}

function describe(report: RepairReport): string[] {
  const { snapshot } = report;
  return [
    ...describeRepairs(report.journals),
    snapshot === null
      ? 'The cache could not be written.'
      : `The cache is current (${count(snapshot.bytesWritten, 'byte')} written).`,
    ...(snapshot?.setAside ? [`The old cache is ${snapshot.setAside}.`] : []),
    ...describeReport(report.restore),
  ];
}

function describeRepairs(repairs: readonly SegmentRepair[]): string[] {
  if (repairs.length === 0) return ['No journal file was replaced.'];
  return repairs.map(
    (file) => `${file.place}: ${count(file.ranges, 'damaged place')} left out; the old file is ${file.kept}.`,
  );
}
