/**
 * The conformance suite: the contract in `ports.ts` as tests that any backend can run.
 *
 * import { describe, it } from 'vitest';
 * import { runStorageConformance } from 'rekindle/testing';
 * runStorageConformance({ describe, it }, { name: 'my backend', capabilities, open });
 *
 * Each test gets its own store from `open`. Tests about later processes run only if `capabilities` says that they
 * apply.
 */
import { backendConformance } from './backend-conformance.js';
import { blobsConformance } from './blobs-conformance.js';
import { type StorageTarget, Suite, type TestRunner } from './conformance-kit.js';
import { documentsConformance } from './documents-conformance.js';
import { erasureConformance } from './erasure-conformance.js';
import { journalConformance } from './journal-conformance.js';
import { journalFencingConformance } from './journal-fencing-conformance.js';
import { journalReadConformance } from './journal-read-conformance.js';
import { leasesConformance } from './leases-conformance.js';

/** Declares the conformance tests of the storage ports for one backend. See the example at the top of this file. */
export function runStorageConformance(runner: TestRunner, target: StorageTarget): void {
  const suite = new Suite(runner, target);
  suite.group(`${target.name} keeps the storage contract`, () => {
    journalConformance(suite);
    journalReadConformance(suite);
    journalFencingConformance(suite);
    documentsConformance(suite);
    blobsConformance(suite);
    leasesConformance(suite);
    backendConformance(suite);
    erasureConformance(suite);
  });
}
