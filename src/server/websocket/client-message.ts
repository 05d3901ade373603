/** The messages of WebSocket clients. */
import { tryParseJson } from '../../core/json.js';
import { isNestedDeeper } from '../../core/json-text-depth.js';
import { type Static, Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';

/** Deeper than any valid message. */
const DEPTH_MAX = 4;
const strict = { additionalProperties: false } as const;
const ClientMessage = Type.Union([
  /** The token, for browsers, which cannot set a header. It must come first. */
  Type.Object({ type: Type.Literal('authenticate'), token: Type.String({ maxLength: 512 }) }, strict),
  Type.Object(
    {
      type: Type.Literal('subscribe'),
      to: Type.Literal('state'),
      session: Type.String({ minLength: 1, maxLength: 128 }),
      since: Type.Optional(Type.Integer({ minimum: 0 })),
      /** The history id for the version `since`. */
      history: Type.Optional(Type.String({ maxLength: 64 })),
    },
    strict,
  ),
  Type.Object({ type: Type.Literal('subscribe'), to: Type.Enum(['sessions', 'agents']) }, strict),
  Type.Object(
    { type: Type.Literal('unsubscribe'), session: Type.String({ minLength: 1, maxLength: 128 }) },
    strict,
  ),
]);
export type ClientMessage = Static<typeof ClientMessage>;

const check = lazySchema(ClientMessage);

/** Null for anything else. */
export function parseClientMessage(text: string): ClientMessage | null {
  const value = isNestedDeeper(text, DEPTH_MAX) ? undefined : tryParseJson(text);
  return value !== undefined && check()(value) ? (value as ClientMessage) : null;
}
