import { inFile, type Mutant } from './mutant.js';

const PART = ['test/agent/erasure/erase-part.test.ts'];
const INTERRUPTED = ['test/agent/erasure/erase-part.long.test.ts'];

export const erasure: readonly Mutant[] = [
  ...inFile('src/memory/erasure/memory-parts.ts', PART, [
    ['part-keeps-artifacts', 'for (const digest of scope.artifacts) await blobs.delete(digest);', ''],
    [
      'part-appends-its-context-twice',
      'if ((await headSeq(backend, tracesName(agent))) > scope.heads.raw_traces) return;',
      '',
      INTERRUPTED,
    ],
  ]),
  ...inFile('src/memory/erasure/look-back.ts', PART, [
    ['part-stays-in-what-quotes-it', '/memory_(?:search|read)$/', '/memory_(?:read)$/'],
  ]),
];
