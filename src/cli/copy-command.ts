/** `rekindle copy`: copies agents or a whole store to another backend. */
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import { listAgents } from '../memory/maintenance/agent-summary.js';
import { type AgentCopy, copyAgent } from '../memory/maintenance/copy-agent.js';
import { type CopyProgress, type CopyResult, copyStorage } from '../storage/copy-storage.js';
import { resolveMemoryBaseDir } from '../storage/memory-base-dir.js';
import { openStorage } from '../storage/open-storage.js';
import type { StorageBackend } from '../storage/ports.js';
import { type CommandContext, runCommand } from './command-context.js';
import { startProgress } from './progress.js';
import { count } from './report-text.js';

interface CopyCommandOptions {
  readonly from: string;
  readonly to: string;
  readonly agent?: readonly string[];
  readonly json?: boolean;
}

export function addCopyCommand(program: Command): void {
  program
    .command('copy')
    .description('copy agents and all other data to another store, and verify the copy')
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
  if (to.place === from.place) {
    throw new RekindleError('INVALID_ARGUMENT', `${from.place} cannot be copied to itself.`, {
      details: { argument: '--to' },
    });
  }
  const progress = startProgress('copying', !json);
  const onProgress = ({ stored, items }: CopyProgress) => progress.say(`${stored.name.join('/')}: ${items}`);
  try {
    const agents = await copyAgents(from, to, options.agent, onProgress);
    const rest = options.agent ? null : await copyRest(from, to, agents, onProgress);
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

/** Data that belongs to no agent. A server's token is not copied. */
function copyRest(
  from: StorageBackend,
  to: StorageBackend,
  agents: readonly AgentCopy[],
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyResult> {
  const except = [['server'], ...agents.map(({ agentId }) => ['agents', agentId])];
  return copyStorage(from, to, { except, onProgress });
}

function describe(agents: readonly AgentCopy[], rest: CopyResult | null, place: string): string[] {
  const lines = agents.map(
    (copied) =>
      `${copied.agentId}: ${count(copied.records, 'record')}, ${count(copied.blobs, 'artifact')}${there(copied)}; restores to the same ${count(copied.messages, 'message')}.`,
  );
  if (rest && sizeOf(rest) > 0) {
    const { records, documents, blobs } = rest;
    const found = [count(records, 'record'), count(documents, 'document'), count(blobs, 'blob')];
    lines.push(`Other data: ${found.join(', ')}${there(rest)}.`);
  }
  if (lines.length === 0) return ['Nothing to copy.'];
  return [...lines, `Copied to ${place} and verified.`];
}

function sizeOf({ journals, documents, blobs }: CopyResult): number {
  return journals + documents + blobs;
}

/** Notes how much was copied before. */
function there(result: CopyResult): string {
  if (result.skipped === 0) return '';
  return result.skipped === sizeOf(result)
    ? ' (all already copied)'
    : ` (${result.skipped} of ${sizeOf(result)} already copied)`;
}
