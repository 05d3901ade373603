/**
 * A process that changes a shared state by chance and tells what it does: one line before each call, one after each answer. Lines are
 * written at once, so that none is lost when it is killed.
 */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonValue } from '../../src/core/json.js';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { isStorageUrl, openStorage } from '../../src/storage/open-storage.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { type ClientSettings, planOperation } from './client-plan.js';
import type { Answer, ClientEvent, Request } from './history.js';
import { seenIn } from './model.js';
import { type Asked, planted } from './planted.js';

type Result = Extract<ClientEvent, { t: 'return' }>['result'];

function tell(event: ClientEvent): void {
  fs.writeSync(1, `${JSON.stringify(event)}\n`);
}

/** One clock for all processes. */
function now(): string {
  return String(process.hrtime.bigint());
}

async function ask(state: Asked, key: string, request: Request): Promise<Answer> {
  if (request.op === 'get') {
    const found = await state.get(key);
    return found ? { kind: 'found', value: found.value, version: found.version } : { kind: 'none' };
  }
  const options = request.ifVersion === undefined ? {} : { ifVersion: request.ifVersion };
  if (request.op === 'delete') return { kind: 'deleted', was: await state.delete(key, options) };
  const { value, version } = await change(state, key, request, options);
  return { kind: 'changed', value, version };
}

function change(
  state: Asked,
  key: string,
  request: Exclude<Request, { op: 'get' | 'delete' }>,
  options: { readonly ifVersion?: number },
) {
  switch (request.op) {
    case 'set':
      return state.set(key, request.value, options);
    case 'increment':
      return state.increment(key, request.delta, options);
    case 'append':
      return state.append(key, request.items, options);
  }
}

function resultOfThrown(thrown: unknown): Result {
  if (!isRekindleError(thrown)) return { kind: 'error', code: String(thrown) };
  if (thrown.code !== 'DOCUMENT_CONFLICT') return { kind: 'error', code: thrown.code };
  const { currentVersion, currentValue } = thrown.details as {
    readonly currentVersion: number;
    readonly currentValue?: JsonValue;
  };
  return { kind: 'conflict', currentVersion, ...(currentValue === undefined ? {} : { currentValue }) };
}

async function lane(state: Asked, settings: ClientSettings, number: number, seen: Map<string, number>) {
  const random = new SeededRandom(settings.seed * 31 + number);
  const count = Math.ceil((settings.operations - number) / settings.lanes);
  for (let index = 0; index < count; index += 1) {
    const id = `${settings.client}.${number}.${index}`;
    const { key, request, sleepMs } = planOperation(random, id, (of) => seen.get(of));
    tell({ t: 'call', id, key, request, ns: now() });
    const result = await ask(state, key, request).catch(resultOfThrown);
    tell({ t: 'return', id, result, ns: now() });
    const seenNow = result.kind === 'error' ? null : seenIn(result);
    if (seenNow) seen.set(key, seenNow.version);
    if (sleepMs > 0) await sleep(sleepMs);
  }
}

const settings = JSON.parse(process.argv[2]!) as ClientSettings;
const { place, root, short } = settings;
const storage = isStorageUrl(place)
  ? openStorage(place)
  : new FileStorage(place, short ? { segmentBytesMax: 8 * 1024 } : {});
const state = new SharedState(storage, { root });
const asked = planted(state, settings.bug);
const seen = new Map<string, number>();
await Promise.all(Array.from({ length: settings.lanes }, (_, number) => lane(asked, settings, number, seen)));
await state.close();
await storage.close();
