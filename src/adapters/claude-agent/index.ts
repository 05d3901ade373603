/**
 * Durable transcripts for the Claude Agent SDK.
 *
 * @module rekindle/claude-agent
 */
export { RekindleSessionStore, type RekindleSessionStoreOptions } from './rekindle-session-store.js';
export type {
  FoldSessionSummary,
  SessionKey,
  SessionStoreEntry,
  SessionSummaryEntry,
} from './session-store-types.js';
