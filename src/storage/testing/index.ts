/** `rekindle/testing`: what a host or the author of a backend needs to test with. */
export { ManualClock } from '../../core/clock.js';
export { runStorageConformance } from './conformance.js';
export type { OpenedStorage, StorageTarget, TestRunner } from './conformance-kit.js';
