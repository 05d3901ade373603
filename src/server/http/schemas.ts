/** Schemas of bodies, for validation and for the OpenAPI document. */
import { CHECKPOINT_STATUSES } from '../../checkpoints/session/checkpoint-record.js';
import { Type } from '../../core/schema.js';
import { SPEAKERS } from '../../memory/recall/passage.js';
import { SESSION_STATUSES } from '../../state/shared/sessions/session-record.js';

export const anyJson = Type.Unknown({ description: 'Any JSON value.' });
export const time = Type.String({ description: 'ISO 8601, UTC.' });
export const strict = { additionalProperties: false } as const;
export const patchBody = Type.Object({}, { description: 'RFC 7396, over the keys: null deletes one.' });
const status = Type.Enum([...SESSION_STATUSES]);
const nullableText = Type.Union([Type.String(), Type.Null()]);

export const session = Type.Object({
  id: Type.String(),
  parent: nullableText,
  root: Type.String(),
  agent: nullableText,
  status,
  why: nullableText,
  created_at: time,
  updated_at: time,
});

export const sessionList = Type.Object({ sessions: Type.Array(session) });

export const orphanList = Type.Object({
  orphans: Type.Array(
    Type.Object({ session, reason: Type.Enum(['parent_ended', 'parent_missing']), ancestor: Type.String() }),
  ),
});

const id = Type.String({ minLength: 1, maxLength: 128 });
export const newSessionBody = Type.Object(
  {
    id: Type.Optional(id),
    parent: Type.Optional(id),
    agent: Type.Optional(id),
    status: Type.Optional(status),
  },
  strict,
);
export const statusBody = Type.Object(
  { status, why: Type.Optional(Type.String({ maxLength: 2_000 })) },
  strict,
);

export const agentSummary = Type.Object({
  agent_id: Type.String(),
  status: Type.Enum(['running', 'crashed', 'stopped']),
  messages: Type.Union([Type.Integer(), Type.Null()]),
  epoch: Type.Union([Type.Integer(), Type.Null()]),
  snapshot: Type.String(),
  traces: Type.Integer(),
  last_trace_at: nullableText,
});
export const agentList = Type.Object({ agents: Type.Array(agentSummary) });
export const approval = Type.Object({
  agent_id: Type.String(),
  turn_id: Type.String(),
  call_id: Type.String(),
  tool_name: Type.String(),
  arguments: anyJson,
  arguments_sha256: Type.String(),
  requested_at: Type.String(),
  expires_at: nullableText,
  decision: Type.Union([
    Type.Object({ approved: Type.Boolean(), by: nullableText, reason: nullableText, at: Type.String() }),
    Type.Null(),
  ]),
});
export const approvalList = Type.Object({ approvals: Type.Array(approval) });
export const restoreReport = Type.Object({ agent_id: Type.String(), report: Type.Object({}) });
export const agentContext = Type.Object({
  agent_id: Type.String(),
  tokens: Type.Integer(),
  parts: Type.Record(Type.String(), Type.Integer(), {
    description:
      'Tokens by what they are of: system, tools, memory, requests, answers, calls, results, media, reasoning. Tools go with a request, so here they are 0.',
  }),
  messages: Type.Array(
    Type.Object({
      index: Type.Integer(),
      tokens: Type.Integer(),
      repairs: Type.Array(Type.String()),
      message: Type.Object({}),
    }),
  ),
});
export const agentTraces = Type.Object({
  agent_id: Type.String(),
  traces: Type.Array(Type.Object({})),
  before: Type.Union([Type.Integer(), Type.Null()], {
    description: 'For the next page; null: there is none.',
  }),
});

const passage = Type.Object({
  record: Type.Integer({ description: 'Number of its trace in the journal.' }),
  at: nullableText,
  turn_id: Type.String(),
  speaker: Type.Enum([...SPEAKERS]),
  tool_name: Type.Optional(Type.String()),
  text: Type.String(),
});
export const agentSearch = Type.Object({
  agent_id: Type.String(),
  results: Type.Array(passage),
  next_offset: Type.Union([Type.Integer(), Type.Null()], {
    description: 'For the next page; null: there is none.',
  }),
  searched_passages: Type.Integer(),
});
export const agentPassages = Type.Object({
  agent_id: Type.String(),
  passages: Type.Array(passage),
  next_record: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Where the rest begins; null: this is all.',
  }),
});

export const agentAnswer = Type.Object({
  agent_id: Type.String(),
  parts: Type.Array(
    Type.Object({
      seq: Type.Integer(),
      message_id: Type.String(),
      turn_id: Type.String(),
      text: Type.String(),
      reasoning: Type.String(),
      discards: Type.Boolean({ description: 'Discard what this answer said before.' }),
    }),
  ),
  next: Type.Integer({ description: 'Where to read on: `after` of the next request.' }),
  state: Type.Enum(['none', 'writing', 'recorded', 'cut_off']),
  message_id: Type.Union([Type.String(), Type.Null()], { description: 'Of the answer that was begun last.' }),
});

export const problemDetails = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  code: Type.String(),
  detail: Type.String(),
});

export const textOrNull = Type.Union([Type.String(), Type.Null()]);
const size = Type.Integer({ minimum: 0, description: 'Bytes.' });

export const checkpoint = Type.Object({
  id: Type.String({ description: '`<session>@<number>`.' }),
  session_id: Type.String(),
  number: Type.Integer({ minimum: 1 }),
  name: textOrNull,
  agent_id: textOrNull,
  workflow_id: textOrNull,
  created_at: time,
  tags: Type.Array(Type.String()),
  context_size_bytes: size,
  context_hash: Type.String(),
  stored_bytes: size,
  compression: Type.Enum(['none', 'gzip', 'zstd']),
  encrypted: Type.Boolean(),
  status: Type.Enum([...CHECKPOINT_STATUSES], {
    description: '`archived`: put aside. `corrupt`: a check found that it cannot be loaded.',
  }),
  critical: Type.Boolean(),
  kind: textOrNull,
  left_out_keys: Type.Array(Type.String(), {
    description: 'Keys of the running program, which were not saved.',
  }),
  classification_summary: anyJson,
});

const sessionProblems = Type.Array(Type.Object({ session_id: Type.String(), message: Type.String() }), {
  description: 'Sessions that cannot be read, and are left out.',
});

export const checkpointList = Type.Object({
  total: Type.Integer({ description: 'Number of matches on all pages.' }),
  checkpoints: Type.Array(checkpoint),
  problems: sessionProblems,
});

export const checkpointSessions = Type.Object({
  sessions: Type.Array(
    Type.Object({
      id: Type.String(),
      created_at: time,
      last_accessed_at: time,
      workflow_id: textOrNull,
      tags: Type.Array(Type.String()),
      total_size_bytes: size,
      context_size_bytes: size,
      checkpoints: Type.Integer({ minimum: 0 }),
      encrypted: Type.Boolean(),
      critical_keys: Type.Array(Type.String()),
    }),
  ),
  total_size_bytes: size,
  max_total_size: size,
  problems: sessionProblems,
});

export const checkpointContext = Type.Object({
  checkpoint,
  context: Type.Object({}, { description: 'As it was saved; with a budget, what a view shows of it.' }),
  view: Type.Optional(
    Type.Object({ tokens: Type.Integer(), budget: Type.Integer(), keys: Type.Array(anyJson) }),
  ),
});

export const jsonPatch = Type.Array(
  Type.Object({
    op: Type.Enum(['add', 'replace', 'remove']),
    path: Type.String({ description: 'JSON Pointer.' }),
    value: Type.Optional(anyJson),
  }),
);

export const checkpointDiff = Type.Object({ from: Type.String(), to: Type.String(), changes: jsonPatch });

const amount = Type.Object({ items: Type.Integer({ minimum: 0 }), bytes: size });

export const erasureReport = Type.Object({
  target: Type.Object({
    agent: Type.String(),
    turn: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  }),
  dry_run: Type.Boolean(),
  resumed: Type.Boolean({ description: 'It went on with one that was interrupted.' }),
  places: Type.Array(
    Type.Object({
      kind: Type.Enum(['journal', 'document', 'blobs', 'aside']),
      place: Type.String(),
      before: amount,
      after: Type.Union([amount, Type.Null()]),
    }),
  ),
  before: amount,
  after: Type.Union([amount, Type.Null()]),
});
