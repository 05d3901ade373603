/** Every workload of the crash explorer. A new one is a file beside this one and a line below. */
import type { Workload } from '../workload.js';
import { blobs } from './blobs.js';
import { cacheTail } from './cache-tail.js';
import { checkpointKeys } from './checkpoint-keys.js';
import { checkpoints } from './checkpoints.js';
import { documents } from './documents.js';
import { faults } from './faults.js';
import { groupCommit } from './group-commit.js';
import { journalAppend } from './journal-append.js';
import { ladder } from './ladder.js';
import { leaseTakeover } from './lease-takeover.js';
import { memory } from './memory.js';
import { queuedInputs } from './queued-inputs.js';
import { recall } from './recall.js';
import { rotation } from './rotation.js';
import { sharedState } from './shared-state.js';
import { state, stateOnObjects } from './state.js';
import { streamedAnswer } from './streamed-answer.js';
import { tornTail } from './torn-tail.js';
import { workspace } from './workspace.js';

export const workloads: readonly Workload[] = [
  journalAppend,
  groupCommit,
  rotation,
  tornTail,
  leaseTakeover,
  faults,
  documents,
  cacheTail,
  blobs,
  memory,
  ladder,
  streamedAnswer,
  queuedInputs,
  recall,
  state,
  stateOnObjects,
  sharedState,
  workspace,
  checkpoints,
  checkpointKeys,
];
