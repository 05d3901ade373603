/**
 * `rekindle verify`: reads everything of one agent or of all, and reports problems. Exit code 1 if there are
 * any.
 */
import type { Command } from 'commander';
import { listAgentIds } from '../memory/maintenance/agent-summary.js';
import { type VerifyReport, verifyAgent } from '../memory/maintenance/verify-agent.js';
import { assertAgentExists } from '../memory/open-memory.js';
import type { JournalDamage } from '../storage/ports.js';
import { type StorePart, storeParts } from '../storage/tenants/store-parts.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { type Progress, startProgress } from './progress.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { checkSharedJournals, type SharedJournalReport } from './shared-journals.js';
import { commandLine } from './shell-word.js';
import { tenantAddress } from './tenant-address.js';

export function addVerifyCommand(program: Command): void {
  withCommonOptions(
    program
      .command('verify [agent]')
      .description('check every record, artifact and cache of an agent, or of everything (changes nothing)'),
  ).action((agentId: string | undefined, options: CommonOptions) =>
    runCommand(options, async ({ storage, json, print }) => {
      if (agentId !== undefined) await assertAgentExists(storage, agentId);
      const progress = startProgress('Reading', !json);
      const parts = agentId === undefined ? await storeParts(storage) : [{ tenant: null, storage }];
      const reports: PartReport[] = [];
      try {
        for (const part of parts) reports.push(await verifyPart(part, agentId, progress));
      } finally {
        progress.end();
      }
      const ok = reports.every((part) => [...part.agents, ...part.shared].every((report) => report.ok));
      const lines = reports.flatMap((part) => describePart(part, options.dir));
      const [{ agents, shared } = { agents: [], shared: [] }, ...tenants] = reports;
      print(lines.length === 0 ? ['No agents here.'] : lines, { ok, agents, shared, tenants });
      return ok ? EXIT.ok : EXIT.problem;
    }),
  );
}

/** What was found in one part of the store. */
interface PartReport {
  readonly tenant: string | null;
  readonly agents: readonly VerifyReport[];
  readonly shared: readonly SharedJournalReport[];
}

async function verifyPart(
  { tenant, storage }: StorePart,
  agentId: string | undefined,
  progress: Progress,
): Promise<PartReport> {
  const agents: VerifyReport[] = [];
  for (const agent of agentId === undefined ? await listAgentIds(storage) : [agentId]) {
    const say = (step: string, records: number) =>
      progress.say(`${excerpt(agent, 40)}: ${step}, ${count(records, 'record')}`);
    agents.push(await verifyAgent(storage, agent, say));
  }
  return { tenant, agents, shared: agentId === undefined ? await checkSharedJournals(storage) : [] };
}

function describePart({ tenant, agents, shared }: PartReport, given: string | undefined): string[] {
  const dir = tenantAddress(given, tenant);
  const lines = [
    ...agents.flatMap((report) => describe(report, dir)),
    ...shared.flatMap((report) => describeShared(report, dir)),
  ];
  return tenant === null || lines.length === 0 ? lines : [`Tenant ${excerpt(tenant, 60)}:`, ...lines];
}

function describe(report: VerifyReport, dir: string | undefined): string[] {
  const records = report.journals.reduce((sum, journal) => sum + journal.records, 0);
  const head = `${report.ok ? 'ok     ' : 'DAMAGED'} ${excerpt(report.agentId, 48)}: ${count(records, 'record')}, ${count(report.artifacts.count, 'artifact')}`;
  const same = report.cacheEqualsRebuild === true ? ', cache equals rebuild' : '';
  const notes = report.journals.flatMap((journal) => journal.damage.map(describeDamage));
  const advice = !report.ok && isMendable(report) ? [repairAdvice(report.agentId, dir)] : [];
  const busy = report.isAtWork ? ', running: cache and rebuild were read at different times' : '';
  return [
    `${head}${same}${busy}`,
    ...report.problems.map((problem) => `        ${problem}`),
    ...notes,
    ...advice,
  ];
}

function describeShared(report: SharedJournalReport, dir: string | undefined): string[] {
  const head = `${report.ok ? 'ok     ' : 'DAMAGED'} ${excerpt(report.name, 80)}: ${count(report.records, 'record')}`;
  return [head, ...report.damage.map(describeDamage), ...(report.ok ? [] : [repairAdvice(report.name, dir)])];
}

function describeDamage({ place, reason, bytes, cursor }: JournalDamage): string {
  return `          ${place}: ${reason}, ${count(bytes, 'byte')} at ${cursor.offset}`;
}

function repairAdvice(name: string, dir: string | undefined): string {
  return `        Run: ${commandLine('repair', dir, name)}`;
}

/** `repair` cannot fix a missing artifact, or a newer release's cache. */
function isMendable({ journals, cacheEqualsRebuild, restore }: VerifyReport): boolean {
  const refused = restore?.cacheRefused?.reason ?? 'missing';
  const badCache = refused !== 'missing' && refused !== 'unsupported';
  return badCache || cacheEqualsRebuild === false || journals.some((journal) => journal.damage.length > 0);
}
