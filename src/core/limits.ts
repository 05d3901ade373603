/** Limits, in one place. Each is generous for real agents and keeps one bad value from crashing the process. */

/** Encoded length of one name segment on disk, in bytes. Common file systems allow 255; the rest is room for suffixes. */
export const NAME_BYTES_MAX = 200;
/** One journal record as JSON text, in bytes. Store larger payloads as artifacts. */
export const RECORD_BYTES_MAX = 64 * 1024 * 1024;
/** One JSON document that is read as a whole, in bytes; far below the maximum length of a JavaScript string. */
export const DOCUMENT_BYTES_MAX = 256 * 1024 * 1024;
/** The live journal file is sealed and numbered when it is larger than this, in bytes. */
export const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;
/** One group commit writes at most about this many bytes. */
export const COMMIT_BYTES_MAX = 8 * 1024 * 1024;
/** Maximum nesting of a JSON value. Deeper parts are replaced by a marker, because `JSON.parse` and `JSON.stringify` recurse. */
export const JSON_DEPTH_MAX = 512;
/** Default lifetime of a lease without a heartbeat, in milliseconds. */
export const LEASE_TTL_MS = 15_000;
