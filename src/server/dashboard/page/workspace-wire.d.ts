/** The used parts of the server's answers about workspaces; see `src/server/http/workspace-schemas.ts`. */

export interface WorkspaceList {
  readonly workspaces: readonly string[];
}

export interface EntryInfo {
  readonly key: string;
  readonly version: number;
  readonly written_by: string;
  readonly written_at: string;
  readonly size_bytes: number;
  readonly deleted: boolean;
}

export interface EntryList {
  readonly total: number;
  readonly writes: number;
  readonly agents: readonly {
    readonly agent: string;
    readonly writes: number;
    readonly last_write_at: string;
  }[];
  readonly entries: readonly EntryInfo[];
}

export interface EntryVersion {
  readonly key: string;
  readonly version: number;
  readonly written_by: string;
  readonly written_at: string;
  readonly event: 'write' | 'delete' | 'rollback';
  readonly from: number | null;
  readonly value?: unknown;
}

export interface EntryHistory {
  readonly versions: readonly EntryVersion[];
}

export interface Readers {
  readonly readers: readonly {
    readonly agent: string;
    readonly key: string | null;
    readonly reads: number;
    readonly last_read_at: string;
  }[];
}

export interface ToolCall {
  readonly call_id: string;
  readonly tool: string;
  readonly agent: string;
  readonly session: string | null;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly status: 'ok' | 'error';
  readonly input: unknown;
  readonly output: unknown;
  readonly error: string | null;
  readonly input_ref: string | null;
  readonly output_ref: string | null;
}

export interface ToolCalls {
  readonly calls: readonly ToolCall[];
}

export interface WorkspaceSessions {
  readonly current: string | null;
  readonly sessions: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: 'active' | 'ended';
    readonly started_at: string;
    readonly last_active_at: string;
    readonly resumed: number;
    readonly agents: readonly { readonly name: string; readonly agent_id: string }[];
  }[];
}

export interface Plans {
  readonly current: string | null;
  readonly archived: readonly string[];
}
