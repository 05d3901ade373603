/**
 * Encrypted checkpoints whose data keys wear out after two records, and whose master key is replaced; the master keys are on the same
 * disk. After a crash everything that was acknowledged loads with the keys that are known then, and a rotation that is done again
 * finishes. Keys and nonces are random: the same seed gives the same sequences, and other states.
 */

import type { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import type { Name, StorageBackend } from '../../../src/storage/ports.js';
import { StoredKeys } from '../../../src/storage/sealing/stored-keys.js';
import { demand, type Workload } from '../workload.js';
import { type CheckpointSetting, CheckpointWork, checkCheckpoints } from './checkpoints.js';

const MASTERS: Name = ['masters.json'];

/** A document is as durable as the key file is. */
function masterKeys({ documents }: StorageBackend): StoredKeys {
  return new StoredKeys({
    name: 'a document',
    read: async () => {
      const bytes = await documents.readBytes(MASTERS);
      return bytes && Buffer.from(bytes).toString('utf8');
    },
    write: (text, isNew) =>
      documents.writeBytes(MASTERS, Buffer.from(text), isNew ? { ifVersion: null } : {}),
  });
}

const SEALED: CheckpointSetting = { encrypted: true, masterKeys, messagesPerKey: 2 };

async function rotateAgain(service: CheckpointService): Promise<void> {
  const { failed } = await service.rotateKeys();
  demand(failed.length === 0, () => `a rotation after recovery failed: ${failed[0]!.message}`);
}

export const checkpointKeys: Workload = {
  name: 'checkpoint-keys',
  alphabet: ['save', 'burst', 'rotate', 'mark', 'delete newest', 'prune'],
  start: async (process) => new CheckpointWork(process, SEALED),
  check: (process) => checkCheckpoints(process, SEALED, rotateAgain),
};
