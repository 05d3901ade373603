/** `rekindle unlock`: shows which process has an agent open, and releases it on request. */
import type { Command } from 'commander';
import { assertAgentExists } from '../memory/open-memory.js';
import type { Leases, StorageBackend } from '../storage/ports.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';

interface UnlockOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly force?: boolean;
}

type Holder = NonNullable<Awaited<ReturnType<Leases['inspect']>>>;

const WHAT_IT_DOES =
  'After unlocking, the next process that opens the agent gets it. The process that has it now can no longer write: its next write fails with LEASE_LOST. Everything that it acknowledged stays.';

export function addUnlockCommand(program: Command): void {
  withCommonOptions(
    program
      .command('unlock <agent>')
      .description('show which process has an agent open; with --yes, release it if that process has ended')
      .option('--yes', 'unlock it, unless its owner shows signs of life')
      .option('--force', 'unlock it even if its owner shows signs of life'),
  ).action((agentId: string, options: UnlockOptions) =>
    runCommand(options, async ({ storage, note, print }) => {
      await assertAgentExists(storage, agentId);
      const holder = await storage.leases.inspect(['agents', agentId]);
      if (!holder) {
        print([`Agent ${agentId} is not open anywhere.`], { agentId, holder: null, unlocked: false });
        return undefined;
      }
      if (!options.yes && !options.force) {
        print([...describe(agentId, holder), WHAT_IT_DOES, nextStep(holder)], {
          agentId,
          holder,
          unlocked: false,
        });
        return EXIT.inUse;
      }
      note('Looking for signs of life; this can take 15 seconds.');
      const fence = await unlock(storage, agentId, options.force ?? false);
      print([...describe(agentId, holder), `Agent ${agentId} is unlocked.`], {
        agentId,
        holder,
        unlocked: true,
        fence,
      });
      return undefined;
    }),
  );
}

/** Takes the lease with a higher fence and releases it at once. @throws LEASE_HELD */
async function unlock(storage: StorageBackend, agentId: string, force: boolean): Promise<number> {
  const lease = await storage.leases.acquire(['agents', agentId], { force });
  await lease.release();
  return lease.fence;
}

function describe(agentId: string, { owner, alive, fence }: Holder): string[] {
  const host = owner.host.split('/')[0];
  const who = owner.pid > 0 ? `process ${owner.pid} on ${host}` : 'an unknown process';
  return [
    `Agent ${agentId} is open in ${who} (fence ${fence}).`,
    alive ? 'That process shows signs of life.' : 'That process has ended, or shows no sign of life.',
  ];
}

function nextStep({ alive }: Holder): string {
  return alive
    ? 'Close it there. To take the agent from it anyway: rekindle unlock --force'
    : 'To unlock it: rekindle unlock --yes';
}
