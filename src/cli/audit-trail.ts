/** Records what commands do, where the store has an audit log. */
import { AuditLog, hasAuditLog } from '../storage/audit/audit-log.js';
import type { AuditEntry } from '../storage/audit/audit-record.js';
import type { StorageBackend } from '../storage/ports.js';
import { accountName } from './account-name.js';

/** The user of the operating system who runs the command. */
export function commandUser(): string {
  return `user ${accountName()}`;
}

/** Durable when it resolves; then the command may act. Nothing without an audit log. @throws as `AuditLog.record` */
export async function recordCommand(
  storage: StorageBackend,
  entry: Pick<AuditEntry, 'action' | 'target' | 'what'>,
): Promise<void> {
  if (await hasAuditLog(storage)) await recordAlways(storage, entry);
}

/** Like `recordCommand`; starts the audit log if there is none. */
export async function recordAlways(
  storage: StorageBackend,
  entry: Pick<AuditEntry, 'action' | 'target' | 'what'>,
): Promise<void> {
  const log = new AuditLog(storage);
  try {
    await log.record({ actor: commandUser(), outcome: 'allowed', ...entry });
  } finally {
    await log.close();
  }
}
