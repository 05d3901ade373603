import { inFile, type Mutant } from './mutant.js';

const LISTS = ['test/checkpoints/list-and-sessions.test.ts'];
const RETENTION = ['test/checkpoints/retention.test.ts'];
const OPERATIONS = ['test/checkpoints/operations.test.ts'];

export const checkpointUpkeep: readonly Mutant[] = [
  ...inFile('src/checkpoints/session/session-state.ts', LISTS, [
    [
      'status-archived-is-newest',
      'this.checkpoints.findLast(({ number }) => !this.#archived.has(number))',
      'this.checkpoints.at(-1)',
    ],
    ['status-never-undone', 'if (archived === false) this.#archived.delete(number);', ''],
    ['status-lost-in-a-base', '...(this.#archived.has(number) ? { archived: true } : {}),', ''],
    [
      'status-corrupt-forever',
      'if (corrupt === false) this.#corrupt.delete(number);',
      '',
      ['test/checkpoints/verify-and-repair.test.ts'],
    ],
  ]),
  ...inFile('src/checkpoints/checkpoint-query.ts', LISTS, [
    ['status-archived-listed', "return own !== 'archived';", 'return true;'],
  ]),
  ...inFile('src/checkpoints/session/checkpoint-session.ts', RETENTION, [
    ['age-ignored-by-saves', 'index < excess || isTooOld(record, maxAgeDays, nowMs)', 'index < excess'],
    [
      'age-removes-critical',
      'const free = checkpoints.filter(({ number }) => !state.isCritical(number));',
      'const free = checkpoints;',
    ],
  ]),
  ...inFile('src/checkpoints/session/checkpoint-record.ts', RETENTION, [
    ['age-a-day-early', '> maxAgeDays * DAY_MS', '> (maxAgeDays - 1) * DAY_MS'],
    ['age-null-removes-all', 'return maxAgeDays !== null && nowMs', 'return nowMs'],
  ]),
  ...inFile(
    'src/checkpoints/content/context-json.ts',
    ['test/checkpoints/save-and-load.test.ts'],
    [
      [
        'runtime-keys-around-the-check',
        '!isRuntimeKey || !isJsonObject(given) || !isPlain(given)',
        '!isRuntimeKey || !isJsonObject(given)',
      ],
      [
        'runtime-keys-not-named',
        'return { given: Object.fromEntries(kept), leftOut };',
        'return { given: Object.fromEntries(kept), leftOut: [] };',
      ],
    ],
  ),
  ...inFile('src/checkpoints/within-time.ts', OPERATIONS, [
    ['reads-not-repeated', "!isRekindleError(thrown, 'STORAGE_UNAVAILABLE')", 'true'],
    ['reads-without-end', 'return withinTime(ms, doing, repeated());', 'return repeated();'],
  ]),
  ...inFile('src/checkpoints/operation-times.ts', OPERATIONS, [
    ['slow-warned-each-time', 'this.#warnedAt.set(operation, now);', ''],
    [
      'operation-errors-hidden',
      'code = isRekindleError(thrown) ? thrown.code',
      'code = isRekindleError(thrown) ? null',
    ],
  ]),
  ...inFile(
    'src/checkpoints/tools/checkpoint-tools.ts',
    ['test/checkpoints/tools.test.ts'],
    [
      [
        'default-session-unused',
        'const session = sessionId ?? this.session;',
        'const session = sessionId ?? null;',
      ],
    ],
  ),
  ...inFile(
    'src/agent/erasure/erase.ts',
    ['test/agent/erasure/erase.test.ts'],
    [
      ['erase-session-leaves-calls', "sessions.has(record['session']) || ", ''],
      ['erase-session-takes-calls-of-an-agent', 'ids.filter((id) => !agents.includes(id))', 'ids'],
    ],
  ),
  ...inFile(
    'src/state/shared/sessions/session-roots.ts',
    ['test/state/shared/session-tree.test.ts'],
    [['root-of-a-parent-missed', '      at = above.parent;\n', '      return at;\n']],
  ),
  ...inFile(
    'src/memory/working-context-reducer.ts',
    ['test/memory/seed-calls.test.ts'],
    [['tail-applies-compactions', 'if (!isAboutTheList(trace)) applyTrace', 'applyTrace']],
  ),
  ...inFile(
    'src/server/mcp/call-logging.ts',
    ['test/server/mcp/call-log.test.ts'],
    [
      ['log-copies-memory', 'return ofRecords.has(tool) ? brief :', 'return'],
      ['log-lists-its-search', 'if (tool === NOT_LOGGED) return null;', ''],
    ],
  ),
];
