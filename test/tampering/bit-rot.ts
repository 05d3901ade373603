/** A disk that changes bits under a service that runs: what it acknowledges after that, a fresh service can load. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { isRekindleError } from '../../src/core/errors.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import type { Attempt } from './campaign.js';
import { MASTER_KEYS } from './stores.js';

const SAVES = 6;

/** One store: saves of variants, and between two of them a flipped bit somewhere. */
export async function bitRot(seed: number, index: number): Promise<Attempt> {
  const random = new SeededRandom(Math.imul(seed, 2_654_435_761) + index);
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-rot-'));
  const encryption = { enabled: random.below(2) === 0 };
  const open = () => {
    const backend = new FileStorage(root, { durability: 'relaxed' });
    return {
      backend,
      service: new CheckpointService({ backend, masterKeys: MASTER_KEYS, config: { encryption } }),
    };
  };
  const running = open();
  const violations: string[] = [];
  let outcome: Attempt['outcome'] = 'harmless';
  try {
    for (let save = 0; save < SAVES; save += 1) {
      const context = {
        save: random.below(3),
        parts: Array.from({ length: 30 }, (_, n) => `${n} `.repeat(60 + n)),
      };
      const done = await typed(() => running.service.save({ sessionId: 's', context }));
      if (typeof done === 'string') outcome = 'detected';
      else {
        const fresh = open();
        const loaded = await typed(() => fresh.service.load({ checkpointId: done.checkpointId }));
        await fresh.service.close();
        await fresh.backend.close();
        const isSame =
          typeof loaded !== 'string' && JSON.stringify(loaded.context) === JSON.stringify(context);
        const what = typeof loaded === 'string' ? loaded : 'another context';
        if (!isSame)
          violations.push(
            `--seed ${seed} --only ${index}: ${done.status} ${done.checkpointId}, then ${what}`,
          );
      }
      await flipOne(path.join(root, 'checkpoints', 'sessions', 's'), random);
    }
  } finally {
    await running.service.close().catch(() => {});
    await running.backend.close();
    await fs.rm(root, { recursive: true, force: true });
  }
  return { kind: 'bits flip while a process runs', outcome, violations };
}

/** The code of a typed error in place of what was asked for. */
async function typed<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (thrown) {
    if (isRekindleError(thrown)) return thrown.code;
    throw thrown;
  }
}

async function flipOne(folder: string, random: SeededRandom): Promise<void> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.includes('lease') && entry.name !== 'access.json')
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  if (files.length === 0) return;
  const file = random.pick(files);
  const bytes = await fs.readFile(file);
  if (bytes.length === 0) return;
  const at = random.below(bytes.length);
  bytes[at] = bytes[at]! ^ (1 << random.below(8));
  await fs.writeFile(file, bytes);
}
