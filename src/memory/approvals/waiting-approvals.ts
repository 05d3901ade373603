/** The inbox of approvals: what waits for a person in a store, and decisions on it. Needs no lease, so the agents may run meanwhile. */
import { systemClock } from '../../core/clock.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { assertNotErasing } from '../../storage/erasure/erasure-marker.js';
import type { StorageBackend } from '../../storage/ports.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import { assertAgentExists } from '../open-memory.js';
import { MemoryStore } from '../store/memory-store.js';
import { keyOf, type PendingCall, ToolCallLedger } from '../store/tool-call-ledger.js';
import {
  argumentsHashOf,
  decisionsOf,
  deleteDecision,
  readDecision,
  type StoredDecision,
  storeDecision,
} from './stored-decision.js';

/** A call of a tool that waits for a person. */
export interface WaitingApproval {
  readonly agentId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly toolName: string;
  /** As the store holds them: without what redaction took. */
  readonly arguments: JsonValue;
  /** A decision is bound to it: SHA-256 of tool and arguments, 64 hex digits. */
  readonly argumentsHash: string;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  /** From then on it counts as denied. Null: never. */
  readonly expiresAt: number | null;
  /** Stored, and not taken by the agent yet. */
  readonly decision: StoredDecision | null;
}

/** Which call, and what is decided. */
export interface ApprovalVerdict {
  readonly agentId: string;
  readonly callId: string;
  /** Only needed if calls of several turns have this id. */
  readonly turnId?: string;
  readonly approved: boolean;
  /** Who decides: evidence for the ledger. At most 200 characters. */
  readonly by?: string;
  /** Why. The model reads it if the call is denied. At most 2,000 characters. */
  readonly reason?: string;
  /** What the person saw (`WaitingApproval.argumentsHash`): other arguments are refused. */
  readonly argumentsHash?: string;
}

const BY_CHARS_MAX = 200;
const REASON_CHARS_MAX = 2_000;

/**
 * What waits for an approval, oldest request first. Writes nothing.
 * @param agentId left out: of all agents
 * @throws AGENT_NOT_FOUND
 */
export async function waitingApprovals(
  storage: StorageBackend,
  agentId?: string,
  isListed: (agentId: string) => boolean = () => true,
): Promise<WaitingApproval[]> {
  if (agentId !== undefined) await assertAgentExists(storage, agentId);
  const agents = agentId === undefined ? (await storage.listNames(['agents'])).filter(isListed) : [agentId];
  const waiting: WaitingApproval[] = [];
  for (const agent of agents) waiting.push(...(await waitingOf(storage, agent)));
  return waiting.sort((a, b) => a.requestedAt - b.requestedAt);
}

async function waitingOf(storage: StorageBackend, agentId: string): Promise<WaitingApproval[]> {
  const store = new MemoryStore(storage, agentId, null);
  try {
    const ledger = new ToolCallLedger(() => store.journal('pending_calls'), systemClock.nowMs);
    await ledger.loadAll();
    const waiting: WaitingApproval[] = [];
    for (const { call, args } of await openCallsOf(store, ledger.pendingApprovals())) {
      const argumentsHash = argumentsHashOf({ name: call.toolName, arguments: args });
      const decision = await readDecision(storage, agentId, call, argumentsHash);
      waiting.push({ agentId, ...call, arguments: args, argumentsHash, decision });
    }
    return waiting;
  } finally {
    await store.close();
  }
}

interface CallWithArguments {
  readonly call: PendingCall;
  readonly args: JsonValue;
}

/** In the order given. The traces are read back to the oldest of these calls. A call with a result does not wait any more. */
async function openCallsOf(
  store: MemoryStore,
  pending: readonly PendingCall[],
): Promise<CallWithArguments[]> {
  const missing = new Set(pending.map(keyOf));
  const found = new Map<string, JsonValue>();
  if (missing.size === 0) return [];
  for await (const entry of (await store.journal('raw_traces')).readBackward()) {
    const trace = entry.kind === 'record' ? tryTraceFromJson(entry.record) : null;
    if (trace?.type === 'tool_result')
      missing.delete(keyOf({ turnId: trace.turnId, callId: trace.result.toolCallId }));
    if (trace?.type === 'tool_call') {
      const key = keyOf({ turnId: trace.turnId, callId: trace.call.id });
      if (missing.delete(key)) found.set(key, trace.call.arguments);
    }
    if (missing.size === 0) break;
  }
  return pending.flatMap((call) => {
    const args = found.get(keyOf(call));
    return args === undefined ? [] : [{ call, args }];
  });
}

/**
 * Decides on a call that waits. Durable when it resolves; the first decision counts. The agent goes on by itself where it runs, and at
 * `resume()` in its next process. Returns the call with the decision.
 * @throws APPROVAL_NOT_WAITING if no such call waits, it was decided, it expired, or its arguments are not those of
 * `argumentsHash`; AGENT_NOT_FOUND; INVALID_ARGUMENT; SENSITIVE_DATA
 */
export async function decideApproval(
  storage: StorageBackend,
  verdict: ApprovalVerdict,
): Promise<WaitingApproval> {
  assertVerdict(verdict);
  const { agentId, approved } = verdict;
  const call = await waitingCall(storage, verdict);
  const redact = (text: string | undefined) =>
    text === undefined ? null : (storage.redactor?.text(text) ?? text);
  const decision = {
    ...{ approved, by: redact(verdict.by), reason: redact(verdict.reason) },
    at: systemClock.nowMs(),
  };
  const { argumentsHash } = call;
  await assertNotErasing(storage, decisionsOf(agentId));
  await storeDecision(storage, agentId, call, { argumentsHash, decision }).catch((thrown: unknown) => {
    if (isRekindleError(thrown, 'DOCUMENT_CONFLICT')) throw notWaiting(verdict, 'decided');
    throw thrown;
  });
  await assertStillThere(storage, agentId, call);
  return { ...call, decision };
}

/** An erasure that ran meanwhile did not see the decision. */
async function assertStillThere(storage: StorageBackend, agentId: string, call: PendingCall): Promise<void> {
  try {
    await assertNotErasing(storage, decisionsOf(agentId));
    await assertAgentExists(storage, agentId);
  } catch (thrown) {
    await deleteDecision(storage, agentId, call);
    throw thrown;
  }
}

async function waitingCall(storage: StorageBackend, verdict: ApprovalVerdict): Promise<WaitingApproval> {
  const { agentId, callId, turnId, argumentsHash } = verdict;
  const all = await waitingApprovals(storage, agentId);
  const calls = all.filter((call) => call.callId === callId && (turnId ?? call.turnId) === call.turnId);
  const [call, another] = calls;
  if (!call) throw notWaiting(verdict, 'unknown');
  if (another) throw notWaiting(verdict, 'ambiguous', { turns: calls.map((one) => one.turnId) });
  if (call.decision) throw notWaiting(verdict, 'decided', { by: call.decision.by });
  if (call.expiresAt !== null && call.expiresAt <= systemClock.nowMs()) throw notWaiting(verdict, 'expired');
  if (argumentsHash !== undefined && argumentsHash !== call.argumentsHash)
    throw notWaiting(verdict, 'changed', { argumentsHash: call.argumentsHash });
  return call;
}

const REASONS = {
  unknown: 'does not wait for an approval',
  ambiguous: 'waits in several turns; name the turn',
  decided: 'was decided already',
  expired: 'was not decided in time and counts as denied',
  changed: 'has other arguments than the person saw',
} as const;

function notWaiting(
  { agentId, callId }: ApprovalVerdict,
  reason: keyof typeof REASONS,
  more: Record<string, JsonValue> = {},
): RekindleError {
  const text = `The call ${JSON.stringify(callId)} of agent ${agentId} ${REASONS[reason]}.`;
  return new RekindleError('APPROVAL_NOT_WAITING', text, { details: { agentId, callId, reason, ...more } });
}

function assertVerdict({ approved, callId, turnId, by, reason, argumentsHash }: ApprovalVerdict): void {
  if (typeof approved !== 'boolean') throw refused('approved', 'It must be true or false.');
  if (typeof callId !== 'string') throw refused('callId', 'It must be a text.');
  const texts = { turnId, by, reason, argumentsHash };
  for (const [argument, text] of Object.entries(texts))
    if (text !== undefined && (typeof text !== 'string' || !text.isWellFormed()))
      throw refused(argument, 'It must be a well-formed text.');
  if ((by ?? '').length > BY_CHARS_MAX) throw refused('by', `It may have ${BY_CHARS_MAX} characters.`);
  if ((reason ?? '').length > REASON_CHARS_MAX)
    throw refused('reason', `It may have ${REASON_CHARS_MAX} characters.`);
}

function refused(argument: string, text: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${argument}: ${text}`, { details: { argument } });
}
