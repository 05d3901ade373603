/** Stores, contexts and child processes for the contract tests of checkpoints. */
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll } from 'vitest';
import type { CheckpointServiceOptions } from '../../src/checkpoints/checkpoint-params.js';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { ManualClock } from '../../src/core/clock.js';
import { isRekindleError, type RekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage, type FileStorageOptions } from '../../src/storage/file/file-storage.js';
import { encodeNameSegment } from '../../src/storage/name-encoding.js';
import type { Blobs, Lease, StorageBackend } from '../../src/storage/ports.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';

const made: string[] = [];
const opened: { close(): Promise<void> }[] = [];

afterAll(async () => {
  for (const service of opened.splice(0)) await service.close();
  for (const folder of made.splice(0)) await fs.rm(folder, { recursive: true, force: true });
});

/** A folder with checkpoints. */
export class Place {
  readonly root: string;
  /** It stands still unless it is told to go on. */
  readonly clock = new ManualClock(Date.now());

  private constructor(root: string) {
    this.root = root;
  }

  static async make(): Promise<Place> {
    const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-checkpoints-'));
    made.push(root);
    return new Place(root);
  }

  /** A service over a storage of its own, as another process would have it. */
  service(options: CheckpointServiceOptions = {}, storage: FileStorageOptions = {}): CheckpointService {
    const backend = options.backend ?? this.storage(storage);
    const service = new CheckpointService({ clock: this.clock, ...options, backend });
    opened.push(service, ...(options.backend ? [] : [backend]));
    return service;
  }

  /** Nothing is synced by default: what is tested here is not power loss. */
  storage(options: FileStorageOptions = {}): FileStorage {
    return new FileStorage(this.root, { durability: 'relaxed', ...options });
  }

  file(...names: string[]): string {
    return path.join(this.root, 'checkpoints', ...names);
  }

  ofSession(session: string, ...names: string[]): string {
    return this.file('sessions', encodeNameSegment(session), ...names);
  }

  journalFile(session: string): string {
    return this.ofSession(session, 'checkpoints.jsonl');
  }

  /** The live file of the journal; empty when there is none. */
  async journal(session: string): Promise<string> {
    return fs.readFile(this.journalFile(session), 'utf8').catch(() => '');
  }

  /** Paths of the stored data, sorted. */
  async packs(session: string): Promise<string[]> {
    const folder = this.ofSession(session, 'packs');
    const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort();
  }

  async packBytes(session: string): Promise<number> {
    let bytes = 0;
    for (const file of await this.packs(session)) bytes += (await fs.stat(file)).size;
    return bytes;
  }

  /** So much time goes by, for the clock and for the data of a session. */
  async age(session: string, ms: number): Promise<void> {
    this.clock.advance(ms);
    const past = new Date(Date.now() - ms);
    for (const file of await this.packs(session)) await fs.utimes(file, past, past);
  }

  /** What a person writes beside the checkpoints. */
  async configure(name: 'classification' | 'checkpoints', content: unknown): Promise<void> {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await fs.mkdir(this.file('config'), { recursive: true });
    await fs.writeFile(this.file('config', `${name}.json`), text);
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

/** What a call throws at once. */
export function thrownBy(work: () => unknown): Promise<RekindleError> {
  return errorOf((async () => work())());
}

/** Text that does not compress well, the same for the same seed. */
export function noise(seed: number, length: number): string {
  const random = new SeededRandom(seed);
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_';
  return Array.from({ length }, () => letters[random.below(64)]).join('');
}

/** Messages of one kilobyte each. */
export function bigContext(seed: number, kilobytes: number): JsonObject & { messages: string[] } {
  const messages = Array.from({ length: kilobytes }, (_, index) => noise(seed * 100_003 + index, 1_000));
  return { goal: 'go on', messages };
}

/** Any JSON object, with what has broken stores before. A negative zero is 0, as `JSON.stringify` has it. */
export function anyContext(): fc.Arbitrary<JsonObject> {
  const oddText = fc.constantFrom(
    '\ud800',
    '\udc00x',
    '\u0000',
    '\u2028',
    '\u{1f469}\u200d\u{1f4bb}',
    '',
    '"\\',
  );
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), oddText);
  const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toJSON', '10', '9', '-1'));
  const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
  const { object } = fc.letrec<{ value: unknown; object: [string, unknown][] }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(text, number, fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 5 }),
      tie('object').map((entries) => Object.fromEntries(entries)),
    ),
    object: fc.array(fc.tuple(key, tie('value')), { maxLength: 6 }),
  }));
  return object.map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as JsonObject);
}

export interface BlobHooks {
  /** In its place. */
  readonly put?: Blobs['put'];
  readonly beforeGet?: () => Promise<void>;
}

/** A storage whose data is kept in another way. */
export function withBlobs(storage: StorageBackend, { put, beforeGet }: BlobHooks): StorageBackend {
  const blobs = (inner: Blobs): Blobs => ({
    put: put ?? ((bytes) => inner.put(bytes)),
    get: async (digest) => {
      await beforeGet?.();
      return inner.get(digest);
    },
    has: (digest) => inner.has(digest),
    delete: (digest) => inner.delete(digest),
    list: () => inner.list(),
  });
  return {
    place: storage.place,
    capabilities: storage.capabilities,
    documents: storage.documents,
    leases: storage.leases,
    openJournal: (name, options) => storage.openJournal(name, options),
    removeJournal: (name, lease) => storage.removeJournal(name, lease),
    blobs: (scope) => blobs(storage.blobs(scope)),
    listNames: (prefix) => storage.listNames(prefix),
    contents: (prefix) => storage.contents(prefix),
    places: (prefix) => storage.places(prefix),
    removeBelow: (prefix, lease) => storage.removeBelow(prefix, lease),
    scrub: (options) => storage.scrub(options),
    sweep: (scope) => storage.sweep(scope),
    watch: (prefix, onChange) => storage.watch(prefix, onChange),
    close: () => storage.close(),
  };
}

/** As another program would do it, under the session's lease. */
export async function appendRecords(
  place: Place,
  session: string,
  records: readonly JsonObject[],
): Promise<void> {
  const storage = place.storage();
  const folder = ['checkpoints', 'sessions', session];
  const acquire = (): Promise<Lease | null> =>
    storage.leases.acquire([...folder, 'session.lease']).catch(() => null);
  let lease = await acquire();
  for (; !lease; lease = await acquire()) await sleep(10); // whoever saved last keeps it for a moment
  const journal = await storage.openJournal<JsonObject>([...folder, 'checkpoints'], {
    lease,
    segmentBytes: 256 * 1024,
  });
  for (let at = 0; at < records.length; at += 100) await journal.append(records.slice(at, at + 100));
  await journal.close();
  await lease.release();
  await storage.close();
}

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const SOURCES = new URL('../../src/', import.meta.url);

export interface Child {
  /** Rejects when it did not end well. */
  readonly output: Promise<string>;
  /** Resolves with what it says first. */
  readonly said: Promise<string>;
  tell(text: string): void;
}

/**
 * Runs a script as a process of its own. It has `CheckpointService`, `FileStorage`, `root` and `told()`, which waits for one word from
 * here.
 */
export function child(root: string, script: string, environment: Record<string, string> = {}): Child {
  const code = `
    const load = (name) => import(new URL(name, ${JSON.stringify(SOURCES.href)}).href);
    const { CheckpointService } = await load('checkpoints/checkpoint-service.ts');
    const { FileStorage } = await load('storage/file/file-storage.ts');
    const root = ${JSON.stringify(root)};
    const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
    const told = () => new Promise((resolve) => process.stdin.once('data', resolve).once('end', resolve));
    ${script}
    process.stdin.destroy();`;
  const process_ = spawn(process.execPath, ['--import', TSX, '--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let text = '';
  let errors = '';
  process_.stdin.on('error', () => {}); // it ended before
  process_.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const said = new Promise<string>((resolve) => {
    process_.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    process_.once('close', () => resolve(text));
  });
  const output = new Promise<string>((resolve, reject) => {
    process_.once('error', reject);
    process_.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new RangeError(`it ended with ${code}: ${errors}`)),
    );
  });
  output.catch(() => {}); // told to who waits for it
  return { output, said, tell: (word) => void process_.stdin.write(`${word}\n`) };
}

/** The lines that a script said, as JSON. */
export async function linesOf(child: Child): Promise<unknown[]> {
  const lines = (await child.output).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as unknown);
}
