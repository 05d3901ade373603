/** A child process of `run.ts`: its share of the mutations. */
import { type Attempt, Campaign, type CampaignOptions, indicesOf } from './campaign.js';
import { makeStores } from './stores.js';

export interface Share extends CampaignOptions {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** Sent together, because each message costs about as much as a mutation. */
const BATCH = 200;

async function work({ first, step, count, ...options }: Share): Promise<void> {
  const campaign = new Campaign(await makeStores(), options);
  let batch: Attempt[] = [];
  const send = () =>
    new Promise<void>((resolve, reject) => {
      process.send?.(batch, undefined, undefined, (error) => (error ? reject(error) : resolve()));
      batch = [];
    });
  for await (const attempt of campaign.attempts(indicesOf(first, step, count))) {
    batch.push(attempt);
    if (batch.length >= BATCH) await send();
  }
  await send();
}

process.on('disconnect', () => process.exit(1));
await work(JSON.parse(process.argv[2]!) as Share);
process.exit(0);
