/** Bounds, in one place. Each is generous for real agents and keeps one bad value from taking the process down. */

/** Encoded length of one name segment on disk, in bytes: below the 255 of common file systems, with room for suffixes. */
export const NAME_BYTES_MAX = 200;
/** One journal record as JSON text, in bytes. Larger payloads belong into an artifact. */
export const RECORD_BYTES_MAX = 64 * 1024 * 1024;
/** One JSON document that is read as a whole, in bytes; far below what one JavaScript string holds. */
export const DOCUMENT_BYTES_MAX = 256 * 1024 * 1024;
/** The live journal file is sealed and numbered beyond this size. */
export const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;
/** One group commit writes at most about this much at once. */
export const COMMIT_BYTES_MAX = 8 * 1024 * 1024;
/** Nesting kept in a JSON value; what lies deeper is cut with a marker. `JSON.parse` and `JSON.stringify` recurse. */
export const JSON_DEPTH_MAX = 512;
/** Default life of a lease without a heartbeat. */
export const LEASE_TTL_MS = 15_000;
