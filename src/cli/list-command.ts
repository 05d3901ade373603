/** `rekindle list`: the agents in a folder. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { type AgentSummary, listAgents } from '../memory/maintenance/agent-summary.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { excerpt } from './safe-text.js';

export function addListCommand(program: Command): void {
  withCommonOptions(program.command('list').description('list the agents in the memory folder')).action(
    (options: CommonOptions) =>
      runCommand(options, async ({ storage, print }) => {
        const agents = await listAgents(storage);
        const none = [`No agents in ${storage.place}.`, 'Start one with: rekindle chat --agent my-agent'];
        print(agents.length === 0 ? none : [table(agents)], { dir: storage.place, agents });
        return undefined;
      }),
  );
}

function table(agents: readonly AgentSummary[]): string {
  const rows = new Table({
    head: ['agent', 'status', 'messages', 'epoch', 'traces', 'cache', 'last trace'],
    style: { head: [], border: [] },
  });
  for (const agent of agents) {
    rows.push([
      excerpt(agent.agentId, 48),
      agent.status,
      agent.messages ?? '-',
      agent.epochId ?? '-',
      agent.traces,
      agent.snapshot,
      agent.lastTraceTs === null
        ? '-'
        : new Date(agent.lastTraceTs * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
    ]);
  }
  return rows.toString();
}
