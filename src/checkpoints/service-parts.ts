/** The parts of a checkpoint service, made of its configuration when it is first used. */
import type { Clock } from '../core/clock.js';
import type { Name, StorageBackend } from '../storage/ports.js';
import { type MasterKeys, masterForNew } from '../storage/sealing/master-keys.js';
import { AccessTimes } from './access-times.js';
import type { CheckpointServiceOptions } from './checkpoint-params.js';
import { Classifier } from './classify/classifier.js';
import type { CheckpointConfig } from './config/checkpoint-config.js';
import { loadConfig } from './config/load-config.js';
import { assertCompression } from './content/compression.js';
import { keysFor } from './encryption/keys-for.js';
import { SessionPool, type SessionPoolOptions } from './session/session-pool.js';

export interface ServiceParts {
  readonly config: CheckpointConfig;
  readonly masters: MasterKeys;
  readonly pool: SessionPool;
  readonly classifier: Classifier;
  readonly access: AccessTimes;
}

/** @throws INVALID_ARGUMENT for a configuration that is invalid, and what storage throws */
export async function openParts(
  backend: StorageBackend,
  folder: Name,
  clock: Clock,
  options: CheckpointServiceOptions,
): Promise<ServiceParts> {
  const config = await loadConfig(backend.documents, folder, options.config);
  assertCompression(config.compression);
  const masters = keysFor(config.encryption, options);
  const nowMs = () => clock.nowMs();
  const { messagesPerKey } = options;
  const more = messagesPerKey === undefined ? {} : { messagesPerKey };
  const pool = openPool({ backend, folder, config, masters, nowMs, ...more });
  const classifier = new Classifier(backend.documents, folder, config.classification);
  return { config, masters, pool, classifier, access: new AccessTimes(backend.documents, pool, nowMs) };
}

/** The sessions alone. A new one is encrypted with the master key that `masters` has for new ones. Reads nothing yet. */
export function openPool(options: Omit<SessionPoolOptions, 'masterForNew'>): SessionPool {
  const { masters } = options;
  const pool: SessionPool = new SessionPool({
    ...options,
    masterForNew: () => masterForNew(masters, () => pool.hasKeys()),
  });
  return pool;
}
