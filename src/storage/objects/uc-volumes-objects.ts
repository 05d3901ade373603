/** Objects as files of a Unity Catalog volume, over the Databricks Files API. */
import { RekindleError } from '../../core/errors.js';
import { decodeNameSegment } from '../name-encoding.js';
import { keyOf } from '../name-key.js';
import type { Name } from '../ports.js';
import { type FolderEntry, namesInFolder, walkFolders } from './folder-walk.js';
import { allPages, type ListPage, nextPage } from './list-pages.js';
import { objectError } from './object-errors.js';
import type { ObjectEntry, ObjectInfo, ObjectStorage } from './object-storage.js';
import { assertWholeNumber } from './option-check.js';
import { placePrefix } from './place-prefix.js';
import { RequestFailure } from './request-failure.js';
import { type Attempt, type RetryOptions, RetryPolicy } from './retry-policy.js';
import { toldInfo } from './told-info.js';
import { type FilesRequest, networkFailure, UcFilesApi } from './uc-files-api.js';
import { wholeBody } from './whole-body.js';

/** Options of `UcVolumesObjects`. */
export interface UcVolumesOptions {
  /** URL of the workspace. Default: the environment variable DATABRICKS_HOST. */
  readonly host?: string | undefined;
  /** Default: the environment variable DATABRICKS_TOKEN. */
  readonly token?: string | undefined;
  /** Called before every request, for tokens that expire. Overrides `token`. */
  readonly getToken?: (() => string | Promise<string>) | undefined;
  /** Such as `/Volumes/main/agents/state`. */
  readonly volume: string;
  /** Path prefix below the volume, taken literally. Default: the whole volume. */
  readonly prefix?: string | undefined;
  /** Longest silence of the server in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  readonly retries?: RetryOptions | undefined;
  /** Entries per page of `list`. Default: the server's, 1,000. */
  readonly pageSize?: number | undefined;
}

/** Cache size for folders that are known to exist. Forgotten folders are created again, which is harmless. */
const FOLDERS_KNOWN_MAX = 10_000;

interface DirectoryEntry {
  readonly name: string;
  readonly is_directory: boolean;
  readonly file_size?: number;
  readonly last_modified?: number;
}

interface DirectoryPage {
  readonly contents?: readonly DirectoryEntry[];
  readonly next_page_token?: string;
}

/** An object store in a Databricks Unity Catalog volume. Needs no package. */
export class UcVolumesObjects implements ObjectStorage {
  readonly #api: UcFilesApi;
  readonly #policy: RetryPolicy;
  readonly #volume: string;
  readonly #root: string;
  readonly #pageSize: number | undefined;
  readonly #folders = new Set<string>();

  /** Sends nothing before the first call. @throws INVALID_ARGUMENT */
  constructor(options: UcVolumesOptions) {
    const prefix = placePrefix(options.prefix);
    this.#volume = volumeOf(options.volume);
    this.#root = prefix === '' ? this.#volume : `${this.#volume}/${prefix}`;
    assertWholeNumber('pageSize', options.pageSize, 1);
    this.#pageSize = options.pageSize;
    this.#policy = new RetryPolicy({ ...options.retries, timeoutMs: options.timeoutMs });
    const token = options.token ?? process.env['DATABRICKS_TOKEN'];
    const getToken = options.getToken ?? (token ? () => token : undefined);
    const host = options.host ?? process.env['DATABRICKS_HOST'];
    if (!host) throw missing('host', 'DATABRICKS_HOST');
    if (!getToken) throw missing('token', 'DATABRICKS_TOKEN');
    this.#api = new UcFilesApi(host, getToken);
  }

  async put(name: Name, bytes: Uint8Array): Promise<void> {
    const path = this.#path(name);
    const folder = path.slice(0, path.lastIndexOf('/'));
    await this.#ensureFolder(folder);
    if (await this.#putFile(path, bytes)) return;
    this.#folders.delete(folder); // another client removed it
    await this.#ensureFolder(folder);
    if (!(await this.#putFile(path, bytes))) throw notThere('put', path);
  }

  async get(name: Name): Promise<Uint8Array | null> {
    const path = this.#path(name);
    return this.#policy.run({ operation: 'get', name: path }, (attempt) =>
      this.#read({ method: 'GET', kind: 'files', path }, attempt),
    );
  }

  async stat(name: Name): Promise<ObjectInfo | null> {
    const path = this.#path(name);
    return this.#policy.run({ operation: 'stat', name: path }, async (attempt) => {
      const response = await this.#api.send({ method: 'HEAD', kind: 'files', path }, attempt);
      if (!response) return null;
      return toldInfo(lengthOf(response), Date.parse(response.headers.get('last-modified') ?? ''));
    });
  }

  /** Checked first: a retry after a lost answer would not find what it deleted itself. */
  async delete(name: Name): Promise<boolean> {
    if (!(await this.stat(name))) return false;
    const path = this.#path(name);
    await this.#policy.run({ operation: 'delete', name: path }, (attempt) =>
      this.#api.send({ method: 'DELETE', kind: 'files', path }, attempt),
    );
    return true;
  }

  async *list(prefix: Name): AsyncGenerator<ObjectEntry> {
    yield* walkFolders(this.#folderReader(prefix));
  }

  async names(prefix: Name): Promise<string[]> {
    return namesInFolder(this.#folderReader(prefix));
  }

  #folderReader(prefix: Name): (below: Name) => Promise<FolderEntry[]> {
    const start = prefix.length === 0 ? this.#root : this.#path(prefix);
    const pathOf = (below: Name) => (below.length === 0 ? start : `${start}/${keyOf(below)}`);
    return (below) => allPages((token) => this.#page(pathOf(below), token));
  }

  async close(): Promise<void> {}

  async #putFile(path: string, body: Uint8Array): Promise<boolean> {
    const request = { method: 'PUT', kind: 'files', path, query: { overwrite: 'true' }, body } as const;
    const send = (attempt: Attempt) => this.#api.send(request, attempt);
    return (
      (await this.#policy.run({ operation: 'put', name: path }, send, { uploadBytes: body.length })) !== null
    );
  }

  /** Creates the folder with its parents. The volume itself must exist. */
  async #ensureFolder(path: string): Promise<void> {
    if (path === this.#volume || this.#folders.has(path)) return;
    const made = await this.#policy.run({ operation: 'make', name: path }, (attempt) =>
      this.#api.send({ method: 'PUT', kind: 'directories', path }, attempt),
    );
    if (!made) throw notThere('make', path);
    if (this.#folders.size >= FOLDERS_KNOWN_MAX) this.#folders.clear();
    this.#folders.add(path);
  }

  #page(path: string, token: string | undefined): Promise<ListPage<FolderEntry>> {
    const query = {
      ...(this.#pageSize === undefined ? {} : { page_size: String(this.#pageSize) }),
      ...(token === undefined ? {} : { page_token: token }),
    };
    return this.#policy.run({ operation: 'list', name: path }, async (attempt) => {
      const body = await this.#read({ method: 'GET', kind: 'directories', path, query }, attempt);
      if (!body) return { entries: [], next: undefined };
      const { contents = [], next_page_token: next } = parsePage(body);
      return { entries: entriesOf(contents), next: nextPage(Boolean(next), next, token) };
    });
  }

  async #read(request: FilesRequest, attempt: Attempt): Promise<Buffer | null> {
    const response = await this.#api.send(request, attempt);
    if (!response) return null;
    try {
      return await wholeBody(response.body ?? noChunks(), lengthOf(response), attempt);
    } catch (thrown) {
      throw networkFailure(thrown);
    }
  }

  #path(name: Name): string {
    return `${this.#root}/${keyOf(name)}`;
  }
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}

/** Undefined also for an encoded body, which has another length. */
function lengthOf(response: Response): number | undefined {
  const length = response.headers.get('content-length');
  return length === null || response.headers.has('content-encoding') ? undefined : Number(length);
}

/** Entries with names that we can have made. */
function entriesOf(contents: readonly DirectoryEntry[]): FolderEntry[] {
  return contents.flatMap(({ name, is_directory, file_size, last_modified }) => {
    const segment = decodeNameSegment(name);
    if (segment === null) return [];
    return [{ segment, object: is_directory ? null : toldInfo(file_size, last_modified) }];
  });
}

function parsePage(body: Buffer): DirectoryPage {
  try {
    return JSON.parse(body.toString('utf8')) as DirectoryPage;
  } catch {
    throw new RequestFailure('the list is no JSON.');
  }
}

function notThere(operation: string, path: string): RekindleError {
  const failure = new RequestFailure('the server answered 404.', { status: 404 });
  return objectError(failure, { operation, name: path }, 1);
}

function volumeOf(volume: string): string {
  const path = placePrefix(volume);
  if (/^Volumes\/[^/]+\/[^/]+\/[^/]+$/.test(path)) return `/${path}`;
  throw new RekindleError('INVALID_ARGUMENT', 'A volume is given as /Volumes/<catalog>/<schema>/<volume>.', {
    details: { volume: path.slice(0, 80) },
  });
}

function missing(argument: string, variable: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `Give \`${argument}\`, or set ${variable}.`, {
    details: { argument, variable },
  });
}
