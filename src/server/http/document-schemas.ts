/** Schemas of the bodies of durable documents. */
import { Type } from '../../core/schema.js';
import { anyJson } from './schemas.js';

const version = Type.Integer({ minimum: 1 });
const time = Type.String({ description: 'ISO 8601, UTC.' });
const nullable = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()]);
const event = Type.Enum(['created', 'imported', 'updated', 'human_edit', 'migrated', 'recovered']);
const file = Type.String({
  description:
    'in_step: the file shows this version. edit_refused: a person has to fix their edit. Otherwise what the next change does first: create, import, recover, adopt, write-file, migrate.',
});

export const documentList = Type.Object({
  documents: Type.Array(
    Type.Object({
      name: Type.String(),
      version: Type.Union([version, Type.Null()]),
      schema_version: Type.Union([version, Type.Null()]),
      updated_at: nullable(time),
      updated_by: nullable(Type.String()),
      file: Type.String({
        description: 'As in a document; no_definition; or the code of the error that reading it gives.',
      }),
    }),
  ),
});

export const stateDocument = Type.Object({
  name: Type.String(),
  version,
  value: anyJson,
  event,
  updated_at: time,
  updated_by: Type.String(),
  why: nullable(Type.String()),
  file: Type.Optional(file),
  problems: Type.Optional(
    Type.Array(Type.Object({ line: version, column: version, path: Type.String(), message: Type.String() }), {
      description: 'Of an edit by a person that is refused.',
    }),
  ),
});

export const documentHistory = Type.Object({
  name: Type.String(),
  events: Type.Array(
    Type.Object({
      version,
      event,
      updated_at: time,
      updated_by: Type.String(),
      why: nullable(Type.String()),
      changes: Type.Union([Type.Array(anyJson), Type.Null()], {
        description: 'JSON Patch from the version before; null if this event stores the whole document.',
      }),
    }),
  ),
  before: Type.Union([version, Type.Null()], {
    description: 'Give it as `before` for the next page; null at the end.',
  }),
});

export const documentSchema = Type.Object({}, { description: 'JSON Schema 2020-12.' });
