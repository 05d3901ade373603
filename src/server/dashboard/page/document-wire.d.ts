/** The used parts of the server's answers about durable documents; see `src/server/http/document-schemas.ts`. */

export interface DocumentList {
  readonly documents: readonly {
    readonly name: string;
    readonly version: number | null;
    readonly schema_version: number | null;
    readonly updated_at: string | null;
    readonly updated_by: string | null;
    readonly file: string;
  }[];
}

export interface StateDocument {
  readonly name: string;
  readonly version: number;
  readonly value: unknown;
  readonly updated_at: string;
  readonly updated_by: string;
  readonly why: string | null;
  readonly file?: string;
  readonly problems?: readonly {
    readonly line: number;
    readonly column: number;
    readonly path: string;
    readonly message: string;
  }[];
}

export interface DocumentHistory {
  readonly events: readonly {
    readonly version: number;
    readonly event: string;
    readonly updated_at: string;
    readonly updated_by: string;
    readonly why: string | null;
  }[];
  readonly before: number | null;
}
