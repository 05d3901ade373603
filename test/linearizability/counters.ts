/** Processes that count up one key together. */
import path from 'node:path';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { postgresMissing } from '../support/postgres-cluster.js';
import { type StorageKind, storePlaces } from '../support/store-places.js';
import { buildClients, ClientProcess, withTempFolder } from './child-processes.js';
import type { CounterSettings } from './counter-client.js';

export interface CountersOptions {
  readonly clients: number;
  readonly times: number;
  readonly atomic?: boolean;
  /** Default `file`. */
  readonly storage?: StorageKind;
}

export interface CountersReport {
  readonly value: unknown;
  readonly version: number;
  /** Tries that were refused and made again. */
  readonly conflicts: number;
  /** Clients that did not end well. */
  readonly failures: readonly string[];
}

export function runCounters({
  clients,
  times,
  atomic = false,
  storage = 'file',
}: CountersOptions): Promise<CountersReport> {
  return withTempFolder(async (folder) => {
    const build = await buildClients(folder);
    const places = await storePlaces(storage, folder);
    if (places === null) return { value: null, version: 0, conflicts: 0, failures: [postgresMissing()] };
    const place = places.fresh();
    const settings = { place, root: 'counting', times, atomic };
    const running = Array.from({ length: clients }, (_, number) => {
      return startCounter(path.join(build, 'counter-client.js'), { ...settings, client: `c${number}` });
    });
    try {
      const results = await Promise.all(running.map(({ result }) => result));
      const conflicts = results.reduce((sum, result) => sum + result.conflicts, 0);
      const failures = results.flatMap(({ failure }) => (failure === null ? [] : [failure]));
      return { ...(await readCounter(place)), conflicts, failures };
    } finally {
      for (const { client } of running) client.signal('SIGKILL');
      await Promise.all(running.map(({ client }) => client.ended));
      await places.close();
    }
  });
}

function startCounter(script: string, settings: CounterSettings) {
  let conflicts = 0;
  const client = new ClientProcess(script, settings, (line) => {
    conflicts = Number(line);
  });
  const result = client.ended.then(({ code, signal, errors }) => {
    const failure = code === 0 && errors === '' ? null : `${settings.client}: ${code ?? signal} ${errors}`;
    return { conflicts, failure };
  });
  return { client, result };
}

async function readCounter(place: string): Promise<Pick<CountersReport, 'value' | 'version'>> {
  const storage = openStorage(place);
  const state = new SharedState(storage, { root: 'counting' });
  try {
    const found = await state.get('counter');
    return { value: found?.value ?? null, version: found?.version ?? 0 };
  } finally {
    await state.close();
    await storage.close();
  }
}
