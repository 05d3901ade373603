/**
 * The types of the SDK's `SessionStore` (`@anthropic-ai/claude-agent-sdk`), by their structure: our store fits the SDK's
 * type, and this package needs no copy of the SDK.
 */

/** Which transcript: of a session, or of a subagent of it. Any texts; none of them is empty. */
export interface SessionKey {
  readonly projectKey: string;
  readonly sessionId: string;
  /** Absent: the main transcript. Else, for instance, `subagents/agent-1`. */
  readonly subpath?: string;
}

/** One line of a transcript: JSON, stored as it is. */
export type SessionStoreEntry = {
  type: string;
  /** An entry whose `uuid` is stored already is not stored again. */
  uuid?: string;
  timestamp?: string;
  [key: string]: unknown;
};

/** What the SDK shows of a session in a list. */
export type SessionSummaryEntry = {
  sessionId: string;
  /** When the session was last written: milliseconds since 1970. */
  mtime: number;
  /** State of the SDK's own fold. */
  data: Record<string, unknown>;
};

/** The function `foldSessionSummary` of the SDK. It must be pure. */
export type FoldSessionSummary = (
  before: SessionSummaryEntry | undefined,
  key: { projectKey: string; sessionId: string },
  entries: SessionStoreEntry[],
  options?: { mtime?: number },
) => SessionSummaryEntry;
