/**
 * Writes a Claude Code session: one record per line, each pointing to the previous one. Saved as `<session id>.jsonl`,
 * with the id of `claudeCodeSessionId`, the session can be resumed there.
 *
 * Not carried over: system prompts (the tool has its own), reasoning that Claude did not sign, blank messages, JSON
 * results (they become text), and names and ids that the API would reject (they are replaced). A summary is written as
 * a compaction of the tool. Messages before the summary leave the tool's context; pinned messages from before it are
 * written after it.
 */
import type { JsonObject } from '../../core/json.js';
import { type Message, toolCallsOf, toolResultOf } from '../message.js';
import { assistantBlocks, toolResultBlock, userBlocks } from './claude-code-blocks.js';
import { CallIds } from './claude-code-call-ids.js';
import { digestOf, type ExportOptions, type TranscriptExporter, uuidOf } from './transcript-exporter.js';

/** The Claude Code release whose record format is written. */
const RECORD_VERSION = '2.1.42';
const UNKNOWN_MODEL = 'unknown';

export const claudeCodeExporter: TranscriptExporter = {
  format: 'claude-code',
  title: 'Claude Code session',
  extension: '.jsonl',
  *write(messages, options) {
    const session = new Session(options);
    for (const message of pinnedAfterSummary(messages)) {
      for (const record of recordsOf(message, session, options)) yield `${JSON.stringify(record)}\n`;
    }
  },
};

export function claudeCodeSessionId(agentId: string): string {
  return uuidOf('session', agentId);
}

/** Chains the records. Ids come from content and position; times are one millisecond apart. */
class Session {
  readonly calls = new CallIds();
  readonly #id: string;
  readonly #startedAtMs: number;
  #count = 0;
  #last: string | null = null;

  constructor(options: ExportOptions) {
    this.#id = claudeCodeSessionId(options.agentId);
    this.#startedAtMs = options.startedAtMs ?? 0;
  }

  record(fields: JsonObject): JsonObject {
    const uuid = uuidOf(this.#id, String(this.#count), JSON.stringify(fields));
    const record: JsonObject = {
      parentUuid: this.#last,
      isSidechain: false,
      userType: 'external',
      cwd: '',
      sessionId: this.#id,
      version: RECORD_VERSION,
      gitBranch: '',
      ...fields,
      uuid,
      timestamp: new Date(this.#startedAtMs + this.#count).toISOString(),
    };
    this.#last = uuid;
    this.#count += 1;
    return record;
  }

  /** Equal answers are still two messages: with one id, the tool would merge them. */
  messageId(blocks: readonly JsonObject[]): string {
    return `msg_${digestOf(this.#id, String(this.#count), JSON.stringify(blocks)).slice(0, 24)}`;
  }

  /** Starts a new chain, as the tool does when it compacts. */
  boundary(): JsonObject {
    const before = this.#last;
    this.#last = null;
    return this.record({
      logicalParentUuid: before,
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      isMeta: false,
      level: 'info',
      compactMetadata: { trigger: 'auto', preTokens: 0 },
    });
  }
}

function* recordsOf(message: Message, session: Session, options: ExportOptions): Generator<JsonObject> {
  const result = toolResultOf(message);
  if (result) yield session.record(userFields([toolResultBlock(result, message, session.calls, options)]));
  else if (message.role === 'assistant') {
    const blocks = assistantBlocks(message, session.calls, options);
    if (blocks.length > 0)
      yield session.record(assistantFields(message, blocks, message.messageId ?? session.messageId(blocks)));
  } else if (message.role === 'user') {
    const blocks = userBlocks(message, options);
    if (blocks.length === 0) return;
    if (message.kind === undefined) yield session.record(userFields(blocks));
    else {
      yield session.boundary();
      yield session.record({
        ...userFields(blocks),
        isCompactSummary: true,
        isVisibleInTranscriptOnly: true,
      });
    }
  }
}

/** A single text is written as a string, as the tool writes a typed prompt. */
function userFields(blocks: readonly JsonObject[]): JsonObject {
  const [only] = blocks;
  const text = blocks.length === 1 && only?.['type'] === 'text' ? only['text'] : undefined;
  return { type: 'user', message: { role: 'user', content: text ?? [...blocks] } };
}

function assistantFields(message: Message, blocks: JsonObject[], id: string): JsonObject {
  return {
    type: 'assistant',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: message.origin?.model ?? UNKNOWN_MODEL,
      content: blocks,
      stop_reason: toolCallsOf(message).length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  };
}

/** For a context that starts with pinned messages and a summary: the summary goes first, so that nothing pinned is cut off. */
function pinnedAfterSummary(messages: readonly Message[]): readonly Message[] {
  const at = messages.findIndex((message) => message.kind === 'memory');
  const summary = messages[at];
  const head = messages.slice(0, Math.max(at, 0));
  if (!summary || !head.every((message) => message.pinned || message.role === 'system')) return messages;
  return [summary, ...head, ...messages.slice(at + 1)];
}
