/** Stores and documents for the tests of durable state. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { isRekindleError, type RekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import { agentState } from '../../../src/state/durable/documents/agent-state.js';
import { StateManager, type StateOptions } from '../../../src/state/durable/state-manager.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';

const made: string[] = [];
const open: { close(): Promise<void> }[] = [];

afterAll(async () => {
  for (const manager of open) await manager.close();
  for (const folder of made) await fs.rm(folder, { recursive: true, force: true });
});

export class Place {
  readonly root: string;
  readonly storage: FileStorage;

  constructor(root: string) {
    this.root = root;
    this.storage = new FileStorage(root);
  }

  static async make(): Promise<Place> {
    const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-state-'));
    made.push(root);
    return new Place(root);
  }

  file(name = 'agent_state.json'): string {
    return path.join(this.root, 'state', name);
  }

  text(name?: string): Promise<string> {
    return fs.readFile(this.file(name), 'utf8');
  }

  /** The document in the file, without the line that says which version it shows. */
  async json(name?: string): Promise<JsonObject> {
    const { _shows: _, ...document } = JSON.parse(await this.text(name)) as JsonObject;
    return document;
  }

  /** As an editor does it: in place. */
  async edit(change: (document: JsonObject) => void, name?: string): Promise<void> {
    const document = JSON.parse(await this.text(name)) as JsonObject;
    change(document);
    await this.put(`${JSON.stringify(document, null, 2)}\n`, name);
  }

  async put(text: string, name?: string): Promise<void> {
    await sleep(12); // a person's edit is later than the change before, also for a coarse clock
    await fs.mkdir(path.join(this.root, 'state'), { recursive: true });
    await fs.writeFile(this.file(name), text);
  }

  /** The built-in agent state, in this place; a fresh manager each time, as another process would have it. */
  agentState(options: Partial<StateOptions<typeof agentState.schema>> = {}) {
    const opened = StateManager.open({ ...agentState, backend: this.storage, ...options });
    return opened.then((manager) => {
      open.push(manager);
      return manager;
    });
  }
}

export async function errorOf(promise: Promise<unknown>): Promise<RekindleError> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (isRekindleError(thrown)) return thrown;
  throw thrown ?? new TypeError('expected a rejection');
}

export async function until(condition: () => boolean | Promise<boolean>, ms = 5_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new TypeError('it did not come');
    await sleep(10);
  }
}
