/**
 * The one error type of the library.
 *
 * `code` is part of the API, and `docs/errors.md` describes each code. The message is not part of the API. `details` is
 * plain JSON and safe to log. `advice` says what to do next.
 */
import type { JsonObject } from './json.js';

/** Every code with its advice. A test checks that `docs/errors.md` lists each code. */
export const ERROR_ADVICE = {
  INVALID_ARGUMENT: 'Correct the argument named in `details`; nothing was written.',
  INVALID_NAME: 'Choose another id: letters, digits, `.`, `_`, `-` are always fine; nothing was written.',
  PATH_REFUSED: 'Put a regular file or folder that you own at the path in the message; nothing was written.',
  STORAGE_FULL:
    'Free disk space or quota, then repeat the call; everything that was acknowledged before is safe.',
  STORAGE_FAILED: 'Check `details.errno` and the disk; everything that was acknowledged before is safe.',
  JOURNAL_CONFLICT:
    'Another writer appended first. Read the new records, then append again with the new head.',
  JOURNAL_CLOSED: 'The journal was closed by its owner. Open it again.',
  JOURNAL_OUTCOME_UNKNOWN:
    'A sync failed, so the record may or may not be on disk. The journal re-reads the disk before its next append.',
  JOURNAL_DAMAGED: 'Run `rekindle verify`, then `rekindle repair`. Repair keeps the damaged file.',
  DOCUMENT_CONFLICT: 'Another writer changed the document. Read it again, then write with its new version.',
  DOCUMENT_DAMAGED:
    'The file is not valid JSON, or does not have the expected shape; see `details`. Fix it by hand or move it away; it was not changed.',
  BLOB_DAMAGED: 'The bytes no longer match their digest. Restore the file from a backup.',
  LEASE_HELD: 'Close it where it is open, or wait for it with `waitMs`. `rekindle unlock` shows the holder.',
  LEASE_LOST: 'Another process took over this agent. Stop writing here and restore the agent again.',
  UNSUPPORTED_VERSION: 'The file was written by a newer release. Upgrade; the file was not changed.',
  AGENT_EXISTS: 'Choose another id, or restore the agent that exists (`restoreAgent`).',
  AGENT_NOT_FOUND: 'Check the id and the base folder with `rekindle list`, or use `createAgent`.',
  AGENT_FOREIGN:
    'Rename the folder back to its owner, `details.owner`. To continue under another id, save a checkpoint of the owner and start from it. Nothing was changed.',
  AGENT_STATE: 'The agent cannot accept this call in its current state; see `details.status`.',
  MESSAGE_INVALID: 'Correct the field named in `details`; nothing was written.',
  TRANSCRIPT_UNKNOWN:
    'Unknown transcript format. `details.lookedFor` lists the known ones; nothing was written.',
  TRANSCRIPT_INVALID:
    'The transcript is damaged, or is not of the format that it looks like; see `details`. Nothing was written.',
  COMPACTION_REFUSED: 'The context was not changed. `details.reason` says why.',
  CONTEXT_TOO_LARGE:
    'Shorten the largest of `details.parts` (system prompt, tools, the last request), or use a model with a larger input. The conversation is safe.',
  CONTEXT_BLANK: 'A restored context would be blank although traces exist. Run `rekindle verify`.',
  MODEL_FAILED:
    'The model call failed after its retries; the conversation is safe. Call `resume()` to try again.',
  EMBEDDER_FAILED:
    'Recall continued and ranked by words. Check the embedder; see `details.problem`. Missing vectors are made after the next turn.',
  MODEL_SCRIPT_MISMATCH: 'The scripted model was called more or less often than its script says.',
  TOOL_INVALID: 'Correct the tool definition named in `details`.',
  TOOL_REFUSED: 'Allow the tool for this agent in `config/agent_tools.json`, or do without it.',
  TOOL_FAILED: 'The tool threw; its error was recorded as the result of the call.',
  STATE_NOT_FOUND: 'Pass an `initial` value, or create the document with `rekindle state init`.',
  STATE_INVALID: 'Correct every violation in `details.violations`; nothing was changed.',
  STATE_TOO_LARGE:
    'Store the large part with `attach` and keep the reference that it returns; nothing was changed.',
  LIMIT_EXCEEDED:
    'Stay within `details.allowed`, or raise the limit named in `details.limit` if it can be raised; nothing was changed.',
  TYPE_MISMATCH:
    'The operation does not fit the value that is stored; see `details.type`. Nothing was changed.',
  HISTORY_GONE: 'Start again from the current state: versions before `details.oldest` were removed.',
  HUMAN_EDIT:
    'A person is editing this document. Wait `details.remainingMs`, or fix the problems in `details.problems`.',
  MIGRATION_FAILED: 'Fix the migration named in `details`, then run it again; the document was not changed.',
  ENTRY_INVALID: 'Correct every violation in `details.violations`; the entry was not changed.',
  ENTRY_NOT_FOUND: 'List the existing entries, keys or plans, and their versions; nothing was changed.',
  APPROVAL_NOT_WAITING:
    'See `details.reason`. `rekindle approvals list` shows what waits; nothing was changed.',
  FACT_NOT_FOUND: 'List the existing facts with `rekindle memory list`; nothing was changed.',
  TOKEN_NOT_FOUND: 'List the existing tokens with `rekindle token list`; nothing was changed.',
  SESSION_NOT_FOUND: 'Check the id; list the sessions to see which exist.',
  SESSION_EXISTS: 'Choose another id, or continue the existing session; nothing was changed.',
  SESSION_STATE:
    'The session does not allow this in its current state; see `details.status`. Nothing was changed.',
  REQUEST_REFUSED: 'See `details.reason`. `docs/server.md` lists the requirements for every request.',
  LISTEN_FAILED: 'Choose another port or address; see `details.errno`.',
  CHECKPOINT_NOT_FOUND: 'List the existing checkpoints with `rekindle checkpoint list`.',
  CHECKPOINT_DAMAGED:
    'Load another checkpoint; `rekindle checkpoint verify` shows which ones are intact. Nothing was changed.',
  STORAGE_QUOTA_EXCEEDED:
    'Free space with `rekindle checkpoint prune`, or raise the limit; see `details`. Nothing was saved.',
  STORAGE_UNAVAILABLE: 'Try again later. The request may still take effect.',
  TLS_FAILED:
    'Set up TLS on the server, or name its certificate authority with `sslrootcert=FILE`. On a trusted network, `sslmode=disable` turns TLS off.',
  KEY_UNAVAILABLE:
    'Restore the master key, or make its file readable by its owner only; see `details`. The data cannot be read without the key; it was not changed.',
  STORE_SEALED:
    'Open the store with its keys: add `seal=environment`, `seal=keychain` or `seal=FILE` to its address. Nothing was written.',
  STORE_NOT_SEALED:
    'Open the store without `seal`, or copy it into a new sealed store with `rekindle copy`. Nothing was written.',
  SENSITIVE_DATA:
    'Remove the data that `details.kind` names, or mask it: see `actions` in docs/redaction.md. Nothing was written.',
  RULES_INVALID: 'Correct the rule named in `details`.',
  ERASURE_UNFINISHED:
    'Finish the erasure: run `rekindle erase --resume`, or the same erasure again. Until then nothing of that name can be used.',
  ERASURE_REFUSED:
    'Delete the checkpoints that `details.checkpoints` names with `rekindle checkpoint delete`, then erase again. Nothing was changed.',
  OUTCOME_UNKNOWN:
    'The call started earlier and its end was not recorded. Find out what happened before you repeat the call.',
  ABORTED: 'The caller cancelled. Everything recorded until then is kept.',
  DEPENDENCY_MISSING: 'Install the optional package named in `details`.',
} as const;

/** The stable identifier of an error, such as `LEASE_HELD`. Part of the API: codes are not renamed. */
export type ErrorCode = keyof typeof ERROR_ADVICE;

const MARKER = Symbol.for('rekindle.error');

export interface RekindleErrorOptions {
  readonly details?: JsonObject;
  readonly cause?: unknown;
  /** What to do. Set it where more is known than the code says; default: the advice for the code. */
  readonly advice?: string;
}

/**
 * The error that this library throws. Branch on `code`, never on `message`.
 *
 * ```ts
 * try {
 *   await restoreAgent(config);
 * } catch (thrown) {
 *   if (isRekindleError(thrown, 'AGENT_NOT_FOUND')) return createAgent(config);
 *   throw thrown;
 * }
 * ```
 */
export class RekindleError extends Error {
  readonly code: ErrorCode;
  /** Facts about the failure, as plain JSON. Safe to log. */
  readonly details: JsonObject;
  /** What to do next, for people. */
  readonly advice: string;

  constructor(code: ErrorCode, message: string, options: RekindleErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RekindleError';
    this.code = code;
    this.details = options.details ?? {};
    this.advice = options.advice ?? ERROR_ADVICE[code];
    Object.defineProperty(this, MARKER, { value: true });
  }

  /** The form for logs and `--json` output. The cause is reduced to its message. */
  toJSON(): JsonObject {
    const json: JsonObject = {
      name: this.name,
      code: this.code,
      message: this.message,
      details: this.details,
      advice: this.advice,
    };
    if (this.cause instanceof Error) json['cause'] = this.cause.message;
    return json;
  }
}

/** Recognises the error by its marker, so it also works across two copies of the package. */
export function isRekindleError(value: unknown, code?: ErrorCode): value is RekindleError {
  if (typeof value !== 'object' || value === null || !(MARKER in value)) return false;
  return code === undefined || (value as unknown as RekindleError).code === code;
}

/** The error itself, or STORAGE_FAILED with it as the cause: events report every failure in this one form. */
export function asRekindleError(thrown: unknown): RekindleError {
  if (isRekindleError(thrown)) return thrown;
  return new RekindleError('STORAGE_FAILED', messageOf(thrown), { cause: thrown });
}

/** A short text for any thrown value. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'unknown error';
  }
}
