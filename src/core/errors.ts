/**
 * The one error type of the library.
 *
 * `code` is part of the API and has a heading of its own in `docs/errors.md`; the message is not part of
 * the API. `details` is plain JSON and safe to log; `advice` says what to do next.
 */
import type { JsonObject } from './json.js';

/** Every code, with the advice that goes with it. A test checks that `docs/errors.md` has each of them. */
export const ERROR_ADVICE = {
  INVALID_ARGUMENT: 'Correct the argument named in `details`; nothing was written.',
  INVALID_NAME: 'Choose another id: letters, digits, `.`, `_`, `-` are always fine; nothing was written.',
  PATH_REFUSED:
    'Put a plain file or folder of your own in the place that the message names; nothing was written.',
  STORAGE_FULL: 'Free disk space or quota, then repeat the call; what was acknowledged before is safe.',
  STORAGE_FAILED: 'Look at `details.errno` and at the disk; what was acknowledged before is safe.',
  JOURNAL_CONFLICT: 'Read the new records, decide again, and append with the new head.',
  JOURNAL_CLOSED: 'Open the journal again; it was closed by its owner.',
  JOURNAL_OUTCOME_UNKNOWN:
    'A sync failed, so the record may or may not be on disk. The journal re-reads the disk before its next append.',
  JOURNAL_DAMAGED: 'Run `rekindle verify`, then `rekindle repair`, which keeps the damaged file.',
  DOCUMENT_CONFLICT: 'Read the document again and write with its new version.',
  DOCUMENT_DAMAGED:
    'The file is not valid JSON, or not of its shape; see `details`. Mend it by hand or move it away; it was not changed.',
  BLOB_DAMAGED: 'The bytes no longer match their digest. Restore the file from a copy.',
  LEASE_HELD: 'Close it where it is open, or wait for it with `waitMs`. `rekindle unlock` tells who has it.',
  LEASE_LOST: 'Another process took this agent over. Stop writing here and restore the agent anew.',
  UNSUPPORTED_VERSION: 'The file was written by a newer release. Upgrade; the file was not changed.',
  AGENT_EXISTS: 'Choose another id, or restore the agent that exists (`restoreAgent`).',
  AGENT_NOT_FOUND: 'Check the id and the base folder with `rekindle list`, or use `createAgent`.',
  AGENT_FOREIGN:
    'Give the folder back the name of its owner, `details.owner`. To go on from it under another id, save a checkpoint of the owner and begin from that. Nothing was changed.',
  AGENT_STATE: 'The agent is not in a state that allows this call; see `details.status`.',
  MESSAGE_INVALID: 'Correct the field named in `details`; nothing was written.',
  TRANSCRIPT_UNKNOWN:
    'Unknown transcript format. `details.lookedFor` lists the known ones; nothing was written.',
  TRANSCRIPT_INVALID:
    'The transcript is damaged or is not what it seems; see `details`. Nothing was written.',
  COMPACTION_REFUSED: 'The context was left as it was. `details.reason` says why.',
  CONTEXT_TOO_LARGE:
    'Shorten what `details.parts` shows as largest (system prompt, tools, the last request), or use a model with a larger input. The conversation is safe.',
  CONTEXT_BLANK: 'A restored context would be blank although traces exist. Run `rekindle verify`.',
  MODEL_FAILED:
    'The model call failed after its retries; the conversation is safe. Call `resume()` to try again.',
  MODEL_SCRIPT_MISMATCH: 'The scripted model was called more or less often than its script says.',
  TOOL_INVALID: 'Correct the tool definition named in `details`.',
  TOOL_REFUSED: 'Allow the tool for this agent in `config/agent_tools.json`, or do without it.',
  TOOL_FAILED: 'The tool threw; its error was recorded as the result of the call.',
  STATE_NOT_FOUND: 'Give an `initial` value, or begin the document with `rekindle state init`.',
  STATE_INVALID: 'Correct every violation in `details.violations`; nothing was changed.',
  STATE_TOO_LARGE:
    'Store the large part with `attach` and keep the reference that it returns; nothing was changed.',
  LIMIT_EXCEEDED:
    'Stay within `details.allowed`, or raise the limit that `details.limit` names, where it can be; nothing was changed.',
  TYPE_MISMATCH:
    'The operation does not fit the value that is stored; see `details.type`. Nothing was changed.',
  HISTORY_GONE: 'Begin anew from the current state: versions before `details.oldest` were removed.',
  HUMAN_EDIT:
    'A person is at work on this document. Wait `details.remainingMs`, or mend the file as `details.problems` says.',
  MIGRATION_FAILED: 'Mend the migration named in `details`, then run it again; the document was not changed.',
  ENTRY_INVALID: 'Correct every violation in `details.violations`; the entry is as it was.',
  ENTRY_NOT_FOUND: 'See which entries and versions there are with `list` and `history`.',
  FACT_NOT_FOUND: 'See which facts there are with `rekindle memory list`; nothing was changed.',
  TOKEN_NOT_FOUND: 'See which tokens there are with `rekindle token list`; nothing was changed.',
  SESSION_NOT_FOUND: 'Check the id; list the sessions to see which there are.',
  SESSION_EXISTS: 'Choose another id, or go on with the session that exists; nothing was changed.',
  SESSION_STATE: 'The session is not in a state that allows this; see `details.status`. Nothing was changed.',
  REQUEST_REFUSED: 'See `details.reason`: what the server asks of every request is in `docs/server.md`.',
  LISTEN_FAILED: 'Choose another port or address; see `details.errno`.',
  CHECKPOINT_NOT_FOUND: 'See which checkpoints there are with `rekindle checkpoint list`.',
  CHECKPOINT_DAMAGED:
    'Load another checkpoint; `rekindle checkpoint verify` says which are whole. Nothing was changed.',
  STORAGE_QUOTA_EXCEEDED:
    'Make room with `rekindle checkpoint prune`, or raise the limit; see `details`. Nothing was saved.',
  STORAGE_UNAVAILABLE: 'Try again later; what was asked for may still take place.',
  TLS_FAILED:
    'Set up TLS in the server, or name its certificate authority with `sslrootcert=FILE`. `sslmode=disable` does without, where the network is trusted.',
  KEY_UNAVAILABLE:
    'Bring back the master key, or make its file readable to its owner alone; see `details`. Nobody can read the data without it; it was not changed.',
  SENSITIVE_DATA:
    'Leave out what `details.kind` names, or let it be masked: see `actions` in docs/redaction.md. Nothing was written.',
  RULES_INVALID: 'Correct the rule that `details` names.',
  ERASURE_UNFINISHED:
    'Finish it: `rekindle erase --resume`, or the same erasure again. Until then nothing of that name is used.',
  OUTCOME_UNKNOWN:
    'The call started earlier and its end was not recorded. Find out what happened before you repeat it.',
  ABORTED: 'The caller cancelled. What was said until then is kept.',
  DEPENDENCY_MISSING: 'Install the optional package named in `details`.',
} as const;

export type ErrorCode = keyof typeof ERROR_ADVICE;

const MARKER = Symbol.for('rekindle.error');

export interface RekindleErrorOptions {
  readonly details?: JsonObject;
  readonly cause?: unknown;
  /** What to do, where more is known than the code says. */
  readonly advice?: string;
}

export class RekindleError extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject;
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

/** The error itself, or STORAGE_FAILED with it as the cause: for events, which tell of every failure in one form. */
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
