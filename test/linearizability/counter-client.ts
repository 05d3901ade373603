/** A process that counts up, each time by a read and a set that is refused when somebody else was faster. */
import fs from 'node:fs';
import { isRekindleError } from '../../src/core/errors.js';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { openStorage } from '../../src/storage/open-storage.js';

export interface CounterSettings {
  /** A folder, or the address of another store. */
  readonly place: string;
  readonly root: string;
  readonly client: string;
  readonly times: number;
  /** One `increment` instead, which needs no second try. */
  readonly atomic?: boolean;
}

const settings = JSON.parse(process.argv[2]!) as CounterSettings;
const storage = openStorage(settings.place);
const state = new SharedState(storage, { root: settings.root });
const by = settings.client;

async function countUp(): Promise<void> {
  const found = await state.get('counter');
  const next = ((found?.value as number | undefined) ?? 0) + 1;
  await state.set('counter', next, { by, ifVersion: found?.version ?? 0 });
}

let conflicts = 0;
for (let done = 0; done < settings.times; ) {
  try {
    if (settings.atomic) await state.increment('counter', 1, { by });
    else await countUp();
    done += 1;
  } catch (thrown) {
    if (settings.atomic || !isRekindleError(thrown, 'DOCUMENT_CONFLICT')) throw thrown;
    conflicts += 1;
  }
}
await state.close();
await storage.close();
fs.writeSync(1, `${conflicts}\n`);
