/** The explorer is evidence only because it catches these. Each is planted, and must be found; without it nothing is. */
import { describe, expect, it } from 'vitest';
import { type ExploreOptions, exploreAll, type ViolationReport } from './explorer.js';
import { cacheOverNewer, leaseWithoutFencing, versionReused } from './planted/backend-bugs.js';
import {
  dataWithoutSync,
  keyWithoutSync,
  recordBeforeData,
  sweepOfUsedData,
} from './planted/checkpoint-bugs.js';
import {
  ignoringShortWrites,
  renamingBeforeSync,
  retryingSync,
  withoutArtifactSync,
  withoutFileSync,
  withoutFolderSync,
  withoutScopeSync,
  withoutSyncAfterSealing,
} from './planted/file-system-bugs.js';
import { openSmallStorage } from './planted/small-storage.js';
import { SeenStates } from './seen-states.js';
import { exhaustiveSequences } from './sequences.js';
import type { Plant } from './simulated-process.js';
import type { Workload } from './workload.js';
import { blobs } from './workloads/blobs.js';
import { cacheTail } from './workloads/cache-tail.js';
import { checkpointKeys } from './workloads/checkpoint-keys.js';
import { checkpoints } from './workloads/checkpoints.js';
import { documents } from './workloads/documents.js';
import { faults } from './workloads/faults.js';
import { groupCommit } from './workloads/group-commit.js';
import { journalAppend } from './workloads/journal-append.js';
import { ladder } from './workloads/ladder.js';
import { leaseTakeover } from './workloads/lease-takeover.js';
import { recall } from './workloads/recall.js';
import { rotation } from './workloads/rotation.js';
import { state } from './workloads/state.js';
import { streamedAnswer } from './workloads/streamed-answer.js';
import { workspace } from './workloads/workspace.js';

/** States of one sequence that a control looks at. */
const CONTROL_STATES = 60;

/** The first violation in all sequences of up to `length` of these operations. */
function explore(
  workload: Workload,
  alphabet: readonly string[],
  length: number,
  plant: Plant = {},
  options: Pick<ExploreOptions, 'statesMax' | 'perPoint'> = {},
): Promise<ViolationReport | null> {
  const sequences = exhaustiveSequences(alphabet, length);
  return exploreAll(workload, sequences, new SeenStates(), { seed: 1, plant, branches: 3, ...options });
}

interface Planted {
  readonly bug: string;
  readonly workload: Workload;
  readonly alphabet: readonly string[];
  readonly length: number;
  readonly plant: Plant;
  /** The same without the bug. Default: the real storage. */
  readonly control?: Plant;
  readonly found: RegExp;
  /** Where each state is dear: combinations at one crash point. */
  readonly perPoint?: number;
}

const SMALL: Plant = { openStorage: openSmallStorage(null) };
const LOST = /^acknowledged record .* is lost$|^after a second recovery: found/;

const PLANTED: readonly Planted[] = [
  {
    bug: 'no file sync (journal)',
    workload: journalAppend,
    alphabet: ['append'],
    length: 1,
    plant: { wrap: withoutFileSync },
    found: LOST,
  },
  {
    bug: 'no file sync (group commit)',
    workload: groupCommit,
    alphabet: ['gather 2'],
    length: 1,
    plant: { wrap: withoutFileSync },
    found: LOST,
  },
  {
    bug: 'no file sync (document)',
    workload: documents,
    alphabet: ['write a'],
    length: 1,
    plant: { wrap: withoutFileSync },
    found: /^DOCUMENT_DAMAGED/,
  },
  {
    bug: 'no file sync (state)',
    workload: state,
    alphabet: ['update'],
    length: 1,
    plant: { wrap: withoutFileSync },
    found: /^count 0, expected 1|^DOCUMENT_DAMAGED|^STATE_INVALID|^version /,
  },
  {
    bug: 'no file sync (workspace)',
    workload: workspace,
    alphabet: ['write a'],
    length: 1,
    plant: { wrap: withoutFileSync },
    found: /^a is null; expected|^version undefined after a write/,
  },
  {
    bug: 'no file sync (blob)',
    workload: blobs,
    alphabet: ['put small'],
    length: 1,
    plant: { wrap: withoutFileSync },
    found: /^BLOB_DAMAGED/,
  },
  {
    bug: 'no file sync (parts of an answer)',
    workload: streamedAnswer,
    alphabet: ['part'],
    length: 1,
    plant: { wrap: withoutFileSync },
    found: /was delivered|is lost$/,
  },
  {
    bug: 'no sync of artifacts (rungs)',
    workload: ladder,
    alphabet: ['large result'],
    length: 1,
    plant: { wrap: withoutArtifactSync },
    found: /^BLOB_DAMAGED/,
  },
  {
    bug: 'no file sync (facts of a scope)',
    workload: recall,
    alphabet: ['remember'],
    length: 1,
    plant: { wrap: withoutScopeSync },
    perPoint: 8,
    found: /^the fact .* is now undefined/,
  },
  {
    bug: 'no folder sync between the rename of a sealed file and the new live file',
    workload: rotation,
    alphabet: ['append', 'archive'],
    length: 2,
    plant: { wrap: withoutSyncAfterSealing },
    found: /./,
  },
  {
    bug: 'no folder sync (journal)',
    workload: journalAppend,
    alphabet: ['append'],
    length: 1,
    plant: { wrap: withoutFolderSync },
    found: LOST,
  },
  {
    bug: 'no folder sync (document)',
    workload: documents,
    alphabet: ['write a'],
    length: 2,
    plant: { wrap: withoutFolderSync },
    found: /^a is |did not last$/,
  },
  {
    bug: 'no folder sync (blob)',
    workload: blobs,
    alphabet: ['put small'],
    length: 1,
    plant: { wrap: withoutFolderSync },
    found: /lost$/,
  },
  {
    bug: 'rename before sync (document)',
    workload: documents,
    alphabet: ['write a'],
    length: 1,
    plant: { wrap: renamingBeforeSync },
    found: /^DOCUMENT_DAMAGED/,
  },
  {
    bug: 'rename before sync (blob)',
    workload: blobs,
    alphabet: ['put small'],
    length: 1,
    plant: { wrap: renamingBeforeSync },
    found: /^BLOB_DAMAGED/,
  },
  {
    bug: 'short write ignored',
    workload: faults,
    alphabet: ['short write'],
    length: 1,
    plant: { wrap: ignoringShortWrites },
    found: LOST,
  },
  {
    bug: 'sync retried after a failure',
    workload: faults,
    alphabet: ['failed sync'],
    length: 1,
    plant: { wrap: retryingSync },
    found: LOST,
  },
  {
    bug: 'tail not cut',
    workload: journalAppend,
    alphabet: ['append', 'reopen'],
    length: 3,
    plant: { openStorage: openSmallStorage('tail-not-cut') },
    control: SMALL,
    found: /lost$|expected/,
  },
  {
    bug: 'no checksum',
    workload: journalAppend,
    alphabet: ['append', 'long'],
    length: 2,
    plant: { openStorage: openSmallStorage('no-checksum') },
    control: SMALL,
    found: /never appended|expected/,
  },
  {
    bug: 'sequence reused',
    workload: rotation,
    alphabet: ['append', 'archive'],
    length: 3,
    plant: { openStorage: openSmallStorage('sequence-reused') },
    control: SMALL,
    found: /^number 1 comes after|^the head is 0/,
  },
  {
    bug: 'lease without fencing',
    workload: leaseTakeover,
    alphabet: ['rival', 'zombie'],
    length: 2,
    plant: { openStorage: leaseWithoutFencing },
    found: LOST,
  },
  {
    bug: 'version reused after a delete',
    workload: documents,
    alphabet: ['write a', 'delete a'],
    length: 3,
    plant: { openStorage: versionReused },
    found: /^version 1 stood for/,
  },
  {
    bug: 'cache written over a newer one',
    workload: cacheTail,
    alphabet: ['turn'],
    length: 3,
    plant: { openStorage: cacheOverNewer },
    found: /^the cache holds/,
  },
  {
    bug: 'record of a checkpoint before its data',
    workload: checkpoints,
    alphabet: ['save'],
    length: 1,
    plant: { openStorage: recordBeforeData },
    found: /^STORAGE_FAILED: The data of a checkpoint differs from what was written/,
  },
  {
    bug: 'no file sync (data of a checkpoint)',
    workload: checkpoints,
    alphabet: ['save'],
    length: 1,
    plant: { openStorage: dataWithoutSync },
    found: /^CHECKPOINT_DAMAGED: .* its data does not match/,
  },
  {
    bug: 'data swept that other checkpoints use',
    workload: checkpoints,
    alphabet: ['save'],
    length: 2,
    plant: { openStorage: sweepOfUsedData },
    found: /^CHECKPOINT_DAMAGED: .* its data is missing/,
  },
  {
    bug: 'no file sync (data keys)',
    workload: checkpointKeys,
    alphabet: ['save'],
    length: 1,
    plant: { openStorage: keyWithoutSync },
    found: /^KEY_UNAVAILABLE/,
  },
];

describe('the crash explorer', { timeout: 60_000 }, () => {
  it.each(PLANTED)('catches: $bug', async ({ workload, alphabet, length, plant, found, perPoint }) => {
    const violation = await explore(workload, alphabet, length, plant, perPoint ? { perPoint } : {});
    expect(violation?.message).toMatch(found);
    expect(violation?.description).toContain('facts:');
  });

  it.each(PLANTED)('finds nothing in the same sequences without: $bug', async (planted) => {
    const { workload, alphabet, length, control } = planted;
    // A share of the states: `crash.test.ts` and `run.ts` explore the good storage at length.
    expect(await explore(workload, alphabet, length, control, { statesMax: CONTROL_STATES })).toBeNull();
  });
});
