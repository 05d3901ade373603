/**
 * `rekindle/testing`: tools for tests of hosts and of storage backends: the conformance suite, simulated disks, injected faults, and a
 * manual clock.
 *
 * @module rekindle/testing
 */
export { type Clock, ManualClock } from '../../core/clock.js';
export type { FileStat, FileSystem, OpenFile, OpenMode } from '../file-system.js';
export type { CrashOptions, CrashState } from '../simulated/crash-states.js';
export { type Fault, type FaultyCall, FaultyFileSystem } from '../simulated/faulty-file-system.js';
export { SimulatedDisk, type SimulatedDiskOptions } from '../simulated/simulated-disk.js';
export { runStorageConformance } from './conformance.js';
export type { OpenedStorage, StorageTarget, TestRunner } from './conformance-kit.js';
export { runFaultConformance } from './fault-conformance.js';
export { type CallCounter, countCalls, failAt, failEvery, loseAnswerAt, noFaults } from './fault-plans.js';
export { faultyStorage } from './faulty-storage.js';
export type { FaultPlan, StorageCall, StorageFault, StorageOperation } from './storage-fault.js';
