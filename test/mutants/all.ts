import { approvals } from './approvals.js';
import { checkpointUpkeep } from './checkpoint-upkeep.js';
import { claudeAgent } from './claude-agent.js';
import { erasure } from './erasure.js';
import { forks } from './forks.js';
import { fuzzing } from './fuzzing.js';
import { inputs } from './inputs.js';
import { memoryAndState } from './memory-and-state.js';
import type { Mutant } from './mutant.js';
import { redaction } from './redaction.js';
import { sealing } from './sealing.js';
import { storageFiles } from './storage-files.js';
import { storageSql } from './storage-sql.js';
import { streaming } from './streaming.js';
import { waysIn } from './ways-in.js';
import { workAndAccess } from './work-and-access.js';

export const MUTANTS: readonly Mutant[] = [
  ...storageFiles,
  ...storageSql,
  ...memoryAndState,
  ...workAndAccess,
  ...fuzzing,
  ...claudeAgent,
  ...waysIn,
  ...redaction,
  ...sealing,
  ...erasure,
  ...streaming,
  ...forks,
  ...approvals,
  ...inputs,
  ...checkpointUpkeep,
];
