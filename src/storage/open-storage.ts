/** Opens a store by its address: a folder, or the URL of another backend. Does no I/O; a driver is loaded on first use. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { RekindleError } from '../core/errors.js';
import type { RedactionOptions } from '../core/redaction/redactor.js';
import { FileStorage } from './file/file-storage.js';
import { MemoryStorage } from './memory/memory-storage.js';
import { withObjects } from './objects/object-backend.js';
import { ObjectsStorage, type ObjectsStorageOptions } from './objects/objects-storage.js';
import { openObjects } from './objects/open-objects.js';
import type { StorageBackend } from './ports.js';
import { PostgresStorage, type PostgresStorageOptions } from './postgres/postgres-storage.js';
import { withRedaction } from './redacted-storage.js';
import { keysNamed } from './sealing/named-keys.js';
import { withSealing } from './sealing/sealed-storage.js';
import { SqliteStorage } from './sqlite/sqlite-storage.js';
import { withTenant } from './tenants/tenant-storage.js';

const KINDS = [
  'a folder, or file:FOLDER',
  'sqlite:FILE',
  'postgres://USER:PASSWORD@HOST:PORT/DATABASE, with ?schema=NAME, connections=N, partitions=N, prepare=false, notify=false, unsynced=false',
  's3://BUCKET/PREFIX, with ?region=NAME, endpoint=URL, path_style=true',
  'uc:/Volumes/CATALOG/SCHEMA/VOLUME/PREFIX, with ?leases=URL of sqlite: or postgres:, or writers=one',
  'objects:FOLDER',
  'memory:',
];

const OBJECT_SCHEMES = ['s3', 'uc', 'objects'];

/** At least two letters, because `C:` is a drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;

/** A folder with such a name is a forgotten scheme: opened as a folder, the store would be plain. */
const PARAMETERS = /[?&](?:seal|redact|tenant|objects|leases)=/;

/** False for a folder. */
export function isStorageUrl(place: string): boolean {
  return SCHEME.test(place);
}

/**
 * Opens a store by a folder or URL. With `?objects=URL` (encoded) it keeps large blobs in that object store; see
 * `openObjects`. With `?redact=credentials`, `?redact=personal` or both, separated by a comma, it stores no such data; see
 * `withRedaction`. With `?seal=environment`, `?seal=keychain` or `?seal=FILE` everything in it is encrypted; see `withSealing`. With
 * `?tenant=NAME` it opens that tenant alone; see `withTenant`.
 * ```ts
 * const storage = openStorage('sqlite:agents.db');
 * ```
 * @param place a folder, `file:`, `sqlite:`, `postgres:`, `s3:`, `uc:`, `objects:` or `memory:`
 * @throws INVALID_ARGUMENT for another scheme or an unknown parameter, INVALID_NAME for the name of a tenant
 */
export function openStorage(place: string): StorageBackend {
  const scheme = SCHEME.exec(place)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    if (PARAMETERS.test(place))
      throw invalid(place, 'needs file: before the folder, because it has parameters');
    return new FileStorage(place);
  }
  const { address, query } = split(place);
  const objects = take(query, 'objects');
  const redact = take(query, 'redact');
  const seal = take(query, 'seal');
  const tenant = takeOne(query, 'tenant');
  const backend = openBackend(scheme, address, query);
  const unknown = [...query.keys()];
  if (unknown.length > 0) throw invalid(scheme, `has no parameter ${unknown.join(', ')}`);
  const kept = objects === null ? backend : withObjects(backend, openObjects(objects));
  const whole = seal === null ? kept : withSealing(kept, keysNamed(seal));
  const part = tenant === null ? whole : withTenant(whole, tenant);
  return redact === null ? part : withRedaction(part, kindsIn(redact));
}

function openBackend(scheme: string, address: string, query: URLSearchParams): StorageBackend {
  if (scheme === 'file') return new FileStorage(pathOf(address));
  if (scheme === 'sqlite') return new SqliteStorage(pathOf(address));
  if (scheme === 'postgres' || scheme === 'postgresql') return openPostgres(address, query);
  if (OBJECT_SCHEMES.includes(scheme)) return openObjectsStorage(scheme, address, query);
  if (scheme === 'memory') return new MemoryStorage();
  throw invalid(scheme, 'is not known');
}

/** Takes our parameters out of the URL; the rest is for the object store. */
function openObjectsStorage(scheme: string, address: string, query: URLSearchParams): StorageBackend {
  const leases = take(query, 'leases');
  const writers = take(query, 'writers');
  if (writers !== null && writers !== 'one') throw invalid(scheme, 'has the parameter writers=one only');
  const rest = query.toString();
  if (scheme === 'objects' && rest !== '')
    throw invalid(scheme, `has no parameter ${[...query.keys()].join(', ')}`);
  for (const name of [...query.keys()]) query.delete(name);
  const folder = scheme === 'objects' ? pathOf(address) : null;
  const objects = openObjects(folder ?? (rest ? `${address}?${rest}` : address));
  const options: ObjectsStorageOptions = {
    place: folder === null ? address : `objects:${path.resolve(folder)}`,
    ...(leases === null ? {} : { leases: openStorage(leases) }),
    ...(writers === null ? {} : { writers }),
  };
  return new ObjectsStorage(objects, options);
}

/** @throws INVALID_ARGUMENT */
function kindsIn(redact: string): RedactionOptions {
  const kinds = redact.split(',');
  const unknown = kinds.find((kind) => kind !== 'credentials' && kind !== 'personal');
  if (unknown !== undefined)
    throw invalid('redact', `does not know ${JSON.stringify(unknown)}: it is credentials, personal, or both`);
  return { credentials: kinds.includes('credentials'), personal: kinds.includes('personal') };
}

/** Takes our parameters out of the URL; the rest, such as `sslmode`, is for the driver. */
function openPostgres(address: string, query: URLSearchParams): StorageBackend {
  const flag = (name: string) => {
    const value = take(query, name);
    return value === null ? undefined : value !== 'false' && value !== '0';
  };
  const count = (name: string) => {
    const value = take(query, name);
    if (value !== null && !/^\d{1,4}$/.test(value)) throw invalid('postgres', `needs a number for ${name}`);
    return value === null ? undefined : Number(value);
  };
  const given = {
    schema: take(query, 'schema') ?? undefined,
    connectionsMax: count('connections'),
    partitions: count('partitions'),
    prepare: flag('prepare'),
    notify: flag('notify'),
    unsyncedCommits: flag('unsynced'),
  };
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const rest = query.toString();
  for (const name of [...query.keys()]) query.delete(name);
  return new PostgresStorage(rest ? `${address}?${rest}` : address, options as PostgresStorageOptions);
}

function split(place: string): { readonly address: string; readonly query: URLSearchParams } {
  const at = place.indexOf('?');
  if (at < 0) return { address: place, query: new URLSearchParams() };
  return { address: place.slice(0, at), query: new URLSearchParams(place.slice(at + 1)) };
}

/** Accepts the usual forms `sqlite:agents.db`, `sqlite:/var/agents.db` and `sqlite:///var/agents.db`. */
function pathOf(address: string): string {
  const rest = address.slice(address.indexOf(':') + 1);
  if (rest === '' || rest === '//') throw invalid(address, 'names no file or folder');
  return rest.startsWith('///')
    ? fileURLToPath(`file:${rest}`)
    : decodeURIComponent(rest.replace(/^\/\//, ''));
}

function take(query: URLSearchParams, name: string): string | null {
  const value = query.get(name);
  query.delete(name);
  return value;
}

/** A second value would be ignored. @throws INVALID_ARGUMENT */
function takeOne(query: URLSearchParams, name: string): string | null {
  if (query.getAll(name).length > 1) throw invalid(name, 'is given more than once');
  return take(query, name);
}

function invalid(what: string, problem: string): RekindleError {
  const text = `The storage ${JSON.stringify(what)} ${problem}. Possible are: ${KINDS.join('; ')}.`;
  return new RekindleError('INVALID_ARGUMENT', text, { details: { storage: what, possible: KINDS } });
}
