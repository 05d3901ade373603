/** Schemas of the bodies of the shared state. */
import { Type } from '../../core/schema.js';
import { anyJson, strict, time } from './schemas.js';

const version = Type.Integer({ minimum: 0 });
const operationName = Type.Enum(['set', 'delete', 'increment', 'append', 'merge']);

export const stateKey = Type.Object({
  key: Type.String(),
  value: anyJson,
  version,
  created_at: time,
  updated_at: time,
  updated_by: Type.String(),
  global_version: version,
});

export const stateView = Type.Object({
  root_session_id: Type.String(),
  global_version: version,
  /** Together with the version it identifies the history; undefined before the first change. */
  history: Type.Optional(Type.String()),
  keys: Type.Record(Type.String(), stateKey),
});

export const stateEvent = Type.Object({
  type: Type.Enum(['state_key_updated', 'state_key_deleted']),
  root_session_id: Type.String(),
  key: Type.String(),
  value: Type.Optional(anyJson),
  version,
  op: operationName,
  global_version: version,
  last_of_commit: version,
  history: Type.String(),
  updated_by: Type.Optional(Type.String()),
  deleted_by: Type.Optional(Type.String()),
  timestamp: time,
});

export const stateEvents = Type.Object({
  root_session_id: Type.String(),
  global_version: version,
  oldest_version: version,
  /** The requested version is beyond the newest, or of another history: read the whole state again. */
  resync: Type.Optional(Type.Literal(true)),
  has_more: Type.Boolean({
    description: 'True when changes after the last one here existed as they were read.',
  }),
  events: Type.Array(stateEvent),
});

const hasOlder = Type.Boolean({
  description: 'True when the store has older matching changes, which the limit left out.',
});

export const keyHistory = Type.Object({
  root_session_id: Type.String(),
  key: Type.String(),
  complete: Type.Boolean({ description: 'False when older changes are not among them.' }),
  has_more: hasOlder,
  changes: Type.Array(stateEvent),
});

export const stateChanges = Type.Object({
  root_session_id: Type.String(),
  complete: Type.Boolean({ description: 'False when older matching changes are not among them.' }),
  has_more: hasOlder,
  changes: Type.Array(stateEvent),
});

const batchResults = Type.Array(
  Type.Object({
    key: Type.String(),
    status: Type.Enum(['applied', 'conflict', 'not_applied']),
    version: Type.Union([version, Type.Null()]),
    value: Type.Optional(anyJson),
  }),
);

export const batchReply = Type.Object({
  applied: Type.Boolean(),
  global_version: version,
  results: batchResults,
});

export const putKeyBody = Type.Object({ value: anyJson }, { ...strict, required: ['value'] });

/** Chosen by name, so that errors refer to the intended operation. */
export const operationBody = {
  type: 'object',
  discriminator: { propertyName: 'operation' },
  required: ['operation'],
  oneOf: [
    Type.Object({ operation: Type.Literal('increment'), delta: Type.Optional(Type.Integer()) }, strict),
    Type.Object({ operation: Type.Literal('append'), items: Type.Array(anyJson, { minItems: 1 }) }, strict),
    Type.Object(
      { operation: Type.Literal('merge'), patch: Type.Object({}, { description: 'RFC 7396.' }) },
      strict,
    ),
  ],
};

const ifMatch = Type.Optional(
  Type.Union([version, Type.Literal('*')], {
    description: 'Only at this version; 0: only without a value; *: only with one.',
  }),
);

export const batchBody = Type.Object(
  {
    operations: Type.Array(
      Type.Object(
        {
          op: operationName,
          key: Type.String({ minLength: 1 }),
          value: Type.Optional(anyJson),
          delta: Type.Optional(Type.Integer()),
          items: Type.Optional(Type.Array(anyJson)),
          patch: Type.Optional(Type.Object({})),
          if_match: ifMatch,
        },
        strict,
      ),
      { minItems: 1 },
    ),
  },
  strict,
);
