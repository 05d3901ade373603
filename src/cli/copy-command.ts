/** `rekindle copy`: copies agents or a whole store to another backend. */
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import { listAgents } from '../memory/maintenance/agent-summary.js';
import { type AgentCopy, copyAgent } from '../memory/maintenance/copy-agent.js';
import { type CopyProgress, type CopyResult, copyStorage } from '../storage/copy-storage.js';
import { resolveMemoryBaseDir } from '../storage/memory-base-dir.js';
import { openStorage } from '../storage/open-storage.js';
import type { StorageBackend } from '../storage/ports.js';
import { storeParts } from '../storage/tenants/store-parts.js';
import { TENANTS } from '../storage/tenants/tenant-names.js';
import { withTenant } from '../storage/tenants/tenant-storage.js';
import { recordCommand } from './audit-trail.js';
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
    const [whole, ...tenants] = await copyParts(from, to, options.agent, onProgress);
    progress.end();
    const lines = [whole, ...tenants].flatMap((part) => (part ? describe(part) : []));
    const done =
      lines.length === 0 ? ['Nothing to copy.'] : [...lines, `Copied to ${to.place} and verified.`];
    const { agents = [], rest = null } = whole ?? {};
    print(done, { from: from.place, to: to.place, agents, rest, tenants });
  } finally {
    progress.end();
    await to.close();
  }
  return undefined;
}

/** What was copied of one part of the store. */
interface PartCopy {
  readonly tenant: string | null;
  readonly agents: readonly AgentCopy[];
  /** Null if only some agents were copied. */
  readonly rest: CopyResult | null;
}

/** The tenants are listed first, because the target can be a tenant of the same store. */
async function copyParts(
  from: StorageBackend,
  to: StorageBackend,
  named: readonly string[] | undefined,
  onProgress: (progress: CopyProgress) => void,
): Promise<PartCopy[]> {
  const copied: PartCopy[] = [];
  const parts = named ? [{ tenant: null, storage: from }] : await storeParts(from);
  for (const { tenant, storage } of parts.filter((part) => part.storage.place !== to.place)) {
    for (const what of named?.map((id) => `agent ${id}`) ?? ['store'])
      await recordCommand(storage, { action: 'export', target: what, what: 'copy' });
    const target = (tenant?.split('/') ?? []).reduce(withTenant, to);
    const agents = await copyAgents(storage, target, named, onProgress);
    copied.push({ tenant, agents, rest: named ? null : await copyRest(storage, target, agents, onProgress) });
  }
  return copied;
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

/** Data that belongs to no agent and no tenant. A server's tokens are not copied. */
function copyRest(
  from: StorageBackend,
  to: StorageBackend,
  agents: readonly AgentCopy[],
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyResult> {
  const except = [['server'], TENANTS, ...agents.map(({ agentId }) => ['agents', agentId])];
  return copyStorage(from, to, { except, onProgress });
}

function describe({ tenant, agents, rest }: PartCopy): string[] {
  const lines = agents.map(
    (copied) =>
      `${copied.agentId}: ${count(copied.records, 'record')}, ${count(copied.blobs, 'artifact')}${there(copied)}; restores to the same ${count(copied.messages, 'message')}.`,
  );
  if (rest && sizeOf(rest) > 0) {
    const { records, documents, blobs } = rest;
    const found = [count(records, 'record'), count(documents, 'document'), count(blobs, 'blob')];
    lines.push(`Other data: ${found.join(', ')}${there(rest)}.`);
  }
  return tenant === null || lines.length === 0 ? lines : [`Tenant ${tenant}:`, ...lines];
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
