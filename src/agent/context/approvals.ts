/** Approval requests and answers of the AI SDK: parts of model messages, and states of UI parts. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';

export interface HostApproval {
  /** The call's id in the response. */
  readonly callId: string;
  /** The SDK's `tool-approval-request`. */
  readonly request: JsonObject | null;
  /** The SDK's `tool-approval-response`. */
  readonly response: JsonObject | null;
}

/**
 * In the order of the list.
 * @param callOf finds the call of an approval that an earlier list requested
 * @throws MESSAGE_INVALID for an answer without a request
 */
export function approvalsIn(
  messages: readonly JsonValue[],
  callOf: (approvalId: string) => string | undefined,
  refuse: (index: number, approvalId: string) => never,
): HostApproval[] {
  const found = new Map<string, HostApproval>();
  for (const [index, message] of messages.entries()) {
    for (const part of partsOf(message)) {
      const approval = requestIn(part);
      if (approval) found.set(String(approval.request?.['approvalId']), approval);
      const response = responseIn(part);
      if (!response) continue;
      const id = String(response['approvalId']);
      const known = found.get(id);
      const callId = known?.callId ?? callOf(id) ?? refuse(index, id);
      found.set(id, { callId, request: known?.request ?? null, response });
    }
  }
  return [...found.values()];
}

function partsOf(message: JsonValue): JsonObject[] {
  if (!isJsonObject(message)) return [];
  const parts = Array.isArray(message['parts']) ? message['parts'] : message['content'];
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

function requestIn(part: JsonObject): HostApproval | null {
  const { type, toolCallId, approval } = part;
  if (typeof toolCallId !== 'string') return null;
  if (type === 'tool-approval-request') return { callId: toolCallId, request: part, response: null };
  if (!isJsonObject(approval) || typeof approval['id'] !== 'string') return null;
  const { id, signature } = approval;
  const signed = signature === undefined ? {} : { signature };
  const request = { type: 'tool-approval-request', approvalId: id, toolCallId, ...signed };
  return { callId: toolCallId, request, response: null };
}

function responseIn(part: JsonObject): JsonObject | null {
  if (part['type'] === 'tool-approval-response') return part;
  const { approval } = part;
  if (!isJsonObject(approval) || typeof approval['approved'] !== 'boolean') return null;
  const { id, approved, reason } = approval;
  return {
    type: 'tool-approval-response',
    approvalId: id!,
    approved,
    ...(typeof reason === 'string' ? { reason } : {}),
  };
}
