import { describe, it } from 'vitest';
import { runStorageConformance } from '../../../src/storage/testing/index.js';
import { folderOfObjectsTarget } from './objects-storage-targets.js';

runStorageConformance({ describe, it }, folderOfObjectsTarget());
