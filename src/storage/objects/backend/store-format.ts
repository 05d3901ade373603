/**
 * The object that describes the store. Its creation also proves that the server compares: some compatible servers ignore the
 * conditions, and then two writers would overwrite each other.
 */
import { RekindleError } from '../../../core/errors.js';
import type { ConditionalObjects } from '../object-storage.js';
import { FORMAT } from './object-places.js';
import { decodeJson, encodeJson } from './stored-json.js';

const VERSION = 1;
const CONTENT = encodeJson({ format: 'rekindle-objects', version: VERSION });

/** Before the first write of this process. @throws STORAGE_FAILED, UNSUPPORTED_VERSION */
export async function ensureFormat(cas: ConditionalObjects): Promise<void> {
  const [made, stored] = await Promise.all([
    cas.writeIf(FORMAT, CONTENT, { ifAbsent: true }),
    cas.read(FORMAT),
  ]);
  if (made !== null) return proveConditions(cas);
  const found = stored ?? (await cas.read(FORMAT));
  const { format, version } = found ? decodeJson(FORMAT, found.bytes) : {};
  if (format === 'rekindle-objects' && version === VERSION) return;
  throw new RekindleError(
    'UNSUPPORTED_VERSION',
    `The store has the format ${JSON.stringify(format ?? null)}, version ${JSON.stringify(version ?? null)}. This release reads version ${VERSION}.`,
    { details: { version: version ?? null, supported: VERSION } },
  );
}

async function proveConditions(cas: ConditionalObjects): Promise<void> {
  const again = await cas.writeIf(FORMAT, CONTENT, { ifAbsent: true });
  const other = await cas.writeIf(FORMAT, CONTENT, { ifMatch: '"0"' });
  if (again === null && other === null) return;
  throw new RekindleError(
    'STORAGE_FAILED',
    'The object store ignores If-None-Match or If-Match. Two writers would overwrite each other there. Use a store with conditional writes.',
    { details: { ifNoneMatch: again === null, ifMatch: other === null } },
  );
}
