/** `rekindle verify`: reads everything of one agent, or of all, and says what is wrong. Exit code 1 when something is. */
import type { Command } from 'commander';
import { listAgentIds } from '../memory/maintenance/agent-summary.js';
import { type VerifyReport, verifyAgent } from '../memory/maintenance/verify-agent.js';
import { assertAgentExists } from '../memory/open-memory.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { startProgress } from './progress.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';

export function addVerifyCommand(program: Command): void {
  withCommonOptions(
    program
      .command('verify [agent]')
      .description('check every record, artifact and cache of an agent, or of all (changes nothing)'),
  ).action((agentId: string | undefined, options: CommonOptions) =>
    runCommand(options, async ({ storage, json, print }) => {
      if (agentId !== undefined) await assertAgentExists(storage, agentId);
      const agents = agentId === undefined ? await listAgentIds(storage) : [agentId];
      const progress = startProgress('Reading', !json);
      const reports: VerifyReport[] = [];
      try {
        for (const agent of agents) {
          const say = (step: string, records: number) =>
            progress.say(`${excerpt(agent, 40)}: ${step}, ${count(records, 'record')}`);
          reports.push(await verifyAgent(storage, agent, say));
        }
      } finally {
        progress.end();
      }
      const ok = reports.every((report) => report.ok);
      print(
        reports.length === 0
          ? ['There are no agents here.']
          : reports.flatMap((report) => describe(report, options.dir)),
        {
          ok,
          agents: reports,
        },
      );
      return ok ? EXIT.ok : EXIT.problem;
    }),
  );
}

function describe(report: VerifyReport, dir: string | undefined): string[] {
  const records = report.journals.reduce((sum, journal) => sum + journal.records, 0);
  const head = `${report.ok ? 'ok     ' : 'DAMAGED'} ${excerpt(report.agentId, 48)}: ${count(records, 'record')}, ${count(report.artifacts.count, 'artifact')}`;
  const same = report.cacheEqualsRebuild === true ? ', cache equals rebuild' : '';
  const notes = report.journals.flatMap((journal) =>
    journal.damage.map(
      (item) =>
        `          ${item.place}: ${item.reason}, ${count(item.bytes, 'byte')} at ${item.cursor.offset}`,
    ),
  );
  const where = dir === undefined ? '' : `--dir ${shellWord(dir)} `;
  const id = `${report.agentId.startsWith('-') ? '-- ' : ''}${shellWord(report.agentId)}`;
  const advice = !report.ok && isMendable(report) ? [`        Run: rekindle repair ${where}${id}`] : [];
  return [`${head}${same}`, ...report.problems.map((problem) => `        ${problem}`), ...notes, ...advice];
}

/** A missing artifact, or a newer release's cache, is nothing that `repair` could mend. */
function isMendable({ journals, cacheEqualsRebuild, restore }: VerifyReport): boolean {
  const refused = restore?.cacheRefused?.reason ?? 'missing';
  const badCache = refused !== 'missing' && refused !== 'unsupported';
  return badCache || cacheEqualsRebuild === false || journals.some((journal) => journal.damage.length > 0);
}

/** As one word of a shell: the line is meant to be copied. */
function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
