/**
 * A fingerprint of a request: one hash for its tools, one for its system prompt, and one per message, in the order in
 * which providers cache them. Comparing two shows what changed, and so where a prompt cache becomes invalid. Pure.
 */
export interface RequestFingerprint {
  /** Fourteen hex digits of the JSON as sent; null if the request has no tools. */
  readonly tools: string | null;
  readonly system: string | null;
  /** Without a leading system message, which counts as `system`. */
  readonly messages: readonly string[];
}

/** What changed between two requests, as `changedSince` reports it. */
export interface RequestChange {
  readonly tools: boolean;
  readonly system: boolean;
  /** Index of the first message of the earlier request that changed or is missing. Null if all of them are unchanged. */
  readonly firstMessage: number | null;
  /** Number of messages of the earlier request that a prompt cache can no longer supply. */
  readonly messagesLost: number;
}

const MESSAGE_FIELDS = ['messages', 'input', 'contents'];
const SYSTEM_FIELDS = ['system', 'instructions', 'systemInstruction'];

/**
 * Fingerprint of a request, to compare with a later one by `changedSince`.
 * ```ts
 * const before = fingerprintOf(project('anthropic', messages, target).request);
 * ```
 * @param request of any target, as `project` makes it
 */
export function fingerprintOf(request: object): RequestFingerprint {
  const fields = { ...request, ...objectOf((request as Record<string, unknown>)['config']) };
  const list = fieldOf(fields, MESSAGE_FIELDS);
  const messages: readonly unknown[] = Array.isArray(list) ? list : [];
  const opens = isSystem(messages[0]);
  const system = opens ? messages[0] : fieldOf(fields, SYSTEM_FIELDS);
  return {
    tools: hashOrNull(fieldOf(fields, ['tools'])),
    system: hashOrNull(system),
    messages: messages.slice(opens ? 1 : 0).map(hashOf),
  };
}

/** What changed since an earlier request. Messages added at the end are not a change. */
export function changedSince(earlier: RequestFingerprint, now: RequestFingerprint): RequestChange {
  const tools = earlier.tools !== now.tools;
  const system = earlier.system !== now.system;
  const at = earlier.messages.findIndex((hash, index) => hash !== now.messages[index]);
  const first = tools || system ? 0 : at;
  return {
    tools,
    system,
    firstMessage: at < 0 ? null : at,
    messagesLost: first < 0 ? 0 : earlier.messages.length - first,
  };
}

function fieldOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): unknown {
  const name = names.find((one) => fields[one] !== undefined);
  return name === undefined ? undefined : fields[name];
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function isSystem(message: unknown): boolean {
  const { role } = objectOf(message) as { role?: unknown };
  return role === 'system' || role === 'developer';
}

function hashOrNull(value: unknown): string | null {
  return value === undefined ? null : hashOf(value);
}

/** 53-bit hash of the JSON (cyrb53): cheap, and not secure against attackers. */
function hashOf(value: unknown): string {
  const text = JSON.stringify(value);
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return (4_294_967_296 * (2_097_151 & low) + (high >>> 0)).toString(16).padStart(14, '0');
}
