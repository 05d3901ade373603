import { crash, inFile, type Mutant } from './mutant.js';

const FILE = 'src/storage/file';
const TESTS = 'test/storage/file';
const CONFORMANCE = ['test/storage/conformance.test.ts'];
const FAULTS = [`${TESTS}/journal-faults.test.ts`];
const TAKE_OVER = [`${TESTS}/journal-take-over.test.ts`, `${TESTS}/journal-segments.test.ts`];

const writer = inFile(`${FILE}/journal-writer.ts`, FAULTS, [
  ['journal-no-sync', 'if (options.sync) await this.#sync(file);', '', crash('journal-append')],
  [
    'journal-trusts-after-failed-sync',
    `      await this.#distrust(file);
      throw outcomeUnknown(this.#files.base, 'could not be synced', thrown);`,
    `      throw outcomeUnknown(this.#files.base, 'could not be synced', thrown);`,
  ],
  ['journal-no-cut-back', 'await file.truncate(this.#end);\n      return thrown;', 'return thrown;'],
  ['journal-lease-not-checked-after-sync', 'await this.#assertStillHeld(file);', '', TAKE_OVER],
  [
    'journal-no-folder-sync-after-rename',
    'await this.#fs.syncFolder(this.#files.folder);\n    await this.#begin();',
    'await this.#begin();',
    [...FAULTS, `${TESTS}/sync-order.test.ts`],
  ],
  [
    'journal-name-not-synced',
    "this.#plan = 'append';\n    await this.#fs.syncFolder(this.#files.folder);",
    "this.#plan = 'append';",
    crash('journal-append'),
  ],
  [
    'journal-end-without-newline',
    'this.#end += block.length;',
    'this.#end += bytes.length;',
    [`${TESTS}/journal-tail.test.ts`],
  ],
  [
    'journal-sealed-not-synced',
    'await syncSegment(this.#fs, this.#path);',
    '',
    [`${TESTS}/sync-order.test.ts`],
  ],
  [
    'continued-file-not-synced',
    'await file.datasync().catch(async (thrown: unknown) => {',
    'await Promise.resolve().catch(async (thrown: unknown) => {',
    [`${TESTS}/sync-order.test.ts`],
  ],
  [
    'continued-file-synced-again',
    "[this.#plan, this.#sealByCopy] = ['seal-live', true];",
    '',
    [`${TESTS}/sync-order.test.ts`],
  ],
]);

const sealing = inFile(`${FILE}/journal-sealing.ts`, FAULTS, [
  ['journal-unsafe-fence', '(unsafe > 0 && fence <= unsafe)', '(unsafe > 0 && fence < unsafe)', TAKE_OVER],
  [
    'segment-header-not-synced',
    'await file.datasync();\n    return { file, headerBytes: bytes.length };',
    'return { file, headerBytes: bytes.length };',
    [`${TESTS}/sync-order.test.ts`],
  ],
  [
    'torn-tail-cut-not-synced',
    'await file.truncate(end.end);\n  await file.datasync();',
    'await file.truncate(end.end);',
    [`${TESTS}/sync-order.test.ts`],
  ],
  [
    'torn-tail-cut-before-kept',
    `  await copyDurably(fs, file, aside, { from: end.end, to: end.end + end.tornBytes });
  await file.truncate(end.end);`,
    `  await file.truncate(end.end);
  await copyDurably(fs, file, aside, { from: end.end, to: end.end + end.tornBytes });`,
    [`${TESTS}/sync-order.test.ts`],
  ],
  [
    'journal-archive-loses-both-names',
    'await fs.syncFolder(folder);\n  await fs.unlink(file);',
    'await fs.unlink(file);\n  await fs.syncFolder(folder);',
    [`${TESTS}/sync-order.test.ts`],
  ],
]);

const recovery = inFile(`${FILE}/journal-recovery.ts`, FAULTS, [
  [
    'recovery-keeps-refused-record',
    'await file.truncate(known.end);\n  await file.datasync();',
    'await file.datasync();',
    [`${TESTS}/sync-order.test.ts`],
  ],
  [
    'recovery-cut-not-synced',
    'await file.truncate(known.end);\n  await file.datasync();',
    'await file.truncate(known.end);',
    [`${TESTS}/sync-order.test.ts`],
  ],
  [
    'recovery-trusts-the-length',
    'if (sizeBytes < known.end || !(await lastRecordIsThere(file, known))) {',
    'if (sizeBytes < known.end) {',
    [`${TESTS}/sync-order.test.ts`],
  ],
]);

const journal = inFile(`${FILE}/file-journal.ts`, CONFORMANCE, [
  ['journal-read-repeats-one', 'if (entry.seq <= after) continue;', 'if (entry.seq < after) continue;'],
  ['journal-read-one-too-many', 'if (left-- <= 0) return;', 'if (left-- < 0) return;'],
  [
    'journal-archives-too-much',
    'next.prevSeq < seq;',
    'next.prevSeq <= seq;',
    [...CONFORMANCE, `${TESTS}/journal-segments.test.ts`],
  ],
]);

const line = inFile(
  `${FILE}/journal-line.ts`,
  [`${TESTS}/journal-line.test.ts`],
  [
    [
      'line-checksum-ignored',
      "if (crcHex(crc32(line.subarray(0, bodyEnd))) !== crc) return { kind: 'damage', reason: 'checksum' };",
      '',
    ],
    [
      'line-without-checksum-believed',
      "if (RESERVED_KEYS.some((key) => Object.hasOwn(record, key))) return { kind: 'damage', reason: 'checksum' };",
      '',
    ],
  ],
);

const documents = inFile(
  `${FILE}/file-documents.ts`,
  [`${TESTS}/file-documents.test.ts`],
  [
    [
      'document-name-not-synced',
      'await this.#syncAncestors(folder);\n      await this.#fs.syncFolder(folder);',
      'await this.#syncAncestors(folder);',
      [`${TESTS}/sync-order.test.ts`],
    ],
    [
      'document-overwrites-a-fast-person',
      'await this.#assertVersion(name, to, expected);\n      if (await',
      'if (await',
      [`${TESTS}/file-documents.test.ts`, 'test/state/durable/human-edits.long.test.ts'],
    ],
    [
      'document-deletion-not-synced',
      'await this.#syncIfThere(path.dirname(target));',
      '',
      [`${TESTS}/sync-order.test.ts`],
    ],
    [
      'document-keeps-its-old-end',
      'if (offset + bytes.length < size) await file.truncate(offset + bytes.length);',
      '',
      CONFORMANCE,
    ],
    [
      'document-version-not-compared',
      'if (version !== expected)',
      'if (version !== expected && bytes === null)',
      CONFORMANCE,
    ],
  ],
);

const blobs = inFile(`${FILE}/file-blobs.ts`, CONFORMANCE, [
  [
    'blob-name-not-synced',
    'await this.#syncAncestors(folder);\n      await this.#fs.syncFolder(folder);',
    'await this.#syncAncestors(folder);',
    crash('blobs'),
  ],
  [
    'blob-damage-not-seen',
    'if (bytes && digestOf(bytes) !== digest) {',
    'if (bytes && bytes.length < 0) {',
    ['test/storage/file', 'test/memory/store/memory-store.test.ts', ...CONFORMANCE],
  ],
  [
    'blob-name-trusted',
    'if (digestOf(bytes) === digest) return true;',
    'return true;',
    ['test/storage/file'],
  ],
]);

const others = [
  ...inFile(`${FILE}/temporary-file.ts`, crash('state'), [
    ['document-not-synced', 'if (options.sync) await file.datasync();', ''],
  ]),
  ...inFile(`${FILE}/file-io.ts`, FAULTS, [
    [
      'short-write-taken-for-whole',
      'done += count;\n  }\n}\n\n/** Reads',
      'done = bytes.length;\n  }\n}\n\n/** Reads',
    ],
    [
      'close-error-hides-the-first',
      'await file.close().catch(() => {}); // the first error is the one to report',
      'await file.close();',
      [`${TESTS}/file-io.test.ts`],
    ],
    [
      'folder-not-made-durable',
      "if (errnoOf(thrown) !== 'EEXIST') throw thrown; // another process was first\n  }\n  await fs.syncFolder(parent);",
      "if (errnoOf(thrown) !== 'EEXIST') throw thrown; // another process was first\n  }",
      [`${TESTS}/sync-order.test.ts`],
    ],
  ]),
  ...inFile(
    `${FILE}/node-file-system.ts`,
    [`${TESTS}/links-and-special-files.test.ts`],
    [
      [
        'links-followed',
        'update: fs.constants.O_RDWR | NO_FOLLOW | NON_BLOCK,',
        'update: fs.constants.O_RDWR | NON_BLOCK,',
      ],
      [
        'files-for-everybody',
        'const FILE_MODE = 0o600;',
        'const FILE_MODE = 0o644;',
        [`${TESTS}/file-modes.test.ts`],
      ],
      [
        'folder-sync-swallowed',
        'await call<void>((done) => fs.fsync(fd, done as fs.NoParamCallback));',
        'await call<void>((done) => fs.fsync(fd, done as fs.NoParamCallback)).catch(() => {});',
        [`${TESTS}/node-file-system.test.ts`],
      ],
    ],
  ),
  ...inFile(
    `${FILE}/file-lease.ts`,
    ['test/storage/file/file-leases.test.ts', ...CONFORMANCE],
    [
      ['lease-loss-not-seen', 'if (!own) throw this.#state.markLost(this.#held.label, this.fence);', ''],
      [
        'lease-check-always-fresh',
        'if (fresh) this.#state.throwUnlessHeld',
        'if (fresh || true) this.#state.throwUnlessHeld',
      ],
    ],
  ),
  ...inFile(`${FILE}/file-leases.ts`, TAKE_OVER, [
    ['every-owner-before-has-ended', "state === 'gone' || state === 'rebooted'", 'state.length > 0'],
    [
      'file-of-a-living-owner-goes-on',
      '(released || this.#hasEnded(owner)) ? content.unsafeFence : fence',
      'content.fence !== 0 ? content.unsafeFence : fence',
    ],
    [
      'killed-owner-counts-as-alive',
      '(released || this.#hasEnded(owner)) ? content.unsafeFence : fence',
      'released ? content.unsafeFence : fence',
    ],
  ]),
  ...inFile(
    `${FILE}/journal-looks.ts`,
    [`${TESTS}/journal-looks.test.ts`],
    [
      [
        'look-used-by-later-reads',
        'this.#next.delete(archived);',
        'if (archived) this.#next.delete(archived);',
      ],
      ['shared-file-closed-early', '--shared.users > 0', 'shared.users > 2'],
    ],
  ),
  ...inFile(
    'src/core/telemetry.ts',
    ['test/agent/telemetry.test.ts'],
    [
      ['telemetry-swallows-an-error', 'throw thrown;', 'return undefined as never;'],
      ['telemetry-span-without-error', 'span?.setAttributes(failed);', ''],
      [
        'telemetry-not-passed-below',
        'inner ? () => inner.measure(init, (own) => run(own ?? span)) : run',
        'run',
      ],
    ],
  ),
  ...inFile('src/storage/lease-state.ts', CONFORMANCE, [
    ['released-lease-still-writes', 'this.#released = true;', ''],
  ]),
  ...inFile('src/storage/append-queue.ts', CONFORMANCE, [
    ['append-expected-number-not-counted', 'seq += waiting.records.length;', ''],
    ['append-conflict-not-refused', 'waiting.reject(conflict(expectedSeq, seq));\n        continue;', ''],
    [
      'append-close-does-not-wait',
      'this.#closed = true;\n    while (this.#running) await this.#running;',
      'this.#closed = true;',
    ],
    [
      'append-failure-acknowledged',
      'for (const waiting of batch) waiting.reject(thrown);',
      "for (const waiting of batch) waiting.resolve({ seq: 0, cursor: { segment: 1, offset: 0 }, crc: '' });",
    ],
  ]),
  ...inFile('src/storage/record-encoding.ts', CONFORMANCE, [
    [
      'record-reserved-keys-taken',
      'if (Object.hasOwn(record, key)) throw',
      "if (Object.hasOwn(record, key) && key === '') throw",
    ],
  ]),
];

export const storageFiles: readonly Mutant[] = [
  ...writer,
  ...sealing,
  ...recovery,
  ...journal,
  ...line,
  ...documents,
  ...blobs,
  ...others,
];
