/** Uses documents and blobs, and tracks what must be stored at each moment, whichever call meets a fault. */
import assert from 'node:assert/strict';
import type { JsonValue } from '../../core/json.js';
import type { DocumentWriteOptions, Name, StorageBackend } from '../ports.js';
import { collect } from './conformance-kit.js';
import { Expected, type FaultSteps } from './fault-steps.js';

const FOLDER: Name = ['faults', 'documents'];
const SETTINGS: Name = [...FOLDER, 'settings'];
const BYTES: Name = [...FOLDER, 'bytes'];
const OLD: Name = [...FOLDER, 'old'];
const CACHE: Name = [...FOLDER, 'cache'];
const SCOPE: Name = ['faults', 'blobs'];

/**
 * The contents of a folder: for each value the number of documents that hold it, sorted. Documents set aside get any
 * free name.
 */
type Folder = readonly string[];

export class DocumentsUnderFaults {
  readonly #steps: FaultSteps;
  readonly #settings = new Expected<JsonValue>(null);
  readonly #bytes = new Expected<string | null>(null);
  readonly #old = new Expected<Folder>([]);
  readonly #blobs = new Expected<readonly string[]>([]);

  constructor(steps: FaultSteps) {
    this.#steps = steps;
  }

  async run(backend: StorageBackend): Promise<void> {
    await this.#versions(backend);
    await this.#wholeDocuments(backend);
    await this.#blobsOf(backend);
    await this.#lists(backend);
  }

  async #versions({ documents }: StorageBackend): Promise<void> {
    const steps = this.#steps;
    const write = (value: JsonValue, options: DocumentWriteOptions) =>
      steps.change(
        `write ${JSON.stringify(value)}`,
        this.#settings,
        () => value,
        () => documents.write(SETTINGS, value, options),
      );
    await write({ v: 1 }, { ifVersion: null });
    const first = await steps.get('read', () => documents.read(SETTINGS));
    this.#settings.see(first?.value ?? null, 'a document');
    await write({ v: 2 }, { ifVersion: first?.version ?? null });
    await write({ v: 3 }, {});
    await steps.refused('a write of an old version', 'DOCUMENT_CONFLICT', () =>
      documents.write(SETTINGS, { v: 99 }, { ifVersion: '0'.repeat(64) }),
    );
    const last = await steps.get('read', () => documents.read(SETTINGS));
    this.#settings.see(last?.value ?? null, 'a document');
  }

  async #wholeDocuments({ documents }: StorageBackend): Promise<void> {
    const steps = this.#steps;
    const put = (text: string) => documents.writeBytes(BYTES, Buffer.from(text));
    for (const text of ['one', 'two'])
      await steps.change(
        'writeBytes',
        this.#bytes,
        () => text,
        () => put(text),
      );
    await steps.change(
      'delete',
      this.#bytes,
      () => null,
      () => documents.delete(BYTES),
    );
    await steps.change(
      'writeBytes',
      this.#bytes,
      () => 'three',
      () => put('three'),
    );
    await steps.get('modifiedMs', () => documents.modifiedMs(BYTES));
    await steps.get('write', () => documents.write(OLD, 'old'));
    this.#old.done(() => ['here']);
    await steps.change(
      'setAside',
      this.#old,
      (before) => before.map(() => 'aside'),
      () => documents.setAside(OLD, 'kept'),
    );
    const cache: DocumentWriteOptions = { durability: 'cache' };
    await steps.get('write a cache', () => documents.writeBytes(CACHE, Buffer.from('abcd'), cache));
    await steps.get('overwriteTail', () => documents.overwriteTail(CACHE, 2, Buffer.from('xy')));
    const bytes = await steps.get('readBytes', () => documents.readBytes(CACHE));
    assert.equal(Buffer.from(bytes!).toString(), 'abxy', 'a cache is not what was written');
  }

  async #blobsOf(backend: StorageBackend): Promise<void> {
    const steps = this.#steps;
    const blobs = backend.blobs(SCOPE);
    const digests = new Map<string, string>();
    for (const text of ['a', 'b', 'c']) {
      const put = async () => void digests.set(text, (await blobs.put(Buffer.from(text))).digest);
      await steps.change('put', this.#blobs, (before) => [...before, text], put);
    }
    const last = digests.get('c');
    if (last !== undefined) {
      assert.ok(await steps.get('has', () => blobs.has(last)), 'a blob is not there');
      const bytes = await steps.get('get', () => blobs.get(last));
      assert.equal(Buffer.from(bytes!).toString(), 'c', 'a blob is not what was put');
    }
    const first = digests.get('a');
    if (first === undefined) return;
    const without = (before: readonly string[]) => before.filter((text) => text !== 'a');
    await steps.change('delete', this.#blobs, without, () => blobs.delete(first));
  }

  async #lists(backend: StorageBackend): Promise<void> {
    const steps = this.#steps;
    await steps.get('list', () => backend.documents.list(FOLDER));
    await steps.get('list blobs', () => collect(backend.blobs(SCOPE).list()));
    await steps.get('listNames', () => backend.listNames(['faults']));
    await steps.get('contents', () => collect(backend.contents(['faults'])));
    assert.equal(await steps.get('sweep', () => backend.sweep(FOLDER)), 0, 'something was left behind');
    const end = await steps.get('watch', () => backend.watch(FOLDER, () => {}));
    await end();
  }

  /** Checks with the healthy store: everything acknowledged is there, and more can be stored. */
  async check(backend: StorageBackend): Promise<void> {
    const { documents } = backend;
    this.#settings.see((await documents.read(SETTINGS))?.value ?? null, 'a document');
    const bytes = await documents.readBytes(BYTES);
    this.#bytes.see(bytes && Buffer.from(bytes).toString(), 'a document of bytes');
    const old = (await documents.list(FOLDER)).filter((name) => name.startsWith('old'));
    this.#old.see(
      old.map((name) => (name === 'old' ? 'here' : 'aside')),
      'what was set aside',
    );
    await this.#checkBlobs(backend);
    await documents.write(SETTINGS, { v: 100 });
    assert.deepEqual((await documents.read(SETTINGS))?.value, { v: 100 });
  }

  async #checkBlobs(backend: StorageBackend): Promise<void> {
    const blobs = backend.blobs(SCOPE);
    const texts: string[] = [];
    for await (const { digest } of blobs.list()) {
      texts.push(Buffer.from((await blobs.get(digest))!).toString());
    }
    this.#blobs.see(texts.sort(), 'what is stored as blobs');
    await blobs.put(Buffer.from('more'));
  }
}
