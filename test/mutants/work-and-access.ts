import { inFile, type Mutant } from './mutant.js';

const CHECKPOINTS = ['test/checkpoints/retention.test.ts', 'test/checkpoints/save-and-load.test.ts'];
const ENCRYPTION = ['test/checkpoints/encryption', 'test/checkpoints/damaged-data.test.ts'];
const WORKSPACE = ['test/workspace'];
const SCOPES = ['test/server/scoped-tokens.test.ts'];
const ACCESS = ['test/server/access.test.ts'];
const RULES = ['test/messages/legality'];
const TARGETS = ['test/messages/projections'];

const checkpoints = [
  ...inFile('src/checkpoints/maintenance/prune.ts', CHECKPOINTS, [
    [
      'prune-takes-the-newest',
      'own.slice(0, -1).filter(({ number }) => !state.isCritical(number));',
      'own.filter(({ number }) => !state.isCritical(number));',
    ],
    ['prune-takes-what-is-critical', '.filter(({ number }) => !state.isCritical(number));', ';'],
    ['prune-one-too-few', 'own.length - limits.maxCheckpoints;', 'own.length - limits.maxCheckpoints - 1;'],
    ['prune-takes-young-data', 'limits.orphanGraceMinutes * 60_000;', 'limits.orphanGraceMinutes * 60;'],
  ]),
  ...inFile('src/checkpoints/session/session-log.ts', ENCRYPTION, [
    ['forged-record-counts', 'if (key && !isSame(key.macOf(session, seq, content), mac)) return true;', ''],
    [
      'plain-record-counts-in-sealed-session',
      'return this.#isEncrypted || hasSealedPack(content) || seq >= keys.sealedFrom;',
      'return hasSealedPack(content);', // either of the two is enough where the keys are there
    ],
    [
      'newer-record-ignored',
      'await this.authenticate();\n      this.#assertKnown();\n      const { record, key, done }',
      'await this.authenticate();\n      const { record, key, done }',
      ['test/checkpoints/abandoned-faults.long.test.ts', 'test/checkpoints/verify-and-repair.test.ts'],
    ],
    [
      'data-goes-because-of-volatile',
      "await journal.secure(); // a killed process's unsynced records may vanish: nothing may be removed because of them",
      '',
      ['test/crash/clean-up.long.test.ts'],
    ],
    [
      'gaps-not-noted',
      'if (seq > this.#lastSeq + 1) this.#gaps.push([this.#lastSeq + 1, seq - 1]);',
      '',
      [
        'test/checkpoints/damaged-data.test.ts',
        'test/checkpoints/verify-and-repair.test.ts',
        'test/checkpoints/unreadable-session.test.ts',
      ],
    ],
  ]),
  ...inFile('src/checkpoints/session/pack-store.ts', ENCRYPTION, [
    [
      'damaged-data-is-another-error',
      "if (!isRekindleError(thrown, 'BLOB_DAMAGED')) throw thrown;\n",
      'throw thrown;\n',
    ],
    [
      'data-of-another-number',
      'this.#options.session, number, about]',
      'this.#options.session, 0 * number, about]',
      ['test/checkpoints/encryption', 'test/tampering/planted.long.test.ts'],
    ],
  ]),
];

const workspace = [
  ...inFile('src/workspace/workspace.ts', WORKSPACE, [
    ['entry-version-not-compared', 'assertVersion(key, options.ifVersion, info?.version ?? 0);', ''],
    [
      'entry-version-used-twice',
      'const version = (info?.version ?? 0) + 1;',
      'const version = Math.max(1, info?.version ?? 0);',
    ],
    ['deleted-entry-read', 'if (!info || info.deleted) return null;', 'if (!info) return null;'],
    ['deletion-twice', 'info && !info.deleted ? {', 'info ? {'],
    [
      'rollback-not-checked',
      'const { notes } = await this.#check.check(key, value);\n    const written',
      'const notes: WriteNote[] = [];\n    const written',
    ],
    ['stale-entry-is-fresh', 'this.ageSeconds(entry) <= maxAgeSeconds ?', 'this.ageSeconds(entry) >= 0 ?'],
  ]),
];

const access = [
  ...inFile('src/server/access/access-check.ts', ACCESS, [
    [
      'any-host',
      "if (this.#hosts.has(name) || this.#hosts.has(name.replace(/:\\d+$/, ''))) return null;",
      'return null;',
    ],
    [
      'any-origin',
      'if (origin === undefined || this.#origins.has(origin.toLowerCase())) return null;',
      'return null;',
    ],
    ['guesses-not-counted', 'if (!this.#wrongTokens.take(address)) return false;', ''],
    [
      'requests-not-counted',
      "return this.#requests.take(address) ? null : tooMany('Too many requests.');",
      'return null;',
      [...ACCESS, 'test/server/request-checks.test.ts'],
    ],
  ]),
  ...inFile('src/server/http/reach.ts', SCOPES, [
    [
      'agent-of-another-reached',
      "if (reach === 'agent' && !reachesAgent(principal, id)) throw agentNotFound(id);",
      '',
    ],
    [
      'session-of-another-reached',
      "if (reach === 'session') await assertReachesSession(principal, shared, id);",
      '',
    ],
    ['reader-may-write', "if (method !== 'GET' && !principal.mayWrite)", 'if (false)'],
  ]),
  ...inFile('src/server/access/token-book.ts', SCOPES, [
    [
      'secret-not-compared',
      "if (!row || !isSameToken(token, Buffer.from(row.sha256, 'hex'))) return null;",
      'if (!row) return null;',
    ],
    ['ended-token-accepted', 'return hasExpired ? null :', 'return'],
  ]),
  ...inFile('src/server/mcp/mcp-server.ts', SCOPES, [
    ['agent-of-a-session-reached', 'named !== null && mayAgent(named)', 'named !== null'],
    ['agent-of-a-header-reached', 'if (agent !== null && !mayAgent(agent)) throw agentNotFound(agent);', ''],
  ]),
  ...inFile('src/server/access/rate-limit.ts', ACCESS, [
    ['rate-never-spent', 'bucket.left -= 1;', ''],
    [
      'rate-one-too-many',
      'if (bucket.left < 1) return false;',
      'if (bucket.left < 0) return false;',
      ['test/server/rate-limit.test.ts'],
    ],
  ]),
  ...inFile('src/server/access/token.ts', ACCESS, [
    ['any-token', 'return timingSafeEqual(tokenDigest(given), digest);', 'return digest.length > 0;'],
    [
      'short-token',
      "if (typeof token === 'string' && token.length >= TOKEN_LENGTH_MIN && /",
      "if (typeof token === 'string' && token.length >= TOKEN_LENGTH_MIN - 1 && /",
    ],
  ]),
  ...inFile(
    'src/server/http/conditions.ts',
    ['test/server/state-endpoints.test.ts', 'test/server/request-checks.test.ts'],
    [
      [
        'create-replaces',
        "if (noneMatch.trim() === '*') return 0;",
        "if (noneMatch.trim() === '*') return null;",
      ],
      [
        'any-value-will-do',
        "if (match.trim() === '*') return '*';",
        "if (match.trim() === '*') return null;",
      ],
    ],
  ),
];

const messages = [
  ...inFile('src/messages/legality/h7-distinct-call-ids.ts', RULES, [
    ['same-id-twice-is-legal', 'seen.add(id);\n  }\n  return faults;', '}\n  return faults;'],
    ['new-id-is-taken', 'while (taken.has(', 'while (number < 0 && taken.has('],
    ['results-swapped', 'waiting.get(result.toolCallId)?.pop()', 'waiting.get(result.toolCallId)?.shift()'],
  ]),
  ...inFile('src/messages/legality/relink-results.ts', RULES, [
    ['guesses-between-two', 'return fitting.size === 1 ? slot! : null;', 'return slot ?? null;'],
    ['two-results-for-one-call', 'if (indexes.length === 1) links.set', 'if (indexes.length > 0) links.set'],
  ]),
  ...inFile('src/messages/legality/h11-one-outcome.ts', RULES, [
    [
      'result-beside-its-error-lost',
      'const merged = [result.toolError, resultText({ ...result, toolError: null })]',
      'const merged = [result.toolError]',
    ],
    ['wrong-name-is-legal', 'if (call && call.name !== result.toolName) wrong.push({ index, call });', ''],
  ]),
  ...inFile('src/messages/projections/id-translator.ts', TARGETS, [
    [
      'two-ids-become-one',
      'return owner === undefined || (!unique && owner === id);',
      'return owner === undefined || owner !== id;',
    ],
    [
      'id-one-too-long',
      'exact ? id.length === max : id.length <= max',
      'exact ? id.length === max : id.length <= max + 1',
    ],
  ]),
  ...inFile('src/messages/projections/anthropic.ts', TARGETS, [
    ['error-not-marked', '...(isMarked ? { is_error: true as const } : {}),', ''],
    ['foreign-thinking-sent', 'isOurs(item) && thinkingBlock(item) !== null', 'thinkingBlock(item) !== null'],
    [
      'results-in-messages-of-their-own',
      "if (last?.role === 'user' && isResults(last.content)) last.content.push(block);\n  else ",
      '',
    ],
    ['prefill-ends-in-white-space', 'else trimPrefill(out);', ''],
  ]),
];

export const workAndAccess: readonly Mutant[] = [...checkpoints, ...workspace, ...access, ...messages];
