/** The other durability modes, and journals in many files; the usual ones run with every `npm test`. */
import { describe, it } from 'vitest';
import { runStorageConformance } from '../../src/storage/testing/index.js';
import { fileTarget } from './conformance-targets.js';

runStorageConformance({ describe, it }, fileTarget('FileStorage batched', { durability: 'batched' }));
runStorageConformance({ describe, it }, fileTarget('FileStorage relaxed', { durability: 'relaxed' }));
runStorageConformance({ describe, it }, fileTarget('FileStorage in tiny segments', { segmentBytesMax: 120 }));
