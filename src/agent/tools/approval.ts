/**
 * Waits for a decision on a call: of the host's function, or of anybody who decides in the inbox of approvals
 * (`decideApproval`), whichever comes first.
 */
import type { JsonValue } from '../../core/json.js';
import {
  argumentsHashOf,
  decisionsOf,
  deleteDecision,
  readDecision,
} from '../../memory/approvals/stored-decision.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { type ApprovalDecision, decisionFrom, type LedgerCall } from '../../memory/store/tool-call-ledger.js';
import type { ToolCallSpec } from '../../messages/message.js';
import { onAbort } from './on-abort.js';

/** A tool call that needs a decision. */
export interface ApprovalRequest {
  readonly callId: string;
  readonly turnId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  /** Aborts when the turn ends, and when somebody else decided. */
  readonly signal: AbortSignal;
}

/**
 * Asks a person or a policy. A rejection, or anything other than true or a decision with `approved: true`, means: not approved.
 * While it runs, a decision from the inbox counts, too.
 */
export type Approve = (
  request: ApprovalRequest,
) => Promise<boolean | ApprovalDecision> | boolean | ApprovalDecision;

/** Where decisions come from, until when. */
export interface ApprovalSource {
  readonly memory: MemoryManager;
  /** `inbox`: only from the inbox. */
  readonly approve: Approve | 'inbox';
  /** The call of the response. */
  readonly recorded: ToolCallSpec;
  /** Milliseconds since 1970. */
  readonly expiresAt: number | null;
  readonly nowMs: () => number;
}

/** A timer holds no more milliseconds. */
const TIMER_MAX = 2 ** 31 - 1;
const EXPIRED: ApprovalDecision = { approved: false, reason: 'Nobody decided in time.' };

/** Null if the signal aborts first. @throws what storage throws while the inbox is opened */
export async function decisionOn(
  source: ApprovalSource,
  call: LedgerCall,
  request: ApprovalRequest,
): Promise<ApprovalDecision | null> {
  const ended = new AbortController();
  const signal = AbortSignal.any([request.signal, ended.signal]);
  try {
    const stored = await storedIn(source, call);
    if (stored) return stored;
    return await Promise.race([
      nextStored(source, call, signal),
      ...(source.approve === 'inbox' ? [] : [asked(source.approve, { ...request, signal })]),
      ...(source.expiresAt === null ? [] : [expiry(source, source.expiresAt, signal)]),
      aborted(request.signal),
    ]);
  } finally {
    ended.abort();
  }
}

/** Durable when it resolves. */
export async function recordDecision(
  memory: MemoryManager,
  call: LedgerCall,
  decision: ApprovalDecision,
): Promise<void> {
  await memory.ledger.approvalDecided(call, decision);
  await deleteDecision(memory.store.backend, memory.agentId, call);
}

function storedIn({ memory, recorded }: ApprovalSource, call: LedgerCall) {
  const { backend } = memory.store;
  const args = backend.redactor?.json(recorded.arguments) ?? recorded.arguments; // as the traces hold them
  const hash = argumentsHashOf({ name: recorded.name, arguments: args });
  return readDecision(backend, memory.agentId, call, hash);
}

/** Resolves with a decision of the inbox. It settles later if it never comes: the turn does not wait for it. */
function nextStored(
  source: ApprovalSource,
  call: LedgerCall,
  signal: AbortSignal,
): Promise<ApprovalDecision> {
  const { store, agentId } = source.memory;
  return new Promise((resolve, reject) => {
    const look = () => {
      if (!signal.aborted)
        storedIn(source, call).then(
          (stored) => stored && resolve(stored),
          () => {},
        ); // the next change looks again
    };
    store.backend.watch(decisionsOf(agentId), look).then((stop) => {
      onAbort(signal, () => void stop().catch(() => {}));
      look(); // it may have come before the watch
    }, reject);
  });
}

async function asked(approve: Approve, request: ApprovalRequest): Promise<ApprovalDecision> {
  try {
    const given: unknown = await approve(request);
    if (typeof given !== 'object' || given === null) return decisionFrom(given === true);
    const { approved, by, reason } = given as Partial<ApprovalDecision>;
    return { approved: approved === true, by: textOrNull(by), reason: textOrNull(reason) };
  } catch {
    return { approved: false };
  }
}

function textOrNull(given: unknown): string | null {
  return typeof given === 'string' ? given.toWellFormed() : null;
}

function expiry(
  { nowMs }: ApprovalSource,
  expiresAt: number,
  signal: AbortSignal,
): Promise<ApprovalDecision> {
  return new Promise((resolve) => {
    const wait = () => {
      const left = expiresAt - nowMs();
      if (left <= 0) return resolve(EXPIRED);
      const timer = setTimeout(wait, Math.min(left, TIMER_MAX));
      forget();
      forget = onAbort(signal, () => clearTimeout(timer));
    };
    let forget = () => {};
    wait();
  });
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => void onAbort(signal, () => resolve(null)));
}
