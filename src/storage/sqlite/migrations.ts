/**
 * The schema, as an append-only list of steps: a released step never changes. `user_version` counts the applied steps.
 *
 * Rows of one stream, and pieces of one document, are stored together: their key combines the owner's number and their
 * own in one integer.
 */
export const APPLICATION_ID = 0x524b444c; // "RKDL"

/** Bits for the number of a record in its stream, and of a piece in its document. */
export const SEQ_BITS = 32;
export const PIECE_BITS = 24;
/** Bytes of a document per piece: the maximum cost of replacing a document's end. One piece fits into a page. */
export const PIECE_BYTES = 4_000;

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE leases (
    key TEXT PRIMARY KEY,
    fence INTEGER NOT NULL,
    owner TEXT NOT NULL,
    released INTEGER NOT NULL,
    beat_ms INTEGER NOT NULL,
    ttl_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE streams (
    no INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    crc TEXT,
    archived_to INTEGER NOT NULL DEFAULT 0,
    removed_to INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    crc TEXT NOT NULL,
    append_key TEXT,
    body TEXT
  ) STRICT;
  CREATE TABLE damaged_records (
    id INTEGER NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    set_aside_ms INTEGER NOT NULL,
    crc TEXT NOT NULL,
    body BLOB
  ) STRICT;

  CREATE TABLE documents (
    no INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    version TEXT,
    revision INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE document_pieces (
    id INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
  ) STRICT;

  CREATE TABLE blobs (
    no INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    digest TEXT NOT NULL,
    size INTEGER NOT NULL,
    stored_ms INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (scope, digest)
  ) STRICT;
  `,
];
