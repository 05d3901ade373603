/** `rekindle copy`: agents, or a whole store, to another backend. */
import type { Command } from 'commander';
import { resolveMemoryBaseDir } from '../agent/context/memory-base-dir.js';
import { listAgents } from '../memory/maintenance/agent-summary.js';
import { type AgentCopy, copyAgent } from '../memory/maintenance/copy-agent.js';
import { type CopyProgress, type CopyResult, copyStorage } from '../storage/copy-storage.js';
import { openStorage } from '../storage/open-storage.js';
import type { StorageBackend } from '../storage/ports.js';
import { type CommandContext, runCommand } from './command-context.js';
import { startProgress } from './progress.js';

interface CopyCommandOptions {
  readonly from: string;
  readonly to: string;
  readonly agent?: readonly string[];
  readonly json?: boolean;
}

export function addCopyCommand(program: Command): void {
  program
    .command('copy')
    .description('copy agents and everything beside them to another store, and verify the copy')
    .requiredOption('--from <place>', 'folder or URL (file:, sqlite:, postgres:) to copy from')
    .requiredOption('--to <place>', 'folder or URL to copy to; nothing there is overwritten')
    .option('-a, --agent <id...>', 'only these agents (default: all, with state, workspaces and checkpoints)')
    .option('--json', 'print JSON')
    .action((options: CopyCommandOptions) =>
      runCommand({ dir: options.from, ...(options.json ? { json: true } : {}) }, (context) =>
        copy(context, options),
      ),
    );
}

async function copy(context: CommandContext, options: CopyCommandOptions): Promise<undefined> {
  const { storage: from, json, print } = context;
  const to = openStorage(resolveMemoryBaseDir(options.to));
  const progress = startProgress('copying', !json);
  const onProgress = ({ stored, items }: CopyProgress) => progress.say(`${stored.name.join('/')}: ${items}`);
  try {
    const agents = await copyAgents(from, to, options.agent, onProgress);
    const rest = options.agent ? null : await copyRest(from, to, onProgress);
    progress.end();
    print(describe(agents, rest, to.place), {
      from: from.place,
      to: to.place,
      agents: agents.map((copied) => ({ ...copied })),
      rest: rest && { ...rest },
    });
  } finally {
    progress.end();
    await to.close();
  }
  return undefined;
}

async function copyAgents(
  from: StorageBackend,
  to: StorageBackend,
  named: readonly string[] | undefined,
  onProgress: (progress: CopyProgress) => void,
): Promise<AgentCopy[]> {
  const ids = named ?? (await listAgents(from)).map(({ agentId }) => agentId);
  const copied: AgentCopy[] = [];
  for (const id of ids) copied.push(await copyAgent(from, to, id, { onProgress }));
  return copied;
}

/** The token of a server stays where it is: it is that server's. */
function copyRest(
  from: StorageBackend,
  to: StorageBackend,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyResult> {
  return copyStorage(from, to, { except: [['agents'], ['server']], onProgress });
}

function describe(agents: readonly AgentCopy[], rest: CopyResult | null, place: string): string[] {
  const lines = agents.map(
    ({ agentId, records, blobs, messages }) =>
      `${agentId}: ${records} records, ${blobs} artifacts; restores to the same ${messages} messages.`,
  );
  if (agents.length === 0) lines.push('No agents to copy.');
  if (rest && rest.journals + rest.documents + rest.blobs > 0) {
    const { records, documents, blobs } = rest;
    lines.push(`State, workspaces, checkpoints: ${records} records, ${documents} documents, ${blobs} blobs.`);
  }
  return [...lines, `Copied to ${place} and verified.`];
}
