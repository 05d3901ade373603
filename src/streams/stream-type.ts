/** Media types of streams. */

/** Of a stream that is created without one. */
export const DEFAULT_TYPE = 'application/octet-stream';

/** Whether the stream consists of JSON messages; any other consists of bytes. */
export function isJsonType(type: string): boolean {
  return bare(type) === 'application/json';
}

/** Whether the content is text, so that it can be sent as it is where only text fits. */
export function isTextType(type: string): boolean {
  return isJsonType(type) || bare(type).startsWith('text/');
}

/** Without parameters, in any case. */
export function isSameType(one: string, other: string): boolean {
  return bare(one) === bare(other);
}

function bare(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase();
}
