/**
 * The journals that do not belong to agents: of durable documents, workspaces, shared states and their
 * sessions, checkpoints, adapters and streams.
 */

import { adapterJournals } from '../adapters/adapter-journals.js';
import { CheckpointService } from '../checkpoints/checkpoint-service.js';
import { journalNames } from '../checkpoints/session/session-log.js';
import { RekindleError } from '../core/errors.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import { subjectJournals } from '../memory/facts/subject-facts.js';
import { stateJournals } from '../state/durable/migrate-documents.js';
import { recoverSharedState } from '../state/shared/shared-state.js';
import { type SharedStateJournal, sharedStateJournals } from '../state/shared/shared-state-journals.js';
import { AUDIT_JOURNAL, hasAuditLog } from '../storage/audit/audit-log.js';
import {
  checkJournal,
  isHarmful,
  type JournalCheck,
  repairSharedJournal,
  type SharedJournalName,
} from '../storage/journal-check.js';
import type { SegmentRepair, StorageBackend } from '../storage/ports.js';
import { streamJournals } from '../streams/stream-name.js';
import { workspaceJournals } from '../workspace/workspace-journals.js';

export interface SharedJournalReport extends JournalCheck {
  /** Such as `state/agent_state.events`: the argument of `repair`. */
  readonly name: string;
  readonly ok: boolean;
}

export async function checkSharedJournals(storage: StorageBackend): Promise<SharedJournalReport[]> {
  const reports: SharedJournalReport[] = [];
  for (const { journal } of await list(storage)) {
    const checked = await checkJournal(storage, journal);
    reports.push({ name: journal.join('/'), ok: !checked.damage.some(isHarmful), ...checked });
  }
  return reports;
}

/** @throws INVALID_ARGUMENT for an unknown journal */
export async function repairNamedJournal(storage: StorageBackend, name: string): Promise<SegmentRepair[]> {
  const known = await list(storage);
  const found = known.find(({ journal }) => journal.join('/') === name);
  if (found) {
    if ('sessionId' in found) return repairCheckpoints(storage, found.sessionId);
    // First, because a clean copy does not show how much was lost.
    if ('root' in found && found.root !== null) await recoverSharedState(storage, { root: found.root });
    return repairSharedJournal(storage, found);
  }
  const names: JsonValue = known.map(({ journal }) => journal.join('/'));
  const details: JsonObject = { name, known: names };
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `There is no journal ${JSON.stringify(name)}. Known journals: ${names.join(', ')}.`,
    { details },
  );
}

/** Records that are still missing are noted as lost, which needs the key of an encrypted session. */
async function repairCheckpoints(storage: StorageBackend, sessionId: string): Promise<SegmentRepair[]> {
  const service = new CheckpointService({ backend: storage });
  try {
    return [...(await service.repair(sessionId)).segments];
  } finally {
    await service.close();
  }
}

interface CheckpointJournal extends SharedJournalName {
  readonly sessionId: string;
}

async function checkpointJournals(storage: StorageBackend): Promise<CheckpointJournal[]> {
  const folder = ['checkpoints', 'sessions'];
  return (await storage.listNames(folder)).map((sessionId) => ({
    ...journalNames([...folder, sessionId]),
    sessionId,
  }));
}

async function list(
  storage: StorageBackend,
): Promise<(SharedJournalName | SharedStateJournal | CheckpointJournal)[]> {
  return [
    ...(await stateJournals(storage)),
    ...(await workspaceJournals(storage)),
    ...(await sharedStateJournals(storage)),
    ...(await checkpointJournals(storage)),
    ...(await adapterJournals(storage)),
    ...(await subjectJournals(storage)),
    ...(await streamJournals(storage)),
    ...((await hasAuditLog(storage)) ? [AUDIT_JOURNAL] : []),
  ];
}
