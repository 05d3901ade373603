/** Opens an object store by its address, for command lines and configuration. */
import { fileURLToPath } from 'node:url';
import { RekindleError } from '../../core/errors.js';
import { LocalObjects } from './local-objects.js';
import type { ObjectStorage } from './object-storage.js';
import { S3Objects } from './s3-objects.js';
import { UcVolumesObjects } from './uc-volumes-objects.js';

type Environment = Readonly<Record<string, string | undefined>>;

const POSSIBLE = [
  'file:./folder (or a path)',
  's3://bucket/prefix?region=..&endpoint=http://..&path_style=true',
  'uc:/Volumes/catalog/schema/volume/prefix',
];
const S3_PARAMETERS = ['region', 'endpoint', 'path_style'];

/**
 * Opens `file:./folder` or a plain path, `s3://bucket/prefix`, or `uc:/Volumes/catalog/schema/volume/prefix`. Secrets
 * are never part of the address: S3 reads them from the SDK's usual sources, `uc:` from DATABRICKS_HOST and
 * DATABRICKS_TOKEN.
 * @throws INVALID_ARGUMENT
 */
export function openObjects(url: string, env: Environment = process.env): ObjectStorage {
  if (typeof url !== 'string' || url === '') throw refused('The address is empty.');
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url)?.[1]?.toLowerCase(); // a single letter is a drive
  if (scheme === undefined) return new LocalObjects(url);
  if (scheme === 'file') return new LocalObjects(fileOf(url));
  if (scheme === 's3') return openS3(url, env);
  if (scheme === 'uc') return openUc(url, env);
  throw refused(`Unknown scheme \`${scheme}:\`.`);
}

function fileOf(url: string): string {
  if (!url.startsWith('file://')) {
    const path = url.slice('file:'.length);
    if (path !== '') return path;
    throw refused('`file:` needs a folder after it.');
  }
  try {
    return fileURLToPath(url);
  } catch {
    throw refused('`file://` needs a full path after it, with three slashes.');
  }
}

function openS3(url: string, env: Environment): ObjectStorage {
  const [, bucket, prefix, query] = /^s3:\/\/([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url) ?? [];
  if (bucket === undefined) throw refused('`s3:` needs a bucket.');
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((key) => !S3_PARAMETERS.includes(key));
  if (unknown !== undefined) throw refused(`\`s3:\` has no parameter \`${unknown.slice(0, 40)}\`.`);
  const pathStyle = parameters.get('path_style') ?? 'false';
  if (!['true', 'false'].includes(pathStyle)) throw refused('`path_style` is true or false.');
  return new S3Objects({
    bucket,
    prefix,
    region: parameters.get('region') ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'],
    endpoint: parameters.get('endpoint') ?? undefined,
    forcePathStyle: pathStyle === 'true',
    ...(env === process.env ? {} : keysOf(env)), // the SDK reads the process's own variables, in the order of its chain
  });
}

function keysOf(env: Environment) {
  return {
    accessKeyId: env['AWS_ACCESS_KEY_ID'],
    secretAccessKey: env['AWS_SECRET_ACCESS_KEY'],
    sessionToken: env['AWS_SESSION_TOKEN'],
  };
}

function openUc(url: string, env: Environment): ObjectStorage {
  const [, volume, prefix] = /^uc:(\/Volumes(?:\/[^/?#]+){3})(?:\/([^?#]*))?$/i.exec(url) ?? [];
  if (volume === undefined) throw refused('`uc:` needs a volume, and has no parameters.');
  const [host, token] = [env['DATABRICKS_HOST'], env['DATABRICKS_TOKEN']];
  if (!host || !token) throw refused('`uc:` needs DATABRICKS_HOST and DATABRICKS_TOKEN in the environment.');
  return new UcVolumesObjects({ host, token, volume, prefix });
}

/** The address is not repeated, because it may contain a password. */
function refused(problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${problem} Possible are: ${POSSIBLE.join(', ')}.`, {
    details: { possible: POSSIBLE },
  });
}
