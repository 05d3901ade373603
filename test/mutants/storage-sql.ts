import { crash, inFile, type Mutant } from './mutant.js';

const SQLITE = ['test/storage/sqlite-conformance.long.test.ts'];
const SETTINGS = ['test/storage/sqlite/sqlite-storage.test.ts'];
const POSTGRES = ['test/storage/postgres/postgres-storage.test.ts'];
const CONTRACT = ['test/storage/postgres-conformance.long.test.ts'];
const LOST_ANSWERS = ['test/faults/run.ts', 'postgres', '--count', '12', '--seed', '1'];

const objects = [
  ...inFile('src/storage/objects/local-conditional.ts', crash('state-on-objects', 600), [
    ['objects-names-not-synced', 'if (created) await this.#syncNames(folder);', ''],
  ]),
];

const sqlite = [
  ...inFile('src/storage/sqlite/open-database.ts', SETTINGS, [
    ['sqlite-commits-not-synced', 'const FULL = 2;', 'const FULL = 1;'],
    ['sqlite-log-never-synced', 'const NORMAL = 1;', 'const NORMAL = 0;'],
    ['sqlite-takes-any-database', 'assertOurs(connection, file); // before anything is changed', ''],
    [
      'sqlite-opens-newer-schema',
      'if (from > MIGRATIONS.length) {',
      'if (from > MIGRATIONS.length + 1_000) {',
    ],
  ]),
  ...inFile('src/storage/sqlite/rows/record-rows.ts', SQLITE, [
    [
      'sqlite-append-not-fenced',
      "if (!holdsLease(db, lease)) return 'fenced';\n  const stream = streamRow(db, key);\n  if ((stream?.seq ?? 0) !== expectedSeq)",
      'const stream = streamRow(db, key);\n  if ((stream?.seq ?? 0) !== expectedSeq)',
    ],
    ['sqlite-read-one-before', 'FROM records\n    WHERE id > (', 'FROM records\n    WHERE id >= ('],
    ['sqlite-removed-records-stay', 'if (remove) deleteRecords(db, stream.no, to);', '', SETTINGS],
    [
      'sqlite-removal-not-fenced',
      "if (!holdsLease(db, lease)) return 'fenced';\n  const stream = streamRow(db, key);\n  if (!stream) return EMPTY_HEAD;",
      'const stream = streamRow(db, key);\n  if (!stream) return EMPTY_HEAD;',
    ],
  ]),
  ...inFile('src/storage/sqlite/rows/lease-rows.ts', SQLITE, [
    [
      'sqlite-lease-taken-by-two',
      'WHERE key = ? AND fence = ? AND beat_ms = ?`',
      'WHERE key = ? AND (fence = ? OR 1) AND (beat_ms = ? OR 1)`',
    ],
    ['sqlite-first-lease-taken-by-two', 'key, owner, now, ttlMs) === 1;', 'key, owner, now, ttlMs) <= 1;'],
  ]),
  ...inFile('src/storage/sqlite/rows/document-rows.ts', SQLITE, [
    ['sqlite-document-version-not-compared', 'if (stored !== ifVersion) return { conflict: stored };', ''],
    ['sqlite-document-keeps-old-version', 'SET size = ?, version = NULL, revision', 'SET size = ?, revision'],
    [
      'sqlite-document-keeps-its-old-end',
      'DELETE FROM document_pieces WHERE id >= (',
      'DELETE FROM document_pieces WHERE id < 0 AND id >= (',
    ],
  ]),
];

const sql = [
  ...inFile('src/storage/sql/sql-journal.ts', SQLITE, [
    ['sql-cursor-skips-its-record', '(cursor ? cursor.offset - 1 : 0)', '(cursor ? cursor.offset : 0)'],
    [
      'sql-gap-not-told',
      'if (stored.seq > after + 1) yield gapAt(after + 1, this.#placeOf(after + 1));',
      '',
      [...SETTINGS, ...SQLITE],
    ],
    [
      'sql-loss-not-marked',
      "if (answer === 'fenced') throw lease.markLost();\n    if (answer === 'appended')",
      "if (answer === 'appended')",
    ],
  ]),
  ...inFile('src/storage/sql/sql-leases.ts', SQLITE, [
    [
      'sql-lease-lost-race-taken',
      'if (!taken) continue; // another contender was first',
      '',
      ['test/storage/sqlite/lease-race.test.ts', ...SQLITE],
    ],
    [
      'sql-lease-loss-not-seen',
      "if (!(await this.#engine.run('holdsLease', this.ref))) throw this.markLost();",
      '',
    ],
  ]),
];

const postgres = [
  ...inFile('src/storage/postgres/rows/record-rows.ts', CONTRACT, [
    [
      'postgres-append-not-fenced',
      'WHERE key = $1 AND seq = $2::bigint AND lease = $3 AND fence = $4',
      'WHERE key = $1 AND seq = $2::bigint AND lease = $3 AND fence >= $4::bigint',
    ],
    [
      'postgres-lost-answer-not-found',
      "if (context.db.unsure && (await isOurs(context, request))) return 'appended';",
      '',
      LOST_ANSWERS,
    ],
  ]),
  ...inFile('src/storage/postgres/rows/lease-rows.ts', CONTRACT, [
    ['postgres-streams-not-fenced-off', 'if (changed === 1) {', 'if (changed === 2) {', POSTGRES],
  ]),
];

export const storageSql: readonly Mutant[] = [...objects, ...sqlite, ...sql, ...postgres];
