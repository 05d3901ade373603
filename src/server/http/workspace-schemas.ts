/** Schemas of the bodies of workspaces, their tool calls, sessions and plans. */
import { Type } from '../../core/schema.js';
import { anyJson, jsonPatch, textOrNull, time } from './schemas.js';

const whole = Type.Integer({ minimum: 0 });
const event = Type.Enum(['write', 'delete', 'rollback']);

const version = {
  key: Type.String(),
  version: Type.Integer({ minimum: 1 }),
  written_by: Type.String(),
  written_at: time,
  event,
  from: Type.Union([whole, Type.Null()], { description: 'The version that a rollback restored.' }),
};

export const workspaceList = Type.Object({
  workspaces: Type.Array(Type.String(), {
    description: '`store`, then `root:<session>` and `agent:<agent>`.',
  }),
});

export const entryList = Type.Object({
  total: whole,
  writes: whole,
  agents: Type.Array(
    Type.Object({ agent: Type.String(), writes: whole, first_write_at: time, last_write_at: time }),
  ),
  entries: Type.Array(
    Type.Object({
      key: Type.String(),
      version: Type.Integer({ minimum: 1 }),
      written_by: Type.String(),
      written_at: time,
      size_bytes: whole,
      deleted: Type.Boolean(),
    }),
  ),
});

export const entry = Type.Object({ ...version, value: Type.Optional(anyJson) });

export const entryHistory = Type.Object({ key: Type.String(), versions: Type.Array(Type.Object(version)) });

export const entryDiff = Type.Object({
  key: Type.String(),
  from: whole,
  to: whole,
  changes: jsonPatch,
});

export const toolCalls = Type.Object({
  calls: Type.Array(
    Type.Object({
      call_id: Type.String(),
      tool: Type.String(),
      agent: Type.String(),
      session: textOrNull,
      turn_id: Type.String(),
      started_at: time,
      duration_ms: Type.Number(),
      status: Type.Enum(['ok', 'error']),
      input: anyJson,
      output: anyJson,
      error: textOrNull,
      input_ref: Type.Union([Type.String(), Type.Null()], {
        description: 'Of a value that is too large for a list: `GET /workspace/values/{ref}`.',
      }),
      output_ref: textOrNull,
    }),
  ),
});

export const storedValue = Type.Object({ ref: Type.String(), text: Type.String() });

export const readers = Type.Object({
  readers: Type.Array(
    Type.Object({
      agent: Type.String(),
      key: Type.Union([Type.String(), Type.Null()], { description: 'Null: all that it may see.' }),
      reads: whole,
      last_read_at: time,
    }),
  ),
});

export const workspaceSessions = Type.Object({
  current: textOrNull,
  sessions: Type.Array(
    Type.Object({
      id: Type.String(),
      title: Type.String(),
      status: Type.Enum(['active', 'ended']),
      started_at: time,
      last_active_at: time,
      ended_at: Type.Union([time, Type.Null()]),
      resumed: whole,
      agents: Type.Array(Type.Object({ name: Type.String(), agent_id: Type.String() })),
    }),
  ),
});

export const plans = Type.Object({
  current: Type.Union([Type.String(), Type.Null()], { description: 'The text of the current plan.' }),
  archived: Type.Array(Type.String(), { description: 'Names, oldest first.' }),
});

export const plan = Type.Object({ name: Type.String(), text: Type.String() });
