/**
 * The configuration next to the checkpoints, `config/checkpoints.json`. The host's own settings take
 * precedence.
 */
import { ConfigFile } from '../../storage/config-file.js';
import type { Documents, Name } from '../../storage/ports.js';
import {
  type CheckpointConfig,
  type CheckpointConfigInit,
  checkConfig,
  checkpointConfig,
} from './checkpoint-config.js';

/** @throws DOCUMENT_DAMAGED with line and column, INVALID_ARGUMENT */
export async function loadConfig(
  documents: Documents,
  folder: Name,
  given: CheckpointConfigInit = {},
): Promise<CheckpointConfig> {
  const name = [...folder, 'config', 'checkpoints.json'];
  const file = new ConfigFile<CheckpointConfigInit>({
    name,
    read: () => documents.readBytes(name),
    check: checkConfig,
  });
  return checkpointConfig((await file.read()) ?? {}, given);
}
