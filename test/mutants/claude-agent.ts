import { inFile, type Mutant } from './mutant.js';

const STORE = ['test/adapters/claude-agent/session-store.test.ts'];

/** Transcripts of the Claude Agent SDK are stored once, whole, and erased with their subagents. */
export const claudeAgent: readonly Mutant[] = [
  ...inFile('src/adapters/claude-agent/transcript-log.ts', STORE, [
    ['transcript-retry-stores-twice', 'if (this.uuids.has(uuid) || seen.has(uuid)) return false;', ''],
    ['transcript-forgets-uuids-of-other-processes', 'if (uuid !== null) this.uuids.add(uuid);', ''],
    ['transcript-loads-during-an-erasure', 'await assertNotErasing(this.#backend, this.#name);', ''],
    ['transcript-summary-misses-entries-without-a-fold', '[...end.unfolded, ...added]', '[...added]'],
  ]),
  ...inFile('src/adapters/name-key.ts', STORE, [
    ['subpath-with-a-colon-is-another', "!path.includes(':') && isSegment(segment)", 'isSegment(segment)'],
  ]),
];
