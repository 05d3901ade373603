/** What a service makes of a session that was tampered with, and whether that is right. */
import path from 'node:path';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { isRekindleError } from '../../src/core/errors.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { isCut } from './journal-files.js';
import { ReadOnlyFiles } from './read-only-files.js';
import { MASTER_KEYS, REMOVED, type SessionFiles, type StoredSession, withoutAccess } from './stores.js';

export type Outcome = 'detected' | 'harmless' | 'only with heads' | 'metadata of a plain session';

export interface Verdict {
  readonly outcome: Outcome;
  readonly violations: readonly string[];
}

export interface Judged {
  readonly session: StoredSession;
  readonly files: SessionFiles;
  /** Whoever did it makes checksums fit. */
  readonly crafted: boolean;
  /** Only contents are promised: codes of records are not looked at. */
  readonly contentsOnly: boolean;
  /** Which checkpoint is loaded first: what is read before a key was needed is another case. */
  readonly first: number;
}

const ROOT = '/store';

/** Reading needs no right to write. */
export async function judge(judged: Judged): Promise<Verdict> {
  const { session, files } = judged;
  const folder = path.join(ROOT, 'checkpoints', 'sessions', session.id);
  const backend = new FileStorage(ROOT, { fileSystem: new ReadOnlyFiles(folder, files) });
  const service = new CheckpointService({ backend, masterKeys: MASTER_KEYS });
  try {
    return await new Judge(judged, service).verdict();
  } finally {
    await service.close();
    await backend.close();
  }
}

class Judge {
  readonly #judged: Judged;
  readonly #service: CheckpointService;
  readonly #violations: string[] = [];
  #same = true;

  constructor(judged: Judged, service: CheckpointService) {
    this.#judged = judged;
    this.#service = service;
  }

  async verdict(): Promise<Verdict> {
    const { session, crafted, contentsOnly, first } = this.#judged;
    const mayLie = contentsOnly || (crafted && !session.sealed);
    const ids = [...session.checkpoints.keys()];
    for (let index = 0; index < ids.length; index += 1)
      await this.#load(ids[(index + first) % ids.length]!, mayLie);
    await this.#look();
    if (!(await this.#verified(false))) return this.#as('detected');
    if (this.#same) return this.#as('harmless');
    const headsTell = contentsOnly || !(await this.#verified(true));
    if (this.#wasCut()) {
      if (!headsTell) this.#violations.push('not even heads tell that the end is gone');
      return this.#as('only with heads');
    }
    if (!headsTell) this.#violations.push('nothing tells that it is not what it was');
    if (mayLie) return this.#as('metadata of a plain session');
    if (headsTell)
      this.#violations.push('only heads tell that it is not what it was, and it is no cut at the end');
    return this.#as('only with heads');
  }

  #wasCut(): boolean {
    return isCut(this.#judged.session, this.#judged.files);
  }

  #as(outcome: Outcome): Verdict {
    return { outcome, violations: this.#violations };
  }

  async #load(id: string, mayLie: boolean): Promise<void> {
    const expected = this.#judged.session.checkpoints.get(id)!;
    const loaded = await this.#typed(`load ${id}`, () => this.#service.load({ checkpointId: id }));
    if (!loaded) return;
    const context = JSON.stringify(loaded.context);
    if (context !== expected.context)
      this.#violations.push(
        `load of ${id} gives ${context.slice(0, 80)} in place of ${expected.context.slice(0, 80)}`,
      );
    const metadata = JSON.stringify(loaded.metadata);
    if (metadata === expected.metadata) return;
    this.#same = false;
    // A mark that is damaged or refused does not count: `verify` tells.
    const unmarked = JSON.stringify({ ...loaded.metadata, critical: true }) === expected.metadata;
    if (!mayLie && !unmarked && !this.#wasCut())
      this.#violations.push(`load of ${id} tells ${metadata} in place of ${expected.metadata}`);
  }

  /** What the lists say; and that nothing can be loaded which was not saved. */
  async #look(): Promise<void> {
    const { session } = this.#judged;
    const list = await this.#typed('list', () => this.#service.list({ sessionId: session.id }));
    if (!list) return;
    if (JSON.stringify(list.checkpoints) !== session.list) this.#same = false;
    const info = await this.#typed('session', () => this.#service.session(session.id));
    if (info && JSON.stringify(withoutAccess(info)) !== session.info) this.#same = false;
    for (const { id } of list.checkpoints) {
      // A checkpoint that was removed is what it was while it was there.
      if (session.checkpoints.has(id) || id === `${session.id}@${REMOVED}`) continue;
      if (await this.#typed(`load ${id}`, () => this.#service.load({ checkpointId: id })))
        this.#violations.push(`${id} was never saved and is loaded`);
    }
  }

  async #verified(withHeads: boolean): Promise<boolean> {
    const { session } = this.#judged;
    const options = { sessionId: session.id, ...(withHeads ? { heads: [session.head] } : {}) };
    const same = this.#same;
    const report = await this.#typed('verify', () => this.#service.verify(options));
    this.#same = same;
    for (const { code, message } of report?.problems ?? [])
      if (code === 'UNEXPECTED') this.#violations.push(`verify meets an error without a type: ${message}`);
    return report?.ok ?? false;
  }

  /** Null for an error that has a type. */
  async #typed<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (thrown) {
      this.#same = false;
      if (!isRekindleError(thrown)) this.#violations.push(`${what}: no RekindleError but ${String(thrown)}`);
      return null;
    }
  }
}
