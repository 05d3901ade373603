/** The stored documents of a session. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { type Static, Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';

const text = Type.String();

/** `sessions/<id>/session.json` */
export const SessionDocument = Type.Object({
  schema_version: Type.Literal(1),
  session_id: text,
  title: text,
  status: Type.Union([Type.Literal('active'), Type.Literal('ended')]),
  started_at: text,
  last_active_at: text,
  ended_at: Type.Union([text, Type.Null()]),
  resumed: Type.Integer({ minimum: 0 }),
  /** Agent ids with the agents' names in the session. */
  agents: Type.Array(Type.Object({ name: text, agent_id: text })),
});
export type SessionDocument = Static<typeof SessionDocument>;
export const checkSession = lazySchema(SessionDocument);

/** `sessions/<id>/agent_states/<name>.json` */
export const AgentStateDocument = Type.Object({
  schema_version: Type.Literal(1),
  name: text,
  agent_id: text,
  workspace_keys_written: Type.Array(text),
  saved_at: text,
  /** Any JSON that the agent saved. */
  state: Type.Unknown(),
});
export type AgentStateDocument = Static<typeof AgentStateDocument>;
export const checkAgentState = lazySchema(AgentStateDocument);

/**
 * `sessions/<id>/workspace_snapshot.json`, `workspace_snapshot_resume_<n>.json` and `workspace_snapshot_end_<n>.json`:
 * the workspace at the start, at the n-th resume, and at the end after n resumes. Values are in its history.
 */
export const WorkspaceSnapshot = Type.Object({
  schema_version: Type.Literal(1),
  taken_at: text,
  entries: Type.Array(
    Type.Object({
      key: text,
      version: Type.Integer(),
      written_by: text,
      timestamp: text,
      size_bytes: Type.Integer(),
    }),
  ),
});
/** The entries of a workspace when a session began, was resumed or ended, without their values. */
export type WorkspaceSnapshot = Static<typeof WorkspaceSnapshot>;
export const checkSnapshot = lazySchema(WorkspaceSnapshot);

/** `sessions/current.json` */
export const CurrentSession = Type.Object({
  session_id: Type.Union([text, Type.Null()]),
  started_at: Type.Union([text, Type.Null()]),
});
export type CurrentSession = Static<typeof CurrentSession>;
export const checkCurrent = lazySchema(CurrentSession);

/** The file name of an agent's state. @throws INVALID_NAME */
export function agentFile(name: string): string {
  const file = `${name}.json`;
  encodeNameSegment(file);
  return file;
}

/** Checked before anything is written. @throws INVALID_NAME, INVALID_ARGUMENT if two agents have one name */
export function assertAgentNames(names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    agentFile(name);
    if (names.indexOf(name) === index) continue;
    throw new RekindleError('INVALID_ARGUMENT', `Two agents of a session have the name ${name}.`, {
      details: { field: 'agents', name },
    });
  }
}

/**
 * A state as JSON. A state that exceeds a limit is refused, because a truncated one is useless. @throws
 * INVALID_ARGUMENT
 */
export function storableState(state: unknown): JsonValue {
  const { value, changes } = toJsonValue(state);
  const cut = changes.find(({ kind }) => kind === 'depth' || kind === 'size');
  if (!cut) return value;
  throw new RekindleError('INVALID_ARGUMENT', `The state of an agent exceeds the limit of ${cut.kind}.`, {
    details: { field: 'state', ...cut },
  });
}
