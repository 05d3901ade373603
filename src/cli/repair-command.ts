/** `rekindle repair`, `rekindle rebuild`: mend an agent's files on request. What was damaged is kept under another name. */
import type { Command } from 'commander';
import { type RepairReport, rebuildAgent, repairAgent } from '../memory/maintenance/repair-agent.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { startProgress } from './progress.js';
import { count, describeReport } from './report-text.js';

export function addRepairCommand(program: Command): void {
  withCommonOptions(
    program
      .command('repair <agent>')
      .description(
        'replace damaged journal files by clean copies (the old ones are kept) and renew the cache',
      ),
  ).action((agentId: string, options: CommonOptions) => mend(agentId, options, 'Repairing', repairAgent));
}

export function addRebuildCommand(program: Command): void {
  withCommonOptions(
    program.command('rebuild <agent>').description('write the cache anew from the traces alone'),
  ).action((agentId: string, options: CommonOptions) => mend(agentId, options, 'Rebuilding', rebuildAgent));
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
    ...report.journals.map(
      (file) =>
        `${file.place}: ${count(file.ranges, 'damaged place')} left out; the old file is ${file.kept}.`,
    ),
    ...(report.journals.length === 0 ? ['No journal file was replaced.'] : []),
    snapshot === null
      ? 'The cache could not be written.'
      : `The cache is current (${count(snapshot.bytesWritten, 'byte')} written).`,
    ...(snapshot?.setAside ? [`The old cache is ${snapshot.setAside}.`] : []),
    ...describeReport(report.restore),
  ];
}
