import { DeltaSnapshot, JsonPlusSerializer } from '@langchain/langgraph-checkpoint';
import { RekindleError } from '../../core/errors.js';

/** The text that LangGraph's serializer writes in place of a value that it cannot write. */
const GIVEN_UP = '[unable to serialize, circular reference is too complex to analyze]';
const GIVEN_UP_TEXT = JSON.stringify(GIVEN_UP);
/** In addition to the `lc: 2` markers of other values. */
const MARK = '"type":"bigint"';

/**
 * LangGraph's own serializer with support for `BigInt`. Where LangGraph's would replace a whole value by a
 * fixed sentence, this one stores the `BigInt`, or throws.
 */
export class BigIntSerializer extends JsonPlusSerializer {
  /** @throws INVALID_ARGUMENT for a value that cannot be written */
  override async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    const dumped = await super.dumpsTyped(value);
    if (value === GIVEN_UP || !isGivenUp(dumped)) return dumped;
    const again = await super.dumpsTyped(mapped(value, markOf));
    if (!isGivenUp(again)) return again;
    throw new RekindleError(
      'INVALID_ARGUMENT',
      'A value has something in it that is not JSON, or cannot be read.',
    );
  }

  override async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    const value: unknown = await super.loadsTyped(type, data);
    const mayHold = type === 'json' && Buffer.from(data as Uint8Array).includes(MARK);
    return mayHold ? mapped(value, bigintOf) : value;
  }
}

function isGivenUp([type, bytes]: readonly [string, Uint8Array]): boolean {
  return (
    type === 'json' &&
    bytes.length === GIVEN_UP_TEXT.length &&
    new TextDecoder().decode(bytes) === GIVEN_UP_TEXT
  );
}

/** A replacement for a value, or undefined to look inside it. */
type Replace = (value: unknown) => { readonly by: unknown } | undefined;

function markOf(value: unknown): { readonly by: unknown } | undefined {
  return typeof value === 'bigint' ? { by: { lc: 2, type: 'bigint', value: value.toString() } } : undefined;
}

function bigintOf(value: unknown): { readonly by: unknown } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { lc, type, value: digits, ...rest } = value as Record<string, unknown>;
  if (lc !== 2 || type !== 'bigint' || Object.keys(rest).length > 0) return undefined;
  return typeof digits === 'string' && /^-?\d+$/.test(digits) ? { by: BigInt(digits) } : undefined;
}

/** A copy with values replaced; the same object if nothing was replaced. */
function mapped(value: unknown, replace: Replace, open: readonly object[] = []): unknown {
  const replaced = replace(value);
  if (replaced) return replaced.by;
  if (typeof value !== 'object' || value === null || open.includes(value)) return value;
  const within = [...open, value];
  const each = (members: Iterable<unknown>) => [...members].map((member) => mapped(member, replace, within));
  if (Array.isArray(value)) return changed(value, each(value)) ?? value;
  if (value instanceof Set || value instanceof Map) {
    const members: unknown[] = [...value];
    const after = changed(members, each(members));
    if (!after) return value;
    return value instanceof Set ? new Set(after) : new Map(after as [unknown, unknown][]);
  }
  if (value instanceof DeltaSnapshot) {
    const inner = mapped(value.value, replace, within);
    return inner === value.value ? value : new DeltaSnapshot(inner);
  }
  return mappedObject(value, replace, within);
}

function mappedObject(value: object, replace: Replace, within: readonly object[]): unknown {
  if (ArrayBuffer.isView(value) || value instanceof Error || value instanceof RegExp) return value;
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') {
    const json: unknown = toJSON.call(value);
    const inner = mapped(json, replace, within);
    return inner === json ? value : inner;
  }
  const entries = Object.entries(value);
  const before = entries.map(([, member]) => member as unknown);
  const after = changed(
    before,
    before.map((member) => mapped(member, replace, within)),
  );
  return after ? Object.fromEntries(entries.map(([key], index) => [key, after[index]])) : value;
}

/** Null if nothing was replaced. */
function changed(before: readonly unknown[], after: unknown[]): unknown[] | null {
  return after.some((member, index) => member !== before[index]) ? after : null;
}
