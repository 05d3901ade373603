/** What a session is, and what is stored of it. */
import { type Static, Type } from 'typebox';
import { lazySchema } from '../../core/schema-check.js';

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
  /** Agent ids by the name that an agent has in the session. */
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
  /** The agent's own, any JSON. */
  state: Type.Unknown(),
});
export type AgentStateDocument = Static<typeof AgentStateDocument>;
export const checkAgentState = lazySchema(AgentStateDocument);

/** `sessions/<id>/workspace_snapshot.json`: what the workspace was when the session began. Values are in its history. */
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
export type WorkspaceSnapshot = Static<typeof WorkspaceSnapshot>;
export const checkSnapshot = lazySchema(WorkspaceSnapshot);

/** `sessions/current.json` */
export const CurrentSession = Type.Object({
  session_id: Type.Union([text, Type.Null()]),
  started_at: Type.Union([text, Type.Null()]),
});
export type CurrentSession = Static<typeof CurrentSession>;
export const checkCurrent = lazySchema(CurrentSession);
