/** A child process of `run.ts`: its share of the chunks. */
import { type Chunk, type ChunkReport, runChunk } from './campaign.js';

export interface Share {
  readonly seed: number;
  readonly chunks: readonly Chunk[];
}

export interface WorkerMessage {
  readonly chunk: Chunk;
  readonly report: ChunkReport;
}

async function work({ seed, chunks }: Share): Promise<void> {
  for (const chunk of chunks) {
    const message: WorkerMessage = { chunk, report: await runChunk(seed, chunk) };
    process.send?.(message);
  }
}

process.on('disconnect', () => process.exit(1));
process.once('message', async (share: Share) => {
  await work(share);
  process.disconnect?.();
  process.exit(0);
});
