/**
 * Traces: the events of a conversation, one journal record each. They hold everything that the model saw or wrote.
 *
 * Stored fields: `id, ts, turn_id, seq, trace_type, content, source_event, ...`. `ts` is in seconds. Types that this
 * release does not know are kept, have no effect, and are reported.
 */
import type { JsonObject } from '../../core/json.js';
import type { Message, ToolCallSpec, ToolResultPayload } from '../../messages/message.js';
import type { EpisodicItem, SemanticItem } from './memory-items.js';

interface TraceEnvelope {
  readonly id: string;
  /** Seconds since 1970, with a fraction. */
  readonly ts: number;
  readonly turnId: string;
  /** Position in its turn, starting at 1. */
  readonly seq: number;
  readonly sourceEvent: string;
}

/** A user message, or a model's answer. Calls of an answer follow as `tool_call` traces with its `messageId`. */
export interface MessageTrace extends TraceEnvelope {
  readonly type: 'user' | 'assistant';
  readonly message: Message;
  /** Only of a user message that came from the queue of inputs: its id there. */
  readonly inputId?: string;
}

export interface ToolCallTrace extends TraceEnvelope {
  readonly type: 'tool_call';
  readonly call: ToolCallSpec;
  /** The `messageId` of the response it belongs to; absent in files of AutoByteus. */
  readonly messageId?: string;
}

export interface ToolResultTrace extends TraceEnvelope {
  readonly type: 'tool_result';
  readonly result: ToolResultPayload;
  /** Media that the tool returned, as parts. */
  readonly parts?: Message['parts'];
  readonly synthetic?: boolean;
}

/** Passages that had left the context, recalled for the next request: a message of the kind `recall`. */
export interface RecallTrace extends TraceEnvelope {
  readonly type: 'recall';
  readonly message: Message;
}

/** A new epoch, with the whole context after it, so that it can be repeated exactly. */
export interface CompactionTrace extends TraceEnvelope {
  readonly type: 'compaction';
  readonly epochId: number;
  readonly lastCompactionTs: number;
  /** The whole list, with the system message. */
  readonly messages: readonly Message[];
  readonly episodic: readonly EpisodicItem[];
  readonly semantic: readonly SemanticItem[];
  readonly lastTurn: number;
}

/** A change of the context other than a message, a call, a result or a compaction. */
export type Boundary =
  /** The system prompt from here on. */
  | { readonly kind: 'system'; readonly systemPrompt: string }
  /** The whole context was set: taken over from a snapshot of another format, or by the host. */
  | {
      readonly kind: 'base';
      readonly reason: string;
      readonly messages: readonly Message[];
      readonly epochId: number;
      readonly lastCompactionTs: number | null;
      readonly lastTurn: number;
    }
  /** A repair of the list: `deleteCount` messages at `at` are replaced by `insert`. */
  | {
      readonly kind: 'repair';
      readonly at: number;
      readonly deleteCount: number;
      readonly insert: readonly Message[];
      readonly codes: readonly string[];
    }
  /** Shortened messages at their positions; the whole texts are artifacts. */
  | {
      readonly kind: 'edit';
      readonly rung: 'clear' | 'trim';
      readonly edits: readonly { readonly at: number; readonly message: Message }[];
    }
  /** A compaction was refused. Such failures are counted until one succeeds. */
  | { readonly kind: 'compaction_failed'; readonly reason: string };

export interface BoundaryTrace extends TraceEnvelope {
  readonly type: 'boundary';
  readonly boundary: Boundary;
}

/** The journal's header: see `journal-header.ts`. Has no effect on the context. */
export interface JournalTrace extends TraceEnvelope {
  readonly type: 'journal';
  readonly agentId: string;
  /** The oldest reader version that can read what follows. */
  readonly reader: number;
}

/** A row of another tool, such as `tool_continuation`: kept in the journal, without effect. */
export interface ForeignTrace extends TraceEnvelope {
  readonly type: 'foreign';
  readonly traceType: string;
  readonly row: JsonObject;
}

/** One event of a conversation; tell them apart by `type`. */
export type Trace =
  | MessageTrace
  | RecallTrace
  | ToolCallTrace
  | ToolResultTrace
  | CompactionTrace
  | BoundaryTrace
  | JournalTrace
  | ForeignTrace;
