import { describe, it } from 'vitest';
import { runStorageConformance } from '../../src/storage/testing/index.js';
import { sqliteTarget } from './conformance-targets.js';

runStorageConformance({ describe, it }, sqliteTarget());
