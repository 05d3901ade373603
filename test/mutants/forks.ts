import { inFile, type Mutant } from './mutant.js';

const FORK = ['test/agent/forks/fork.test.ts'];

export const forks: readonly Mutant[] = [
  ...inFile('src/memory/lineage/forked-from.ts', FORK, [
    [
      'fork-reads-another-agent-of-the-name',
      "if (origin.firstTrace === '' || (await firstTraceOf(store)) !== origin.firstTrace) {",
      "if (origin.firstTrace === '') {",
    ],
    ['fork-of-a-fork-not-found', 'at = origins.get(at.agentId);', 'at = undefined;'],
  ]),
  ...inFile('src/memory/lineage/past-index.ts', FORK, [
    ['fork-finds-what-came-later', 'info.seq > after && info.seq <= upTo &&', 'info.seq > after &&'],
    ['fork-finds-its-copy-twice', 'origin!.record + COPIED_RECORDS : 0', 'origin!.record : 0'],
  ]),
  ...inFile('src/memory/lineage/store-at.ts', FORK, [
    ['fork-has-later-facts', "typeof ts !== 'number' || ts * 1000 <= ms", "typeof ts !== 'string' || ms > 0"],
    ['fork-without-the-outcome', '|| outcomes.has(seq)', ''],
  ]),
  ...inFile('src/agent/erasure/fork-copies.ts', FORK, [
    ['erasure-leaves-forks', 'if (forks.length === 0 ||', 'if (forks.length >= 0 ||'],
  ]),
];
