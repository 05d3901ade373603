/**
 * Saves to a session that other processes save to as well, and tells of each checkpoint when it is acknowledged: at once, so that
 * nothing is left untold when it is killed.
 */
import { writeSync } from 'node:fs';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { isRekindleError } from '../../src/core/errors.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { type SaveTurn, stepContext } from './step-context.js';

const { folder, sessionId, who, first, last } = JSON.parse(process.argv[2]!) as SaveTurn;
const backend = new FileStorage(folder);
const service = new CheckpointService({ backend, config: { storage: { maxCheckpoints: 1_000 } } });
for (let step = first; step <= last; step += 1) {
  const metadata = { name: `${who} ${step}` };
  try {
    const saved = await service.save({ sessionId, context: stepContext(who, step), agentId: who, metadata });
    writeSync(1, `saved ${step} ${saved.metadata.number}\n`);
  } catch (thrown) {
    // Who was stopped past the right to write may not learn what became of its record.
    if (!isRekindleError(thrown, 'JOURNAL_OUTCOME_UNKNOWN')) throw thrown;
    writeSync(1, `unknown ${step}\n`);
  }
}
await service.close();
await backend.close();
