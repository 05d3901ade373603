/** A child process of `run.ts`: explores its workloads in turns until it is told to stop. */
import { Campaign, type Progress } from './campaign.js';
import type { ViolationReport } from './explorer.js';
import { workloads } from './workloads/all.js';

export interface Job {
  readonly workloads: readonly string[];
  readonly seed: number;
  readonly keepGoing: boolean;
}

export interface JobMessage {
  readonly progress: readonly Progress[];
  readonly violation: ViolationReport | null;
}

/** Each has the same time, whatever a state of it costs. */
function leastTried(campaigns: readonly Campaign[]): Campaign {
  const sorted = campaigns.toSorted((a, b) => a.progress().milliseconds - b.progress().milliseconds);
  return sorted[0]!;
}

async function work(job: Job): Promise<void> {
  const mine = workloads.filter(({ name }) => job.workloads.includes(name));
  const campaigns = mine.map((workload) => new Campaign(workload, job.seed));
  let stopped = false;
  process.on('message', () => {
    stopped = true;
  });
  process.on('disconnect', () => process.exit(1));
  while (!stopped) {
    const campaign = leastTried(campaigns);
    const violation = await campaign.turn();
    await new Promise((resolve) => setImmediate(resolve)); // so that messages come through
    process.send?.({ progress: [campaign.progress()], violation } satisfies JobMessage);
    if (violation && !job.keepGoing) stopped = true;
  }
  await new Promise<void>((resolve) => {
    process.send?.({ progress: campaigns.map((campaign) => campaign.progress()), violation: null }, () =>
      resolve(),
    );
  });
  process.exit(0);
}

await work(JSON.parse(process.argv[2]!) as Job);
