import { crash, crashSequence, inFile, type Mutant } from './mutant.js';

const TOKENS = ['test/core/text-tokens.test.ts'];
const SEEN = ['test/memory/compaction/token-counter.test.ts', 'test/agent/context/host-turn.test.ts'];
const MEMORY = ['test/memory/memory-manager.test.ts', 'test/memory/restore'];
const RECALL = ['test/memory/recall'];
const RESTORE = ['test/memory/restore', 'test/fixtures.test.ts'];
const SNAPSHOTS = ['test/memory/store'];
const DURABLE = ['test/state/durable'];
const SHARED = ['test/state/shared'];

const manager = [
  ...inFile(
    'src/storage/memory-base-dir.ts',
    ['test/storage/memory-base-dir.test.ts'],
    [
      [
        'base-folder-order-of-variables',
        "env['REKINDLE_MEMORY_DIR'] || env['AUTOBYTEUS_MEMORY_DIR']",
        "env['AUTOBYTEUS_MEMORY_DIR'] || env['REKINDLE_MEMORY_DIR']",
      ],
    ],
  ),
  ...inFile('src/core/text-tokens.ts', TOKENS, [
    ['tokens-in-one-go', 'if (slices.isOver) await slices.pause();', ''],
    ['tokens-cut-within-a-word', "{M}'])/gu;", '{M}])/gu;'],
  ]),
  ...inFile('src/core/o200k-table.ts', TOKENS, [
    ['tokens-of-a-stale-pair', 'if (lowest > 0) ranks[lowest - 1] = rankAt(lowest - 1);', ''],
    ['tokens-of-the-same-hash', 'this.#isToken(held - 1, bytes, from, to)', 'true'],
  ]),
  ...inFile('src/core/load-o200k.ts', TOKENS, [
    ['tokens-with-bits-of-the-last', 'this.#bits = 0;\n    this.#held = 0;', 'this.#held = 0;'],
  ]),
  ...inFile('src/memory/reset-boundary.ts', MEMORY, [
    ['reset-keeps-the-epoch', 'snapshot.epochId + 1;', 'snapshot.epochId;'],
    [
      'reset-forgets-the-turns',
      'lastCompactionTs: nowMs / 1000, lastTurn };',
      'lastCompactionTs: nowMs / 1000, lastTurn: 0 };',
      [...MEMORY, 'test/property/restore-equals-live.test.ts'],
    ],
  ]),
  ...inFile('src/memory/recall/recaller.ts', RECALL, [
    [
      'recall-of-what-is-there',
      '!chosen.has(passage.text) && !this.#context.has(passage);',
      '!chosen.has(passage.text);',
    ],
    [
      'recall-forgets-how-dense-texts-are',
      'Math.min(CHARS_A_TOKEN, textOf(message).length / Math.max(1, tokens))',
      'CHARS_A_TOKEN',
    ],
  ]),
  ...inFile('src/memory/recall/merge-shards.ts', RECALL, [
    ['recall-merge-repeats-the-first-term', 'head.number += 1;', ''],
  ]),
  ...inFile('src/memory/recall/ranking.ts', RECALL, [
    ['recall-without-neighbours', 'give(index + step + 1, score * share);', ''],
    ['recall-prefers-the-older', '1 + (RECENCY * index)', '1 - (RECENCY * index)'],
    ['recall-deaf-to-times', '? TIME_FACTOR : 1;', '? 1 : 1;'],
  ]),
  ...inFile('src/memory/recall/shard-file.ts', RECALL, [
    ['recall-index-of-anybody', '|| head!.agent_id !== agentId', ''],
    [
      'recall-postings-off-by-one',
      'const distance = list[at]! - last - 1;',
      'const distance = list[at]! - last;',
    ],
  ]),
  ...inFile('src/memory/recall/shard-store.ts', crashSequence('recall', 'turn,turn,index'), [
    [
      'recall-index-with-a-gap',
      'ranges.filter((range) => range.from === from)',
      'ranges.filter((range) => range.from >= from)',
    ],
  ]),
  ...inFile('src/memory/recall/recall-index.ts', crashSequence('recall', 'turn,!kill,index'), [
    [
      'recall-index-of-lost-records',
      'if (await this.#follow()) return;',
      'await this.#follow();\n    if (this.count > 0) return;',
    ],
  ]),
  ...inFile('src/memory/compaction/quoted-text.ts', RECALL, [
    ['recall-unquoted', 'return isSafe ? line : quotedJson(line);', 'return line;'],
  ]),
  ...inFile('src/memory/memory-manager.ts', MEMORY, [
    [
      'reset-does-not-save-the-cache',
      "await this.#log.append('', [boundaryBody(boundary, 'ContextReset')]);\n    await this.persistWorkingContextSnapshot();",
      "await this.#log.append('', [boundaryBody(boundary, 'ContextReset')]);",
    ],
    [
      'calls-not-checked',
      'assertCalls(calls);\n    await this.#log.append(turnId, callBodies(calls, messageId));',
      'await this.#log.append(turnId, callBodies(calls, messageId));',
    ],
    [
      'turn-number-not-counted',
      'formatTurnId(++this.#log.state.lastTurn)',
      'formatTurnId(this.#log.state.lastTurn)',
    ],
  ]),
  ...inFile('src/memory/working-context-snapshot.ts', SEEN, [
    [
      'change-in-place-not-seen',
      'this.#messages[index] = message;\n    this.#changes += 1;',
      'this.#messages[index] = message;',
    ],
  ]),
  ...inFile('src/memory/cache-writer.ts', MEMORY, [
    [
      'fenced-writer-saves-the-cache',
      'await store.lease?.check({ maxAgeMs: CACHE_LEASE_AGE_MS });',
      '',
      [...MEMORY, 'test/agent/lease-lost.test.ts'],
    ],
    ['reader-saves-the-cache', 'if (store.readOnly) return null;', '', [...RESTORE, ...MEMORY]],
    ['cache-hides-missing-items', 'await flushItems();', '', ['test/memory/compaction']],
  ]),
  ...inFile(
    'src/memory/trace-log.ts',
    ['test/memory'],
    [
      ['pending-rows-come-late', 'await this.flushPending();\n    const result', 'const result', MEMORY],
      ['pending-rows-written-twice', 'this.#pending = [];\n        this.#head', 'this.#head', MEMORY],
      ['rows-of-others-left-out', 'if (unseen && (await this.#catchUp())) return;', '', ['test/memory']],
      ['rows-not-applied', 'for (const row of rows) this.#apply(row);', '', MEMORY],
    ],
  ),
];

const snapshots = [
  ...inFile(
    'src/memory/store/working-context-snapshot-store.ts',
    [...SNAPSHOTS, 'test/property/restore-equals-live.test.ts'],
    [
      [
        'cache-misses-changed-messages',
        'snapshot.firstChanged >= this.#body.messageCount;',
        'snapshot.firstChanged >= 0;',
      ],
      [
        'cache-forgets-after-a-failure',
        'snapshot.markSaved(Math.min(changedFrom, snapshot.firstChanged));',
        '',
      ],
      [
        'cache-overwrites-strangers',
        "this.#onDisk === 'not-ours' ? await",
        "this.#onDisk === 'newer' ? await",
      ],
      [
        'cache-overwrites-newer',
        "if (this.#onDisk === 'newer') {",
        "if (this.#onDisk === 'newer' && this.#body) {",
      ],
    ],
  ),
  ...inFile('src/memory/store/snapshot-file.ts', SNAPSHOTS, [
    ['cache-checksum-ignored', "!== claimed || rest !== '\"}\\n')", "=== '' || rest !== '\"}\\n')"],
    [
      'cache-of-another-agent',
      "if (agentId !== null && head['agent_id'] !== agentId) {",
      "if (agentId === '' && head['agent_id'] !== agentId) {",
    ],
    [
      'cache-without-checksum-believed',
      "if ('covers_seq' in payload) return damaged('its checksum is missing');",
      '',
    ],
  ]),
  ...inFile('src/memory/restore/cache-tail.ts', RESTORE, [
    [
      'cache-of-another-history',
      'if (footer.coversSeq !== head.seq || footer.coversCrc !== head.crc) return false;',
      'if (footer.coversSeq !== head.seq) return false;',
    ],
    [
      'tail-of-another-history',
      'entry.seq === footer.coversSeq && entry.crc === footer.coversCrc ?',
      'entry.seq === footer.coversSeq ?',
    ],
    ['tail-one-too-many', "if (end === 'there') continue;", ''],
  ]),
  ...inFile('src/memory/restore/rebuild.ts', RESTORE, [
    [
      'rebuild-does-not-see-gaps',
      "(before?.kind !== 'record' || entry.seq === before.seq + 1)",
      "(before?.kind !== 'record' || entry.seq > before.seq)",
    ],
    [
      'rebuild-does-not-see-a-late-start',
      'if (startsLate(entries[0])) replay.damage.push(MISSING_START);',
      '',
    ],
  ]),
  ...inFile(
    'src/memory/restore/working-context-snapshot-bootstrapper.ts',
    [...RESTORE, 'test/memory/compaction'],
    [
      ['new-prompt-not-recorded', "pending: [...pending, { kind: 'system', systemPrompt }] };", 'pending };'],
      ['items-of-a-killed-compaction-lost', 'await store.addSemantic(semantic);', ''],
      ['blank-context-passed-off', 'assertNotBlank(memory, loaded);\n    const end', 'const end'],
      ['open-calls-not-closed', 'await memory.closeCalls(results);', ''],
    ],
  ),
  ...inFile(
    'src/memory/working-context-reducer.ts',
    [...MEMORY, 'test/memory/working-context-reducer.test.ts', 'test/memory/models'],
    [
      ['turn-ids-used-again', 'state.lastTurn = Math.max(state.lastTurn, turnNumber(trace.turnId));', ''],
      [
        'compaction-failures-not-forgotten',
        'state.lastTurn = Math.max(state.lastTurn, trace.lastTurn);\n  state.compactionFailures = 0;',
        'state.lastTurn = Math.max(state.lastTurn, trace.lastTurn);',
        ['test/memory/compaction', 'test/memory/working-context-reducer.test.ts'],
      ],
      [
        'call-sent-again-is-another',
        'else if (!isSameCall(known, call)) append',
        'else if (isSameCall(known, call)) append',
      ],
      [
        'repair-cuts-one-too-many',
        'messages.slice(at + deleteCount)',
        'messages.slice(at + deleteCount + 1)',
      ],
    ],
  ),
];

const durable = [
  ...inFile('src/state/durable/state-document.ts', DURABLE, [
    [
      'file-outlives-its-record',
      'return { secure: true, done: () => this.#writeFile(look.content) };',
      'return { done: () => this.#writeFile(look.content) };',
      crash('state', 20_000),
    ],
    ['refused-edit-not-kept', "if (refused) aside = await this.#file.setAside('refused');", '', [...DURABLE]],
    [
      'migration-without-backup',
      "await backend.documents.writeBytes([...folder, 'backups', backup], Buffer.from(kept));",
      '',
    ],
  ]),
  ...inFile('src/state/durable/state-file.ts', DURABLE, [
    ['file-overwrites-a-person', '{ ifVersion: read?.fileVersion ?? null }', '{}'],
  ]),
];

const shared = [
  ...inFile('src/state/shared/key-decision.ts', SHARED, [
    ['condition-older-version-passes', '? condition === version :', '? condition <= version :'],
    [
      'condition-any-value-ignored',
      "if (condition === '*') return version !== 0;",
      "if (condition === '*') return true;",
    ],
    [
      'one-key-too-many',
      'after.keys > limits.keys && after.keys',
      'after.keys > limits.keys + 1 && after.keys',
    ],
    ['one-byte-too-many', 'bytes > limits.valueBytes && bytes', 'bytes > limits.valueBytes + 1 && bytes'],
    [
      'inexact-sum-taken',
      'if (Number.isSafeInteger(before ?? 0) && Number.isSafeInteger(sum)) return;',
      'if (Number.isSafeInteger(before ?? 0)) return;',
    ],
  ]),
  ...inFile('src/state/shared/shared-commit.ts', SHARED, [
    ['batch-applied-in-part', 'if (applied) trial.settle();', 'trial.settle();'],
    [
      'batch-conflict-ignored',
      "const applied = outcomes.length === operations.length && outcomes.at(-1)?.kind !== 'conflict';",
      'const applied = outcomes.length === operations.length;',
    ],
  ]),
  ...inFile('src/state/shared/commit-queue.ts', SHARED, [
    [
      'told-before-durable',
      'tell = decided.tell;',
      'decided.tell();',
      [...SHARED, 'test/state/shared/told-when-durable.test.ts'],
    ],
  ]),
  ...inFile('src/state/shared/shared-log.ts', SHARED, [
    [
      'history-removed-too-early',
      'place.globalVersion <= globalVersion - this.#options.history',
      'place.globalVersion <= globalVersion',
    ],
    ['versions-used-twice', 'first: table.globalVersion + 1', 'first: table.globalVersion'],
    [
      'refusal-rests-on-volatile',
      'if (!decided) return { secure: true, done: () => true };',
      'if (!decided) return { done: () => true };',
    ],
  ]),
  ...inFile(
    'src/storage/shared-journal.ts',
    ['test/storage/shared-journal.test.ts', 'test/storage/fault-conformance.test.ts'],
    [
      ['shared-unknown-outcome-not-looked-up', 'if (this.#mayBeBehind) await this.#catchUp(writer);', ''],
      [
        'shared-change-made-twice',
        'if (unsure && (await isThere(writer, unsure))) return unsure.decision;',
        '',
      ],
      ['shared-decided-on-volatile', 'if (decision.secure) await writer.secure();', ''],
      [
        'shared-refusal-without-lease',
        'await lease.check(); // an append checks the lease: the state was the newest until now',
        '',
      ],
      [
        'shared-other-journal-not-seen',
        'if (head.seq === known.seq && head.crc === known.crc) return known;',
        'if (head.seq === known.seq) return known;',
      ],
      [
        'shared-half-loaded-state-kept',
        'this.#head = null; // after a partial failure everything is loaded again',
        '',
      ],
      [
        'shared-append-at-any-place',
        'writer.append([record], { expectedSeq })',
        'writer.append([record], {})',
      ],
    ],
  ),
];

export const memoryAndState: readonly Mutant[] = [...manager, ...snapshots, ...durable, ...shared];
