/** Lossless compression with the runtime's algorithms. Output never exceeds the recorded size. */
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { RekindleError } from '../../core/errors.js';

export type CompressionAlgorithm = 'gzip' | 'zstd';
/** How bytes are stored. */
export type CompressionType = CompressionAlgorithm | 'none';
export type CompressionLevel = 'basic' | 'standard' | 'aggressive';

export interface CompressionOptions {
  /** False: everything is stored uncompressed. */
  readonly enabled: boolean;
  readonly algorithm: CompressionAlgorithm;
  /** Speed or size: `basic` is fast, `aggressive` small. All are lossless. */
  readonly level: CompressionLevel;
  /** Smaller data, in bytes, is stored uncompressed. */
  readonly minSizeForCompression: number;
}

export interface Compressed {
  readonly type: CompressionType;
  readonly bytes: Uint8Array;
}

const GZIP_LEVELS: Readonly<Record<CompressionLevel, number>> = { basic: 1, standard: 6, aggressive: 9 };
const ZSTD_LEVELS: Readonly<Record<CompressionLevel, number>> = { basic: 1, standard: 3, aggressive: 15 };

type Compress = (bytes: Uint8Array, options?: object) => Promise<Buffer>;

/** Runtimes before Node 22.15 lack zstd. */
const zstd = zlib as unknown as {
  readonly zstdCompress?: (bytes: Uint8Array, options: object, done: unknown) => void;
  readonly zstdDecompress?: (bytes: Uint8Array, options: object, done: unknown) => void;
};
const gzip = promisify(zlib.gzip) as Compress;
const gunzip = promisify(zlib.gunzip) as Compress;
/** Below this size, inflating is faster than handing the data to another thread. */
const SYNC_BYTES_MAX = 64 * 1024;

/**
 * Checked when the service starts, not at the first save. @throws DEPENDENCY_MISSING if the runtime lacks the
 * algorithm
 */
export function assertCompression({ enabled, algorithm }: CompressionOptions): void {
  if (enabled && algorithm === 'zstd') zstdOf('zstdCompress');
}

/** Data that does not get smaller is stored uncompressed. */
export async function compress(bytes: Uint8Array, options: CompressionOptions): Promise<Compressed> {
  const { enabled, algorithm, level, minSizeForCompression } = options;
  if (!enabled || bytes.length < minSizeForCompression) return { type: 'none', bytes };
  const smaller =
    algorithm === 'gzip'
      ? await gzip(bytes, { level: GZIP_LEVELS[level] })
      : await zstdOf('zstdCompress')(bytes, { params: { [ZSTD_LEVEL]: ZSTD_LEVELS[level] } });
  return smaller.length < bytes.length ? { type: algorithm, bytes: smaller } : { type: 'none', bytes };
}

/** `ZSTD_c_compressionLevel` of the zstd library. */
const ZSTD_LEVEL = 100;

/**
 * Inflates to exactly `rawBytes` bytes and never allocates more, so that a compression bomb is harmless.
 * @throws CHECKPOINT_DAMAGED, DEPENDENCY_MISSING for zstd in a runtime without it
 */
export async function decompress({ type, bytes }: Compressed, rawBytes: number): Promise<Buffer> {
  const raw = await inflated(type, bytes, rawBytes);
  if (raw.length === rawBytes) return raw;
  throw damaged(`it inflates to ${raw.length} bytes, not ${rawBytes}`);
}

async function inflated(type: CompressionType, bytes: Uint8Array, rawBytes: number): Promise<Buffer> {
  if (type === 'none') return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const inflate = type === 'gzip' ? gunzip : zstdOf('zstdDecompress');
  const options = { maxOutputLength: Math.max(1, rawBytes) };
  try {
    if (type === 'gzip' && rawBytes <= SYNC_BYTES_MAX) return zlib.gunzipSync(bytes, options);
    return await inflate(bytes, options);
  } catch (cause) {
    throw damaged(`it cannot be inflated to ${rawBytes} bytes`, cause);
  }
}

function zstdOf(name: 'zstdCompress' | 'zstdDecompress'): Compress {
  const found = zstd[name];
  if (found) return promisify(found) as Compress;
  throw new RekindleError('DEPENDENCY_MISSING', 'zstd needs Node 22.15 or newer; gzip works everywhere.', {
    details: { package: 'node', needs: '>=22.15' },
  });
}

function damaged(problem: string, cause?: unknown): RekindleError {
  return new RekindleError('CHECKPOINT_DAMAGED', `The data of a checkpoint is damaged: ${problem}.`, {
    details: { problem },
    cause,
  });
}
