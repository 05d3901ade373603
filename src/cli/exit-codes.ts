/** Exit codes, documented in `docs/cli.md`. */
import { type ErrorCode, isRekindleError } from '../core/errors.js';

export const EXIT = {
  ok: 0,
  /** The command worked and found a problem (`verify`), or an error without its own code. */
  problem: 1,
  usage: 2,
  notFound: 3,
  inUse: 4,
  storage: 5,
  refused: 6,
  /** The command needs `--yes`; nothing was changed. */
  unconfirmed: 7,
} as const;

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  INVALID_ARGUMENT: EXIT.usage,
  INVALID_NAME: EXIT.usage,
  DEPENDENCY_MISSING: EXIT.usage,
  AGENT_NOT_FOUND: EXIT.notFound,
  STATE_NOT_FOUND: EXIT.notFound,
  ENTRY_NOT_FOUND: EXIT.notFound,
  APPROVAL_NOT_WAITING: EXIT.notFound,
  FACT_NOT_FOUND: EXIT.notFound,
  TOKEN_NOT_FOUND: EXIT.notFound,
  SESSION_NOT_FOUND: EXIT.notFound,
  HISTORY_GONE: EXIT.notFound,
  CHECKPOINT_NOT_FOUND: EXIT.notFound,
  LEASE_HELD: EXIT.inUse,
  LEASE_LOST: EXIT.inUse,
  HUMAN_EDIT: EXIT.inUse,
  STORAGE_FULL: EXIT.storage,
  STORAGE_FAILED: EXIT.storage,
  JOURNAL_OUTCOME_UNKNOWN: EXIT.storage,
  JOURNAL_DAMAGED: EXIT.storage,
  BLOB_DAMAGED: EXIT.storage,
  CHECKPOINT_DAMAGED: EXIT.storage,
  STORAGE_UNAVAILABLE: EXIT.storage,
  PATH_REFUSED: EXIT.refused,
  STORE_SEALED: EXIT.refused,
  STORE_NOT_SEALED: EXIT.refused,
  AGENT_EXISTS: EXIT.refused,
  AGENT_FOREIGN: EXIT.refused,
  COMPACTION_REFUSED: EXIT.refused,
  UNSUPPORTED_VERSION: EXIT.refused,
  CONTEXT_BLANK: EXIT.refused,
  CONTEXT_TOO_LARGE: EXIT.refused,
  TRANSCRIPT_UNKNOWN: EXIT.refused,
  TRANSCRIPT_INVALID: EXIT.refused,
  STATE_INVALID: EXIT.refused,
  STATE_TOO_LARGE: EXIT.refused,
  LIMIT_EXCEEDED: EXIT.refused,
  TYPE_MISMATCH: EXIT.refused,
  SESSION_EXISTS: EXIT.refused,
  SESSION_STATE: EXIT.refused,
  MIGRATION_FAILED: EXIT.refused,
  ENTRY_INVALID: EXIT.refused,
  JOURNAL_CONFLICT: EXIT.refused,
  DOCUMENT_CONFLICT: EXIT.refused,
  DOCUMENT_DAMAGED: EXIT.refused,
  TOOL_REFUSED: EXIT.refused,
  STORAGE_QUOTA_EXCEEDED: EXIT.refused,
  KEY_UNAVAILABLE: EXIT.refused,
  TLS_FAILED: EXIT.storage,
  RULES_INVALID: EXIT.refused,
  ERASURE_UNFINISHED: EXIT.refused,
  ERASURE_REFUSED: EXIT.refused,
};

export function exitCodeFor(thrown: unknown): number {
  return isRekindleError(thrown) ? (BY_CODE[thrown.code] ?? EXIT.problem) : EXIT.problem;
}
