/**
 * Replaces credentials and personal data in text and JSON before they are stored. A mask names the kind, so that a person and a
 * model see that something was removed. Deterministic, idempotent, copy on write.
 */
import { createHmac } from 'node:crypto';
import { RekindleError } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../json.js';
import { CREDENTIAL_DETECTORS, kindByName } from './credentials.js';
import { type Detector, type Finding, patternDetector } from './detector.js';
import { PERSONAL_DETECTORS } from './personal-data.js';

/**
 * - `mask`: `[redacted:KIND]` replaces it.
 * - `hash`: `[redacted:KIND#HASH]`, with 12 hex digits of a keyed hash: equal values have equal hashes. Needs `hashKey`.
 * - `refuse`: nothing is written, and the caller gets SENSITIVE_DATA.
 */
export type RedactionAction = 'mask' | 'hash' | 'refuse';

/** The kinds to redact, and the replacement for each. */
export interface RedactionOptions {
  /** Passwords, keys and tokens. Default true. */
  readonly credentials?: boolean;
  /** Mail addresses, phone numbers, payment cards, IBANs and network addresses. Default false. */
  readonly personal?: boolean;
  /** Detectors of the host: a function, or a kind with a pattern (its first group, else the whole match). */
  readonly detectors?: readonly (Detector | PatternInit)[];
  /** Default `mask`. */
  readonly action?: RedactionAction;
  /** Other actions for some kinds. */
  readonly actions?: { readonly [kind: string]: RedactionAction };
  /** The key of `hash`. Keep it secret: otherwise short values can be guessed from their hashes. */
  readonly hashKey?: string | Uint8Array;
  /** Values that are never redacted, such as the address of a support desk. A pattern must match the whole value. */
  readonly allow?: readonly (string | RegExp)[];
  /** Called for each text or record that was redacted, with the number of findings by kind, never with a value. */
  readonly onRedacted?: (counts: Readonly<Record<string, number>>) => void;
}

/** A detector by a pattern. Its first group is redacted, or the whole match if it has none. */
export interface PatternInit {
  readonly kind: string;
  readonly pattern: RegExp;
}

/** Members that are signed or encrypted: a change would break them. */
const OPAQUE = new Set([
  'signature',
  'encrypted',
  'encrypted_content',
  'thoughtSignature',
  'thought_signature',
]);
const ENCODED = /^[A-Za-z0-9+/_-]{16,}={0,2}$/;
/** Length of the shortest finding. */
const SHORTEST = 6;
/** How many clean texts are remembered, and of which length. */
const NOTED = 32;
const NOTED_MIN = 100;
const NOTED_MAX = 64 * 1024;
/** The start of every mask. */
export const MASK = '[redacted:';
const MASKS = /\[redacted:[a-z0-9-]{1,40}(?:#[0-9a-f]{12})?\]/g;
const KIND = /^[a-z0-9][a-z0-9-]{0,39}$/;

/**
 * Finds and replaces sensitive text, by itself or below a store (`withRedaction`).
 *
 *     new Redactor({ personal: true }).text('Mail ann@acme.example'); // 'Mail [redacted:email]'
 */
export class Redactor {
  readonly #detectors: readonly Detector[];
  readonly #hasCredentials: boolean;
  readonly #options: RedactionOptions;
  readonly #allowed: ReadonlySet<string>;
  readonly #allowedPatterns: readonly RegExp[];
  /** The last texts without findings. */
  readonly #clean = new Set<string>();

  /** @throws INVALID_ARGUMENT for an unknown action, a `hash` without `hashKey`, an invalid kind */
  constructor(options: RedactionOptions = {}) {
    assertOptions(options);
    const { credentials = true, personal = false, detectors = [], allow = [] } = options;
    this.#options = options;
    this.#hasCredentials = credentials;
    this.#detectors = [
      ...(credentials ? CREDENTIAL_DETECTORS : []),
      ...(personal ? PERSONAL_DETECTORS : []),
      ...detectors.map((given) => ('pattern' in given ? patternDetector(given.kind, given.pattern) : given)),
    ];
    this.#allowed = new Set(allow.filter((value) => typeof value === 'string'));
    this.#allowedPatterns = allow.flatMap((value) =>
      typeof value === 'string'
        ? []
        : [new RegExp(`^(?:${value.source})$`, value.flags.replace(/[gy]/g, ''))],
    );
  }

  /** The findings in a text, in order, without overlaps. */
  find(text: string): Finding[] {
    if (text.length < SHORTEST || text.startsWith('data:') || this.#clean.has(text)) return [];
    const found: Finding[] = [];
    for (const detector of this.#detectors) {
      for (const finding of detector.find(text)) {
        if (!this.#isAllowed(text.slice(finding.start, finding.end))) found.push(finding);
      }
    }
    if (found.length === 0) this.#noteClean(text);
    const fresh = found.length > 0 && text.includes(MASK) ? outsideMasks(text, found) : found;
    return fresh.length < 2 ? fresh : withoutOverlaps(fresh);
  }

  /** The redacted text; the same text if there are no findings. @throws SENSITIVE_DATA */
  text(text: string): string {
    const counts = new Counts();
    const clean = this.#cleanText(text, counts);
    this.#report(counts);
    return clean;
  }

  /** The value with redacted strings; the same value if there are no findings. Names of members stay. @throws SENSITIVE_DATA */
  json<T extends JsonValue>(value: T): T {
    const counts = new Counts();
    const clean = this.#cleanJson(value, counts) as T;
    this.#report(counts);
    return clean;
  }

  #cleanJson(value: JsonValue, counts: Counts): JsonValue {
    if (typeof value === 'string') return this.#cleanText(value, counts);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#cleanJson(item, counts));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    return isJsonObject(value) && !ArrayBuffer.isView(value) ? this.#cleanObject(value, counts) : value;
  }

  #cleanObject(given: JsonObject, counts: Counts): JsonObject {
    let changed: JsonObject | null = null;
    for (const [name, member] of Object.entries(given)) {
      const clean = this.#cleanMember(name, member, counts);
      if (clean === member) continue;
      changed ??= { ...given };
      setOwn(changed, name, clean);
    }
    return changed ? withoutSignature(changed) : given;
  }

  #cleanMember(name: string, member: JsonValue, counts: Counts): JsonValue {
    if (typeof member !== 'string') return this.#cleanJson(member, counts);
    if (isOpaque(name, member)) return member;
    const kind = this.#hasCredentials ? kindByName(name, member) : null;
    if (kind === null || this.#isAllowed(member)) return this.#cleanText(member, counts);
    const within = this.find(member); // its form may say more than its name
    return within.length > 0 ? this.#cleanText(member, counts) : this.#taken(kind, member, counts);
  }

  #cleanText(text: string, counts: Counts): string {
    const found = this.find(text);
    if (found.length === 0) return text;
    let clean = '';
    let at = 0;
    for (const { kind, start, end } of found) {
      clean += text.slice(at, start) + this.#taken(kind, text.slice(start, end), counts);
      at = end;
    }
    return clean + text.slice(at);
  }

  #taken(kind: string, value: string, counts: Counts): string {
    if (!KIND.test(kind)) throw badKind(kind);
    const action = this.#options.actions?.[kind] ?? this.#options.action ?? 'mask';
    if (action === 'refuse')
      throw new RekindleError(
        'SENSITIVE_DATA',
        `This holds sensitive data (${kind}), which may not be stored.`,
        {
          details: { kind },
        },
      );
    counts.add(kind);
    if (action === 'mask') return `${MASK}${kind}]`;
    const hash = createHmac('sha256', this.#options.hashKey!).update(`${kind}\0${value}`).digest('hex');
    return `${MASK}${kind}#${hash.slice(0, 12)}]`;
  }

  /** A record is redacted before it is kept in memory, and again when it is written. The second time must cost almost nothing. */
  #noteClean(text: string): void {
    if (text.length < NOTED_MIN || text.length > NOTED_MAX) return;
    this.#clean.add(text);
    if (this.#clean.size <= NOTED) return;
    for (const oldest of this.#clean) {
      this.#clean.delete(oldest);
      return;
    }
  }

  #isAllowed(value: string): boolean {
    return this.#allowed.has(value) || this.#allowedPatterns.some((pattern) => pattern.test(value));
  }

  #report(counts: Counts): void {
    if (counts.isEmpty) return;
    this.#options.onRedacted?.(counts.byKind());
  }
}

class Counts {
  #counts: Map<string, number> | null = null;

  get isEmpty(): boolean {
    return this.#counts === null;
  }

  add(kind: string): void {
    this.#counts ??= new Map();
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  byKind(): Record<string, number> {
    return Object.fromEntries(this.#counts ?? []);
  }
}

/** Drops findings inside masks: a mask is not sensitive. */
function outsideMasks(text: string, found: readonly Finding[]): Finding[] {
  const masks = [...text.matchAll(MASKS)].map(({ 0: mask, index }) => ({
    start: index,
    end: index + mask.length,
  }));
  return found.filter(({ start, end }) => !masks.some((mask) => start < mask.end && mask.start < end));
}

/** Sorted by start. Overlapping findings become one, of the kind of the first. */
function withoutOverlaps(found: readonly Finding[]): Finding[] {
  const sorted = [...found].sort((a, b) => a.start - b.start || b.end - a.end);
  const apart: Finding[] = [];
  for (const next of sorted) {
    const last = apart.at(-1);
    if (!last || next.start >= last.end) apart.push(next);
    else if (next.end > last.end) apart[apart.length - 1] = { ...last, end: next.end };
  }
  return apart;
}

/** A signature in base64, unlike the signature of a mail. */
function isOpaque(name: string, member: JsonValue | undefined): boolean {
  return OPAQUE.has(name) && typeof member === 'string' && ENCODED.test(member);
}

/**
 * Reasoning whose text changed: the signature no longer fits, and a provider would reject it. A block without a signature is left out of
 * requests.
 */
function withoutSignature(changed: JsonObject): JsonObject {
  const isReasoning = 'text' in changed || 'thinking' in changed;
  if (!isReasoning || !isOpaque('signature', changed['signature'])) return changed;
  const { signature: _, ...rest } = changed;
  return rest;
}

function assertOptions({ action, actions = {}, detectors = [], hashKey }: RedactionOptions): void {
  const used = [action ?? 'mask', ...Object.values(actions)];
  const unknown = used.find((name) => !['mask', 'hash', 'refuse'].includes(name));
  const odd = detectors.find((given) => 'kind' in given && !KIND.test(given.kind));
  if (odd && 'kind' in odd) throw badKind(odd.kind);
  const problem =
    unknown !== undefined
      ? `the action ${JSON.stringify(unknown)} is not known: it is mask, hash or refuse`
      : used.includes('hash') && (hashKey === undefined || hashKey.length === 0)
        ? 'the action hash needs a hashKey'
        : null;
  if (problem !== null) throw invalid(problem);
}

function badKind(kind: string): RekindleError {
  return invalid(`the kind ${JSON.stringify(kind)} must be a word of lower-case letters, digits and hyphens`);
}

function invalid(problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `The redaction cannot be used: ${problem}.`, {
    details: { field: 'redaction', problem },
  });
}
