/** The used parts of the server's answers; see `src/server/http/schemas.ts` and `state-schemas.ts`. */

export interface Session {
  readonly id: string;
  readonly parent: string | null;
  readonly agent: string | null;
  readonly status: string;
  readonly why: string | null;
  readonly updated_at: string;
}

export interface Orphan {
  readonly session: Session;
  readonly reason: 'parent_ended' | 'parent_missing';
  readonly ancestor: string;
}

export interface StateKey {
  readonly key: string;
  readonly value?: unknown;
  readonly version: number;
  readonly updated_at: string;
  readonly updated_by?: string;
}

export interface StateView {
  readonly root_session_id: string;
  readonly global_version: number;
  readonly history?: string;
  readonly keys: Readonly<Record<string, StateKey>>;
}

export interface StateEvent {
  readonly type: 'state_key_updated' | 'state_key_deleted';
  readonly root_session_id: string;
  readonly key: string;
  readonly value?: unknown;
  readonly version: number;
  readonly op: string;
  readonly global_version: number;
  readonly updated_by?: string;
  readonly deleted_by?: string;
  readonly timestamp: string;
}

export interface KeyHistory {
  readonly complete: boolean;
  readonly has_more: boolean;
  readonly changes: readonly StateEvent[];
}

export interface Approval {
  readonly agent_id: string;
  readonly turn_id: string;
  readonly call_id: string;
  readonly tool_name: string;
  readonly arguments: unknown;
  readonly arguments_sha256: string;
  readonly requested_at: string;
  readonly expires_at: string | null;
  readonly decision: { readonly approved: boolean; readonly by: string | null } | null;
}

export interface Agent {
  readonly agent_id: string;
  readonly status: string;
  readonly messages: number | null;
  readonly epoch: number | null;
  readonly snapshot: string;
  readonly traces: number;
  readonly last_trace_at: string | null;
}

export interface Report {
  readonly source: string;
  readonly frontier: { readonly kind: string };
  readonly messages: number;
  readonly epochId: number;
  readonly tracesReplayed: number;
  readonly phasesMs: { readonly total: number };
  readonly cacheRefused: { readonly reason: string; readonly detail: string } | null;
  readonly interruptedCalls: readonly {
    readonly callId: string;
    readonly toolName: string;
    readonly verdict: string;
  }[];
  readonly repairs: readonly {
    readonly code: string;
    readonly messageIndex: number;
    readonly reason: string;
  }[];
  readonly damage: readonly { readonly file: string; readonly reason: string }[];
  readonly unknown: readonly string[];
}

export interface ToolPayload {
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: unknown;
  }[];
  readonly tool_call_id?: string;
  readonly tool_name?: string;
  readonly tool_result?: unknown;
  readonly tool_error?: unknown;
}

export interface ContextRow {
  readonly index: number;
  readonly tokens: number;
  readonly repairs: readonly string[];
  readonly message: {
    readonly role: string;
    readonly content?: string | null;
    readonly reasoning_content?: string | null;
    readonly tool_payload?: ToolPayload | null;
  };
}

export interface Context {
  readonly tokens: number;
  /** Tokens by kind of content. */
  readonly parts: Readonly<Record<string, number>>;
  readonly messages: readonly ContextRow[];
}

export interface Trace {
  readonly number: number;
  readonly ts: number;
  readonly trace_type: string;
  readonly turn_id: string;
  readonly content?: unknown;
}

export interface Traces {
  readonly traces: readonly Trace[];
  readonly before: number | null;
}

export interface Passage {
  readonly record: number;
  readonly at: string | null;
  readonly turn_id: string;
  readonly speaker: string;
  readonly tool_name?: string;
  readonly text: string;
}

export interface SearchPage {
  /** The search words, which the view adds. */
  readonly asked: string;
  readonly results: readonly Passage[];
  readonly next_offset: number | null;
  readonly searched_passages: number;
}

export type LayerSummary = Readonly<Record<string, { readonly keys: number; readonly bytes: number }>>;

export interface CheckpointSessions {
  readonly sessions: readonly {
    readonly id: string;
    readonly last_accessed_at: string;
    readonly tags: readonly string[];
    readonly total_size_bytes: number;
    readonly checkpoints: number;
    readonly encrypted: boolean;
  }[];
  readonly total_size_bytes: number;
  readonly max_total_size: number;
  readonly problems: readonly { readonly session_id: string; readonly message: string }[];
}

export interface Checkpoint {
  readonly id: string;
  readonly session_id: string;
  readonly name: string | null;
  readonly agent_id: string | null;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly context_size_bytes: number;
  readonly stored_bytes: number;
  readonly status: 'active' | 'archived' | 'corrupt';
  readonly critical: boolean;
  readonly encrypted: boolean;
  readonly left_out_keys: readonly string[];
  readonly classification_summary: LayerSummary | null;
}

export interface CheckpointPage {
  readonly total: number;
  readonly checkpoints: readonly Checkpoint[];
}

export interface CheckpointContext {
  readonly context: { readonly [key: string]: unknown };
}

export interface CheckpointDiff {
  readonly changes: readonly {
    readonly op: 'add' | 'replace' | 'remove';
    readonly path: string;
    readonly value?: unknown;
  }[];
}

/** A WebSocket message; further fields depend on `type`. */
export interface LiveMessage {
  readonly type: string;
  readonly root_session_id?: string;
  readonly global_version?: number;
  readonly history?: string;
  readonly agent_id?: string;
}
