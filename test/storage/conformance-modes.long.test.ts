/** The other durability modes; `durable` runs with every `npm test`. */
import { describe, it } from 'vitest';
import { runStorageConformance } from '../../src/storage/testing/index.js';
import { fileTarget } from './conformance-targets.js';

runStorageConformance({ describe, it }, fileTarget('FileStorage batched', { durability: 'batched' }));
runStorageConformance({ describe, it }, fileTarget('FileStorage relaxed', { durability: 'relaxed' }));
