/** One record of an audit log, and the hash that chains it to the one before it. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import type { JsonObject } from '../../core/json.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';

const ACTIONS = ['read', 'write', 'export', 'erase', 'token', 'authenticate', 'audit'] as const;

/** What was done: `token` is a change of tokens, `authenticate` a wrong token, `audit` a start of the log or of a server. */
export type AuditAction = (typeof ACTIONS)[number];

/** An action to record. It holds names, never texts of agents. */
export interface AuditEntry {
  /** Who acted: `owner`, `token ID`, the name from the host's own authentication, or `user NAME` of the command line. */
  readonly actor: string;
  readonly action: AuditAction;
  /** What it concerned, such as `agent desk`, `session root-1` or `store`. */
  readonly target: string;
  /** How: a route, a tool or a command, without its arguments. */
  readonly what: string;
  readonly outcome: 'allowed' | 'refused';
}

/** A stored action. */
export interface AuditRecord extends AuditEntry {
  /** 1 for the first record; grows by one. */
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The hash of the record before it; 64 zeros for the first. */
  readonly prev: string;
  /** SHA-256, lower-case hex, over the canonical JSON of all other fields. */
  readonly hash: string;
}

/** The end of an audit log. Kept elsewhere, it proves later that nothing up to it was changed or removed. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** Before the first record. */
export const AUDIT_START: AuditHead = { seq: 0, hash: '0'.repeat(64) };

const LENGTH_MAX = 300;
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Text = Type.String({ maxLength: LENGTH_MAX });
const check = lazySchema(
  Type.Object(
    {
      ...{ seq: Type.Integer({ minimum: 1 }), at: Text, actor: Text, target: Text, what: Text },
      action: Type.Union(ACTIONS.map((action) => Type.Literal(action))),
      outcome: Type.Union([Type.Literal('allowed'), Type.Literal('refused')]),
      ...{ prev: Hash, hash: Hash },
    },
    { additionalProperties: false },
  ),
);

/** The record after `head`. Long names are cut. */
export function nextRecord(entry: AuditEntry, head: AuditHead, at: string): AuditRecord {
  const { actor, action, target, what, outcome } = entry;
  const record = {
    ...{ seq: head.seq + 1, at, actor: short(actor), action, target: short(target), what: short(what) },
    ...{ outcome, prev: head.hash },
  };
  return { ...record, hash: hashOf(record) };
}

/** Null for anything that this release would not write. */
export function auditRecordOf(stored: JsonObject): AuditRecord | null {
  return check()(stored) ? (stored as unknown as AuditRecord) : null;
}

/** True if no field was changed after it was written. */
export function isIntact({ hash, ...rest }: AuditRecord): boolean {
  return hashOf(rest) === hash;
}

function hashOf(record: Omit<AuditRecord, 'hash'>): string {
  return createHash('sha256')
    .update(canonicalJson({ ...record }))
    .digest('hex');
}

function short(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= LENGTH_MAX ? whole : `${whole.slice(0, LENGTH_MAX - 1).toWellFormed()}…`;
}
