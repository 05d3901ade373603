/** Reads the body of a request as text, within the limits of size and nesting. */
import type { IncomingMessage } from 'node:http';
import { RekindleError } from '../../core/errors.js';
import { isNestedDeeper } from '../../core/json-text-depth.js';
import type { Refusal } from '../access/refusal.js';
import { SERVER_LIMITS } from '../server-options.js';
import { refused } from './problem.js';

/** A body that is refused is read and dropped up to this size: a client that still sends it would not see the answer otherwise. */
const DROPPED_BYTES_MAX = 16 * 1024 * 1024;

/** Refuses a request by its Content-Length before reading it. */
export function tooLargeByItself({ headers }: IncomingMessage): Refusal | null {
  const bytes = Number(headers['content-length'] ?? 0);
  if (bytes <= SERVER_LIMITS.bodyBytes) return null;
  return bytes > DROPPED_BYTES_MAX ? tooLarge() : { ...tooLarge(), headers: {} };
}

/** @throws REQUEST_REFUSED (413) */
export async function bytesOfBody(request: Request): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > SERVER_LIMITS.bodyBytes) throw refused(tooLarge());
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks, bytes);
}

/** @throws REQUEST_REFUSED (413), LIMIT_EXCEEDED */
export async function textOfBody(request: Request): Promise<string> {
  const text = (await bytesOfBody(request)).toString('utf8');
  const { bodyDepth } = SERVER_LIMITS;
  if (!isNestedDeeper(text, bodyDepth)) return text;
  throw new RekindleError('LIMIT_EXCEEDED', `The body is nested more than ${bodyDepth} levels deep.`, {
    details: { limit: 'depth', allowed: bodyDepth },
  });
}

function tooLarge(): Refusal {
  const detail = `The body is larger than ${SERVER_LIMITS.bodyBytes} bytes.`;
  return { status: 413, reason: 'size', detail, headers: { Connection: 'close' } };
}
