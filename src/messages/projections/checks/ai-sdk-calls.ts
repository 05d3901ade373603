/** Checks calls and results in AI SDK messages: each result is in the tool messages directly after its call. */
import { fieldOf, isFilledText, listOf, quote, type Report } from './request-check.js';

interface OpenCall {
  readonly path: string;
  readonly toolName: unknown;
}

/** One pass over the messages. A block is an assistant message with the tool messages directly after it. */
interface CallState {
  readonly ids: Set<unknown>;
  /** Calls that a provider ran itself: the result is next to the call, or in a later response. */
  readonly executed: Set<unknown>;
  readonly open: Map<unknown, OpenCall>;
  readonly answered: Set<unknown>;
  /** The call that each approval request is about. */
  readonly approvals: Map<unknown, unknown>;
}

export function checkAiSdkCalls(messages: readonly unknown[], report: Report): void {
  const state: CallState = {
    ids: new Set(),
    executed: new Set(),
    open: new Map(),
    answered: new Set(),
    approvals: new Map(),
  };
  messages.forEach((message, i) => {
    const role = fieldOf(message, 'role');
    if (role !== 'tool') closeBlock(state, report);
    listOf(fieldOf(message, 'content')).forEach((part, n) => {
      const path = `messages/${i}/content/${n}`;
      if (role === 'assistant') readAssistantPart(part, path, state, report);
      if (role !== 'tool') return;
      if (fieldOf(part, 'type') === 'tool-result') readResult(part, path, state, report);
      // The SDK runs approved calls when the request is made, so the approval can only be at the end.
      else if (i === messages.length - 1) state.open.delete(state.approvals.get(fieldOf(part, 'approvalId')));
    });
  });
  closeBlock(state, report);
}

function readAssistantPart(part: unknown, path: string, state: CallState, report: Report): void {
  const id = fieldOf(part, 'toolCallId');
  switch (fieldOf(part, 'type')) {
    case 'tool-call':
      readCall(part, id, path, state, report);
      return;
    case 'tool-approval-request':
      state.approvals.set(fieldOf(part, 'approvalId'), id);
      return;
    case 'tool-result':
      if (state.executed.has(id)) return;
      report(
        'ai-sdk/7.4',
        path,
        'The result is in an assistant message, and its call was not run by a provider.',
      );
  }
}

function readCall(part: unknown, id: unknown, path: string, state: CallState, report: Report): void {
  if (!isFilledText(id)) report('ai-sdk/7.5', `${path}/toolCallId`, 'The call has no id.');
  else if (state.ids.has(id)) {
    report('ai-sdk/7.5', `${path}/toolCallId`, `The call id ${quote(id)} is not unique.`);
  }
  state.ids.add(id);
  if (fieldOf(part, 'providerExecuted') === true) state.executed.add(id);
  else state.open.set(id, { path, toolName: fieldOf(part, 'toolName') });
}

function readResult(part: unknown, path: string, state: CallState, report: Report): void {
  const id = fieldOf(part, 'toolCallId');
  if (state.executed.has(id)) return;
  const call = state.open.get(id);
  if (!call) {
    const reason = state.answered.has(id)
      ? `The call ${quote(id)} is answered a second time.`
      : `The result is for ${quote(id)}, which is no call of the message before it.`;
    report('ai-sdk/7.4', path, reason);
  } else if (call.toolName !== fieldOf(part, 'toolName')) {
    report('ai-sdk/7.4', `${path}/toolName`, 'The result names another tool than its call.');
  }
  state.open.delete(id);
  state.answered.add(id);
}

function closeBlock({ open, answered, approvals }: CallState, report: Report): void {
  for (const [id, { path }] of open) {
    report('ai-sdk/7.3', path, `The call ${quote(id)} has no result in the tool messages right behind it.`);
  }
  open.clear();
  answered.clear();
  approvals.clear();
}
