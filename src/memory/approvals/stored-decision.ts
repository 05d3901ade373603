/**
 * Decisions on calls that wait for an approval. Any process may store one, also while another one runs the agent. The first one counts.
 *
 * A decision is a document of its own, `agents/<id>/decisions/<key>`, so that writing it needs no lease. It is bound to the exact
 * arguments by their hash. The process that runs the agent copies it to the ledger and deletes it.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonValue, textOr } from '../../core/json.js';
import type { ToolCallSpec } from '../../messages/message.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { type ApprovalDecision, keyOf, type LedgerCall } from '../store/tool-call-ledger.js';

export const DECISIONS_FOLDER = 'decisions';

/** A decision that the agent has not taken yet. */
export interface StoredDecision extends ApprovalDecision {
  readonly by: string | null;
  readonly reason: string | null;
  /** When it was stored: milliseconds since 1970. */
  readonly at: number;
}

interface KnownDecision {
  readonly decision: StoredDecision;
  readonly argumentsHash: string;
  readonly turnId: string;
  readonly callId: string;
  readonly version: string;
}

/** Of a call as the traces hold it: SHA-256 of the tool and its arguments, 64 hex digits. */
export function argumentsHashOf({ name, arguments: args }: Pick<ToolCallSpec, 'name' | 'arguments'>): string {
  return createHash('sha256')
    .update(canonicalJson({ name, arguments: args }))
    .digest('hex');
}

export function decisionsOf(agentId: string): Name {
  return ['agents', agentId, DECISIONS_FOLDER];
}

function nameOf(agentId: string, call: Pick<LedgerCall, 'turnId' | 'callId'>): Name {
  return [...decisionsOf(agentId), createHash('sha256').update(keyOf(call)).digest('hex')];
}

/** Null if there is none, or if it was made for other arguments. */
export async function readDecision(
  backend: StorageBackend,
  agentId: string,
  call: LedgerCall,
  argumentsHash: string,
): Promise<StoredDecision | null> {
  const known = await readStored(backend, nameOf(agentId, call));
  return known?.argumentsHash === argumentsHash ? known.decision : null;
}

/**
 * Durable when it resolves. It replaces only a decision on other arguments.
 * @throws DOCUMENT_CONFLICT if another process stored one meanwhile
 */
export async function storeDecision(
  backend: StorageBackend,
  agentId: string,
  call: LedgerCall,
  { argumentsHash, decision }: Pick<KnownDecision, 'argumentsHash' | 'decision'>,
): Promise<void> {
  const name = nameOf(agentId, call);
  const known = await readStored(backend, name);
  const { approved, by, reason, at } = decision;
  const value = {
    ts: at / 1000,
    call_id: call.callId,
    turn_id: call.turnId,
    tool_name: call.toolName,
    arguments_sha256: argumentsHash,
    ...{ approved, by, reason },
  };
  await backend.documents.write(name, value, { ifVersion: known?.version ?? null });
}

export async function deleteDecision(
  backend: StorageBackend,
  agentId: string,
  call: LedgerCall,
): Promise<void> {
  await backend.documents.delete(nameOf(agentId, call));
}

/** Documents of decisions on calls of a kind. */
export async function decisionsOn(
  backend: StorageBackend,
  agentId: string,
  isWanted: (call: Pick<LedgerCall, 'turnId' | 'callId'>) => boolean,
): Promise<Name[]> {
  const wanted: Name[] = [];
  for (const key of await backend.documents.list(decisionsOf(agentId))) {
    const name = [...decisionsOf(agentId), key];
    const stored = await readStored(backend, name);
    if (stored && isWanted(stored)) wanted.push(name);
  }
  return wanted;
}

async function readStored(backend: StorageBackend, name: Name): Promise<KnownDecision | null> {
  const document = await backend.documents.read(name);
  const value: JsonValue | undefined = document?.value;
  if (!document || !isJsonObject(value)) return null;
  const { approved, by, reason, ts } = value;
  return {
    decision: {
      approved: approved === true,
      by: typeof by === 'string' ? by : null,
      reason: typeof reason === 'string' ? reason : null,
      at: Math.round(Number(ts) * 1000) || 0,
    },
    argumentsHash: textOr(value['arguments_sha256']),
    turnId: textOr(value['turn_id']),
    callId: textOr(value['call_id']),
    version: document.version,
  };
}
