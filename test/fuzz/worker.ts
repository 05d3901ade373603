/** A child process of `run.ts`: its share of the inputs. The file that it is given says at any time which input it is at. */
import { openSync, writeSync } from 'node:fs';
import type { Finding, TargetTally } from './fuzzer.js';
import { Fuzzer } from './fuzzer.js';
import { TARGETS } from './targets/all.js';

export interface Share {
  readonly seed: number;
  readonly first: number;
  readonly step: number;
  /** By target. */
  readonly inputs: Readonly<Record<string, number>>;
  readonly place: string;
}

export type WorkerMessage =
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'tally'; readonly tally: TargetTally };

function* indices({ first, step }: Share, count: number): Generator<number> {
  for (let index = first; index < count; index += step) yield index;
}

async function work(share: Share): Promise<void> {
  const place = openSync(share.place, 'w');
  const send = (message: WorkerMessage) => process.send?.(message);
  const fuzzer = new Fuzzer(share.seed, (finding) => send({ kind: 'finding', finding }));
  for (const target of TARGETS) {
    const count = share.inputs[target.name] ?? 0;
    if (count === 0) continue;
    const note = (index: number) => writeSync(place, `${target.name}:${index}`.padEnd(60), 0);
    send({ kind: 'tally', tally: await fuzzer.run(target, indices(share, count), note) });
  }
}

process.on('disconnect', () => process.exit(1));
await work(JSON.parse(process.argv[2]!) as Share);
process.disconnect?.();
process.exit(0);
