/**
 * The fault suite uses every port while each call in turn fails, or succeeds with its answer lost.
 *
 * runFaultConformance({ describe, it }, { name: 'my backend', capabilities, open });
 *
 * One call meets each fault, so the calls after it must succeed. When the store is opened again, everything
 * acknowledged is there, everything refused is not, and everything unanswered is there once or not at all. Each kind of
 * fault is one test, which repeats the work about a hundred times: it takes from a second (memory) to a minute (a disk
 * that syncs).
 */
import assert from 'node:assert/strict';
import { type ErrorCode, messageOf } from '../../core/errors.js';
import type { StorageBackend } from '../ports.js';
import type { OpenedStorage, StorageTarget, TestRunner } from './conformance-kit.js';
import { DocumentsUnderFaults } from './documents-under-faults.js';
import { failAt, loseAnswerAt } from './fault-plans.js';
import { FaultSteps } from './fault-steps.js';
import { faultyStorage } from './faulty-storage.js';
import { JournalsUnderFaults } from './journals-under-faults.js';
import { SharedJournalUnderFaults } from './shared-journal-under-faults.js';
import type { FaultPlan, StorageCall } from './storage-fault.js';

interface FaultKind {
  readonly title: string;
  readonly codes: readonly ErrorCode[];
  readonly answerLost: boolean;
  readonly plan: (number: number) => FaultPlan;
}

const KINDS: readonly FaultKind[] = [
  ...(['STORAGE_FAILED', 'STORAGE_FULL'] as const).map((code) => ({
    title: `fails with ${code}`,
    codes: [code],
    answerLost: false,
    plan: (number: number) => failAt(number, code),
  })),
  {
    title: 'is carried out, but loses its answer',
    codes: ['JOURNAL_OUTCOME_UNKNOWN', 'STORAGE_UNAVAILABLE'],
    answerLost: true,
    plan: loseAnswerAt,
  },
];

/** Uses some of the ports over a faulty backend, then checks what is stored with the healthy one. */
interface Work {
  run(faulty: StorageBackend): Promise<void>;
  check(healthy: StorageBackend): Promise<void>;
}

type MakeWork = (steps: FaultSteps, store: OpenedStorage) => Work;

const WORKS: readonly MakeWork[] = [
  (steps) => new SharedJournalUnderFaults(steps),
  (steps, store) => new JournalsUnderFaults(steps, (ms) => store.passTime(ms)),
  (steps) => new DocumentsUnderFaults(steps),
];

/**
 * Declares the fault tests for one backend.
 * @param target as for `runStorageConformance`
 */
export function runFaultConformance(runner: TestRunner, target: StorageTarget): void {
  runner.describe(`${target.name} keeps what it acknowledged, and goes on`, () => {
    for (const kind of KINDS) {
      runner.it(`whichever call ${kind.title}`, async () => {
        for (const makeWork of WORKS) await faultEachCall(target, kind, makeWork);
      });
    }
  });
}

/** Repeats until the work has fewer calls than the number of the failing call. */
async function faultEachCall(target: StorageTarget, kind: FaultKind, makeWork: MakeWork): Promise<void> {
  let told = 0;
  for (let number = 1; ; number += 1) {
    const { met, failed } = await runWithFault(target, kind, makeWork, number);
    if (failed) told += 1;
    if (!met) break;
  }
  assert.ok(told > 0, 'no call met its fault');
}

/** Runs the whole work on its own store. */
async function runWithFault(
  target: StorageTarget,
  kind: FaultKind,
  makeWork: MakeWork,
  number: number,
): Promise<{ readonly met: boolean; readonly failed: boolean }> {
  const fault: { call: StorageCall | null } = { call: null };
  const planned = kind.plan(number);
  const plan: FaultPlan = (call) => {
    const answer = planned(call);
    if (answer) fault.call = call;
    return answer;
  };
  const store = await target.open();
  try {
    const steps = new FaultSteps(kind);
    const work = makeWork(steps, store);
    const faulty = faultyStorage(store.backend, plan);
    await work.run(faulty);
    await steps.get('close the store', () => faulty.close());
    const failed = steps.failed !== null; // background work, such as releasing a shared lease, may fail without a report
    await work.check(target.capabilities.persistent ? await store.reopen() : store.backend);
    return { met: fault.call !== null, failed };
  } catch (thrown) {
    const which = fault.call
      ? `call ${number} (${fault.call.operation} of ${fault.call.name.join('/')}) ${kind.title}`
      : `there are fewer than ${number} calls`;
    const message = `When ${which}: ${messageOf(thrown)}`;
    throw Object.assign(new assert.AssertionError({ message }), { cause: thrown });
  } finally {
    await store.destroy();
  }
}
