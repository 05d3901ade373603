/** Converts UI parts of the Vercel AI SDK to its model parts, split into steps: one step is one model response. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { idText, objectField, textField } from '../reading/record-fields.js';
import type { Step } from './ai-sdk-step.js';

const DENIED = 'The call was not approved, so it did not run.';

interface OpenStep {
  readonly parts: JsonObject[];
  /** The host has run the calls: where steps are not marked, later text belongs to the next answer. */
  answered: boolean;
  streaming: boolean;
}

/** At least one step, which may be empty. */
export function stepsOf(parts: readonly JsonObject[], place: string, losses: LossAccount): Step[] {
  const marked = parts.some((part) => part['type'] === 'step-start');
  const steps: OpenStep[] = [newStep()];
  for (const part of parts) {
    const type = typeOf(part);
    if (type === 'step-start') {
      steps.push(newStep());
      continue;
    }
    if (!marked && steps.at(-1)!.answered && (type === 'text' || type === 'reasoning')) {
      losses.approximate('steps that were not marked', place);
      steps.push(newStep());
    }
    addPart(steps.at(-1)!, part, type, place, losses);
  }
  const filled = steps.filter((step) => step.parts.length > 0);
  return (filled.length > 0 ? filled : steps.slice(0, 1)).map((step) => ({
    parts: step.parts,
    place,
    ...(step.streaming ? { status: 'aborted' as const } : {}),
  }));
}

function newStep(): OpenStep {
  return { parts: [], answered: false, streaming: false };
}

function addPart(step: OpenStep, part: JsonObject, type: string, place: string, losses: LossAccount): void {
  step.streaming ||= part['state'] === 'streaming';
  if (type === 'text' || type === 'file') step.parts.push(modelPart(part, part['providerMetadata']));
  else if (type === 'reasoning') step.parts.push(reasoningPart(part, place, losses));
  else if (isToolPart(type)) addToolPart(step, part, type, place, losses);
  else if (!isDropped(type, place, losses)) step.parts.push(modelPart(part, part['providerMetadata']));
}

/** Parts that a host adds for its page are not part of the conversation. */
export function isDropped(type: string, place: string, losses: LossAccount): boolean {
  const isData = type.startsWith('data-');
  if (isData) losses.drop('a data part of the host', place);
  else if (type.startsWith('source')) losses.drop('a source of an answer', place);
  return isData || type.startsWith('source');
}

export function typeOf(part: JsonObject): string {
  return textField(part, 'type') ?? '';
}

export function isToolPart(type: string): boolean {
  return type.startsWith('tool-') || type === 'dynamic-tool';
}

function modelPart(part: JsonObject, metadata: JsonValue | undefined): JsonObject {
  return isJsonObject(metadata) ? { ...part, providerOptions: metadata } : part;
}

/** Version 4 stores the text under `reasoning`, with a signature but no provider. */
function reasoningPart(part: JsonObject, place: string, losses: LossAccount): JsonObject {
  if (Array.isArray(part['details'])) losses.drop('signature of reasoning without a provider', place);
  const text = part['text'] ?? part['reasoning'] ?? '';
  return modelPart({ type: 'reasoning', text }, part['providerMetadata']);
}

function addToolPart(
  step: OpenStep,
  given: JsonObject,
  type: string,
  place: string,
  losses: LossAccount,
): void {
  const invocation = type === 'tool-invocation' ? given['toolInvocation'] : undefined; // version 4
  const part = isJsonObject(invocation) ? invocation : given;
  const isNamed = type === 'dynamic-tool' || part !== given;
  const ids = {
    toolCallId: idText(part['toolCallId']),
    toolName: isNamed ? idText(part['toolName']) : type.slice('tool-'.length),
  };
  const input = part['input'] ?? part['args'] ?? part['rawInput'] ?? {};
  step.parts.push(modelPart({ type: 'tool-call', ...ids, input }, part['callProviderMetadata']));
  step.streaming ||= part['state'] === 'input-streaming' || part['state'] === 'partial-call';
  if (part['providerExecuted'] === true) losses.approximate('a tool call that its provider ran', place);
  if (part['approval'] !== undefined) losses.drop('the approval of a tool call', place);
  const output = outputOf(part, place, losses);
  if (!output) return;
  step.parts.push({ type: 'tool-result', ...ids, output });
  step.answered ||= part['providerExecuted'] !== true;
}

/** Null if there is no outcome yet. */
function outputOf(part: JsonObject, place: string, losses: LossAccount): JsonObject | null {
  switch (part['state']) {
    case 'output-available':
    case 'result':
      if (part['preliminary'] === true) losses.approximate('a preliminary tool result', place);
      return { type: 'json', value: part['output'] ?? part['result'] ?? null };
    case 'output-error':
      return { type: 'error-text', value: textField(part, 'errorText') ?? '' };
    case 'output-denied': {
      const reason = textField(objectField(part, 'approval'), 'reason') ?? DENIED;
      return { type: 'execution-denied', reason };
    }
    default:
      return null;
  }
}
