/** The path of a stream in an address. */

import { STREAM_PREFIX } from './stream-call.js';
import { invalid } from './stream-wire.js';

/** The part of the addresses that the protocol keeps for itself. */
export const RESERVED = '__ds';

export function isReserved(path: string): boolean {
  return path === RESERVED || path.startsWith(`${RESERVED}/`);
}

/** The path in the address of a stream, decoded. A reserved address may end with a path as one part. @throws INVALID_ARGUMENT */
export function streamPathOf(address: string): string {
  if (!address.startsWith(STREAM_PREFIX)) throw invalid('path', `must begin with ${STREAM_PREFIX}`);
  const parts = address.slice(STREAM_PREFIX.length).split('/').map(decoded);
  if (parts[0] !== RESERVED && parts.some((part) => part.includes('/')))
    throw invalid('path', 'has an encoded slash');
  return parts.join('/');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('path', 'is not percent-encoded UTF-8');
  }
}
