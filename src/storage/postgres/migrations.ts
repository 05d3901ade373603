/**
 * The schema, as an append-only list of steps: a released step never changes.
 *
 * The key of a stream, a document, a lease or a scope is the first column of every primary key. So an engine that
 * distributes its rows keeps related rows on one machine, and every statement of a turn names one key. Needs only
 * tables, primary keys and one plain index.
 */
export interface SchemaOptions {
  /** Quoted. */
  readonly schema: string;
  /** Tables for streams, by hash of the stream. 0: one table, for engines that partition by themselves. */
  readonly partitions: number;
}

/** Bytes of a document per row: the maximum cost of replacing a document's end. */
export const PIECE_BYTES = 8_192;

export const MIGRATIONS: readonly ((options: SchemaOptions) => readonly string[])[] = [
  ({ schema, partitions }) => [
    `CREATE TABLE ${schema}.leases (
      key text COLLATE "C" PRIMARY KEY,
      fence bigint NOT NULL,
      owner text NOT NULL,
      released boolean NOT NULL,
      beat_ms bigint NOT NULL,
      ttl_ms bigint NOT NULL)`,
    ...partitioned(
      `${schema}.streams`,
      `key text COLLATE "C" PRIMARY KEY,
      seq bigint NOT NULL,
      crc text,
      archived_to bigint NOT NULL,
      removed_to bigint NOT NULL,
      lease text COLLATE "C" NOT NULL,
      fence bigint NOT NULL`,
      partitions,
      'fillfactor = 70', // every commit updates a head in place
    ),
    `CREATE INDEX streams_lease ON ${schema}.streams (lease)`,
    ...partitioned(
      `${schema}.records`,
      `key text COLLATE "C" NOT NULL,
      seq bigint NOT NULL,
      crc text NOT NULL,
      append_key text,
      body text,
      PRIMARY KEY (key, seq)`,
      partitions,
    ),
    `CREATE TABLE ${schema}.damaged_records (
      key text COLLATE "C" NOT NULL,
      seq bigint NOT NULL,
      set_aside_ms bigint NOT NULL,
      crc text NOT NULL,
      body text,
      PRIMARY KEY (key, seq, set_aside_ms))`,
    `CREATE TABLE ${schema}.documents (
      key text COLLATE "C" PRIMARY KEY,
      size bigint NOT NULL,
      version text,
      token text,
      revision bigint NOT NULL,
      modified_ms bigint NOT NULL)`,
    `CREATE TABLE ${schema}.document_pieces (
      key text COLLATE "C" NOT NULL,
      piece bigint NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (key, piece))`,
    `CREATE TABLE ${schema}.blobs (
      scope text COLLATE "C" NOT NULL,
      digest text COLLATE "C" NOT NULL,
      size bigint NOT NULL,
      stored_ms bigint NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (scope, digest))`,
  ],
];

function partitioned(table: string, columns: string, partitions: number, settings?: string): string[] {
  const storage = settings ? ` WITH (${settings})` : '';
  if (partitions === 0) return [`CREATE TABLE ${table} (${columns})`];
  const parts = Array.from({ length: partitions }, (_, part) => {
    const values = `FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${part})`;
    return `CREATE TABLE ${table}_${String(part).padStart(3, '0')} PARTITION OF ${table} ${values}${storage}`;
  });
  return [`CREATE TABLE ${table} (${columns}) PARTITION BY HASH (key)`, ...parts];
}
