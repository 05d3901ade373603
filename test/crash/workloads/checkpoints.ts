/**
 * Checkpoints that are saved, marked, deleted and pruned without grace, while a full session makes room for each new one. After a crash
 * every one that is listed loads, and is what was saved under its number; what was acknowledged is there, and what was taken away stays
 * away; and saving goes on with a number that was not there before.
 */
import { createHash } from 'node:crypto';
import { checkpointId } from '../../../src/checkpoints/checkpoint-id.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import type { CheckpointConfigInit } from '../../../src/checkpoints/config/checkpoint-config.js';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import { isRekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import type { MasterKeys } from '../../../src/storage/sealing/master-keys.js';
import {
  demand,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
  withStorage,
} from '../workload.js';
import { ExpectedCheckpoints } from './expected-checkpoints.js';

const SESSION = 'session';
const MARKED_KEY = 'goal';
/** So few that a burst fills the session, and that the next one needs room. */
const CHECKPOINTS_MAX = 3;
/** What `prune` leaves. */
const PRUNED_TO = 2;
const STORAGE: NonNullable<CheckpointConfigInit['storage']> = {
  maxCheckpoints: CHECKPOINTS_MAX,
  orphanGraceMinutes: 0,
};

/** What a workload is about beside saving. */
export interface CheckpointSetting {
  readonly encrypted: boolean;
  readonly masterKeys?: (storage: StorageBackend) => MasterKeys;
  readonly messagesPerKey?: number;
}

export function withCheckpoints<T>(
  process: Process,
  { encrypted, masterKeys, messagesPerKey }: CheckpointSetting,
  run: (service: CheckpointService) => Promise<T>,
): Promise<T> {
  const make = (backend: StorageBackend) =>
    new CheckpointService({
      backend,
      clock: process.clock,
      config: { storage: STORAGE, encryption: { enabled: encrypted } },
      ...(masterKeys ? { masterKeys: masterKeys(backend) } : {}),
      ...(messagesPerKey === undefined ? {} : { messagesPerKey }),
    });
  return withStorage(process, make, run);
}

const COMMON = Array.from({ length: 16 }, (_, index) => text(`common ${index}`, 700));

const LARGE_FROM = 1_000_000;
const contexts = new Map<number, JsonObject>();

/** The context of a step: most of it is in all of them, so that each uses the data of those before it. */
function contextOf(step: number): JsonObject {
  const known = contexts.get(step);
  if (known) return known;
  const history = [...COMMON, text(`own ${step}`, 700)];
  const large = step < LARGE_FROM ? {} : { large: text(`large ${step}`, 20_000) };
  const made = { step, goal: 'go on', history, ...large };
  contexts.set(step, made);
  return made;
}

function text(name: string, length: number): string {
  let made = '';
  for (let part = 0; made.length < length; part += 1)
    made += createHash('sha256').update(`${name} ${part}`).digest('base64');
  return made.slice(0, length);
}

/** The step of each checkpoint that is listed, by number; each one loads, and is the context of its step. */
async function loadAll(service: CheckpointService): Promise<Map<number, number>> {
  const steps = await stepsOf(service);
  for (const [number, step] of steps) {
    const { context } = await service.load({ checkpointId: idOf(number) });
    demand(
      canonicalJson(context) === canonicalJson(contextOf(step)),
      () => `${idOf(number)} is not what was saved: ${JSON.stringify(context).slice(0, 80)}`,
    );
  }
  return steps;
}

/** As their names say; the oldest first. */
async function stepsOf(service: CheckpointService): Promise<Map<number, number>> {
  const found = (await listed(service)).toReversed();
  return new Map(found.map(({ number, name }) => [number, Number(name)]));
}

function idOf(number: number): string {
  return checkpointId({ sessionId: SESSION, number });
}

/** Newest first. */
async function listed(service: CheckpointService) {
  try {
    return (await service.list({ sessionId: SESSION, status: 'all', limit: 1_000 })).checkpoints;
  } catch (thrown) {
    if (isRekindleError(thrown, 'SESSION_NOT_FOUND')) return [];
    throw thrown;
  }
}

function save(service: CheckpointService, step: number) {
  const metadata = { name: String(step) };
  return service.save({ sessionId: SESSION, context: contextOf(step), metadata });
}

export class CheckpointWork implements Session {
  readonly #process: RunningProcess;
  readonly #setting: CheckpointSetting;
  #count = 0;

  constructor(process: RunningProcess, setting: CheckpointSetting) {
    this.#process = process;
    this.#setting = setting;
  }

  /** Opened and closed each time: then no timer of this process decides what is on the disk. */
  async apply(operation: string): Promise<void> {
    await withCheckpoints(this.#process, this.#setting, async (service) => {
      this.#process.clock.advance(1);
      if (await this.#did(operation, service)) await this.#tellSeen(service);
    });
  }

  /** False when nothing had to become durable. */
  async #did(operation: string, service: CheckpointService): Promise<boolean> {
    const numbers = (await listed(service)).map(({ number }) => number);
    const [newest, second = newest] = numbers;
    switch (operation) {
      case 'save':
        return this.#save(service, this.#nextStep());
      case 'save same':
        return this.#save(service, (await stepsOf(service)).get(newest ?? 0) ?? this.#nextStep());
      case 'save large':
        return this.#save(service, LARGE_FROM + this.#nextStep());
      case 'burst':
        await Promise.all([1, 2, 3].map(() => this.#save(service, this.#nextStep())));
        return true;
      case 'mark':
        return this.#mark(service, second);
      case 'archive':
        return this.#archive(service, second);
      case 'delete':
        return this.#delete(service, numbers.at(-1));
      case 'delete newest': // nothing else uses its data
        return this.#delete(service, newest);
      case 'prune':
        return this.#prune(service);
      case 'rotate':
        return this.#rotate(service);
      default:
        await loadAll(service);
        return false;
    }
  }

  #nextStep(): number {
    return 100 * this.#process.identity.owner().pid + ++this.#count;
  }

  async #save(service: CheckpointService, step: number): Promise<true> {
    const ack = this.#process.history.begin({ op: 'save', step });
    const { metadata, removed } = await save(service, step);
    ack({ number: metadata.number, removed: removed.map(({ number }) => number) });
    return true;
  }

  async #mark(service: CheckpointService, number: number | undefined): Promise<boolean> {
    const isAnyActive = (await listed(service)).some(({ status }) => status === 'active');
    if (number === undefined || !isAnyActive) return false; // a key is one of the newest context
    const ackKey = this.#process.history.begin({ op: 'mark', contextKey: MARKED_KEY });
    await service.markCritical({ sessionId: SESSION, contextKey: MARKED_KEY });
    ackKey();
    if ((await listed(service)).filter(({ critical }) => critical).length > 0) return true; // all of them would leave no room
    const ack = this.#process.history.begin({ op: 'mark', number });
    await service.markCritical({ checkpointId: idOf(number) });
    ack();
    return true;
  }

  async #archive(service: CheckpointService, number: number | undefined): Promise<boolean> {
    if (number === undefined) return false;
    const ack = this.#process.history.begin({ op: 'archive', number });
    await service.archive(idOf(number));
    ack();
    return true;
  }

  async #delete(service: CheckpointService, number: number | undefined): Promise<boolean> {
    if (number === undefined) return false;
    const ack = this.#process.history.begin({ op: 'remove', numbers: [number] });
    await service.delete(idOf(number));
    ack({ removed: [number] });
    return true;
  }

  async #prune(service: CheckpointService): Promise<boolean> {
    const options = { maxCheckpoints: PRUNED_TO, orphanGraceMinutes: 0 };
    const plan = await service.prune({ ...options, dryRun: true });
    const ack = this.#process.history.begin({ op: 'remove', numbers: numbersOf(plan) });
    const report = await service.prune(options);
    demand(report.problems.length === 0, () => `prune: ${report.problems[0]!.message}`);
    ack({ removed: numbersOf(report) });
    return report.removed.length > 0;
  }

  async #rotate(service: CheckpointService): Promise<false> {
    const { failed } = await service.rotateKeys();
    demand(failed.length === 0, () => `rotation: ${failed[0]!.message}`);
    return false;
  }

  /** A durable change makes durable what it was made upon, also what an earlier process was killed over. */
  async #tellSeen(service: CheckpointService): Promise<void> {
    const live = [...(await stepsOf(service))];
    this.#process.history.begin({ op: 'seen', live })();
  }

  async dispose(): Promise<void> {}
}

function numbersOf({ removed }: Awaited<ReturnType<CheckpointService['prune']>>): number[] {
  return removed.map(({ checkpoint }) => checkpoint.number);
}

/** @param again more that is done and checked in the process after the crash */
export async function checkCheckpoints(
  process: RebootedProcess,
  setting: CheckpointSetting,
  again: (service: CheckpointService) => Promise<void> = async () => {},
): Promise<void> {
  const expected = new ExpectedCheckpoints(process.facts);
  const step = 100 * process.identity.owner().pid;
  const after = await withCheckpoints(process, setting, async (service) => {
    const before = await loadAll(service);
    expected.check(before);
    await checkMarks(service, expected, before);
    await again(service);
    await service.prune({ orphanGraceMinutes: 0 });
    demand(isSame(await loadAll(service), before), () => 'prune took more than data that nothing refers to');
    process.clock.advance(1);
    const { metadata } = await save(service, step);
    const { number } = metadata;
    demand(
      number > Math.max(0, ...expected.given, ...before.keys()),
      () => `number ${number} was given before`,
    );
    const saved = await loadAll(service);
    demand(saved.get(number) === step, () => `${number} was just saved, and is not listed`);
    return saved;
  });
  if (!process.thorough) return;
  await withCheckpoints(process.next(), setting, async (service) => {
    demand(isSame(await loadAll(service), after), () => 'a checkpoint after recovery did not last');
    const { problems } = await service.verify();
    const wrong = problems.find(({ code }) => code !== 'JOURNAL_DAMAGED'); // half of a record that was never acknowledged
    demand(wrong === undefined, () => `verify: ${wrong!.message}`);
    await checkOldestGoes(service, after);
  });
}

/** The others use its data. */
async function checkOldestGoes(
  service: CheckpointService,
  steps: ReadonlyMap<number, number>,
): Promise<void> {
  const [oldest, ...others] = steps;
  await service.delete(idOf(oldest![0]));
  await service.prune({ orphanGraceMinutes: 0 });
  demand(
    isSame(await loadAll(service), new Map(others)),
    () => 'without the oldest the others are not there',
  );
}

async function checkMarks(
  service: CheckpointService,
  { isKeyMarked, critical, archived }: ExpectedCheckpoints,
  found: ReadonlyMap<number, number>,
): Promise<void> {
  if (isKeyMarked) {
    const { criticalKeys } = await service.session(SESSION);
    demand(criticalKeys.includes(MARKED_KEY), () => `the mark of ${MARKED_KEY} is lost`);
  }
  for (const number of critical) {
    if (!found.has(number)) continue; // it was deleted since
    const metadata = await service.metadata({ checkpointId: idOf(number) });
    demand(metadata.critical, () => `the mark of checkpoint ${number} is lost`);
  }
  for (const number of archived) {
    if (!found.has(number)) continue;
    const { status } = await service.metadata({ checkpointId: idOf(number) });
    demand(status === 'archived', () => `checkpoint ${number} is not archived any more`);
  }
}

function isSame(left: ReadonlyMap<number, number>, right: ReadonlyMap<number, number>): boolean {
  return JSON.stringify([...left]) === JSON.stringify([...right]);
}

const PLAIN: CheckpointSetting = { encrypted: false };

export const checkpoints: Workload = {
  name: 'checkpoints',
  alphabet: [
    'save',
    'save same',
    'save large',
    'burst',
    'mark',
    'archive',
    'delete',
    'delete newest',
    'prune',
    'load',
  ],
  start: async (process) => new CheckpointWork(process, PLAIN),
  check: (process) => checkCheckpoints(process, PLAIN),
};
