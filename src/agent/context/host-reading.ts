/**
 * Reads what a host hands over, in any supported shape. Refuses the whole input before anything is written if
 * a part of it cannot be read.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { MediaInput, UserInput } from '../../memory/memory-input.js';
import {
  type ReadMessages,
  type ReadMessagesOptions,
  readMessages,
} from '../../messages/importers/read-messages.js';
import {
  type ContentPart,
  type Message,
  type Origin,
  partsOf,
  type ReasoningItem,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';
import type { StorageRedactor } from '../../storage/storage-redactor.js';
import { approvalsIn, type HostApproval } from './approvals.js';
import type { HostMessage, HostStep } from './host-message.js';

export interface HostReading {
  /** Messages of the assistant and of tools. */
  readonly messages: readonly Message[];
  readonly approvals: readonly HostApproval[];
}

/**
 * Reads a list of responses and results. It may begin with the conversation so far, up to the turn's own
 * input.
 * @param callOf finds the call of an approval that was requested before
 * @throws MESSAGE_INVALID
 */
export function readHostList(
  list: readonly HostMessage[],
  origin: Origin,
  input: Message | undefined,
  callOf: (approvalId: string) => string | undefined,
  redactor: StorageRedactor | null = null,
): HostReading {
  if (!Array.isArray(list)) throw invalid('The messages of a turn must be a list.', { field: 'messages' });
  const approvals = approvalsIn(
    list.map((message) => toJsonValue(message).value),
    callOf,
    (index, approvalId) => {
      throw invalid(
        `Message ${index} answers the approval ${JSON.stringify(approvalId)}, which was never requested.`,
        {
          index,
          approvalId,
        },
      );
    },
  );
  // As they are stored: what is recorded already is found again by what it says.
  const read = readAnswers(list, origin)
    .filter((message) => !isEmpty(message))
    .map((message) => redacted(message, redactor));
  const messages = afterInput(read, input);
  for (const message of messages) assertNamed(message);
  return { messages, approvals };
}

function redacted(message: Message, redactor: StorageRedactor | null): Message {
  return redactor ? (redactor.json(message as unknown as JsonObject) as unknown as Message) : message;
}

/** The provider behind each client. */
export const PROVIDERS = {
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
  gemini: 'google',
} as const;

/**
 * Answers through the AI SDK belong to the provider that the host named, and go back under its name. If the
 * host named none, a list in one provider's own format belongs to that provider.
 */
function readAnswers(list: readonly unknown[], origin: Origin): Message[] {
  const { format, messages } = readList(list, {});
  if (format.startsWith('ai-sdk'))
    return readList(list, { origin }).messages.map((said) => ofOrigin(said, origin));
  const isOfProvider = format in PROVIDERS && messages.some((said) => said.toolPayload || said.reasoning);
  if (!isOfProvider || origin.provider !== 'ai-sdk') return readList(list, { origin }).messages;
  return readList(list, { origin: { provider: PROVIDERS[format as keyof typeof PROVIDERS] } }).messages;
}

function ofOrigin(message: Message, origin: Origin): Message {
  if (message.role !== 'assistant') return message;
  const own = (item: ReasoningItem): ReasoningItem => ({ ...item, origin: { ...origin, ...item.origin } });
  const { reasoning, parts } = message;
  return {
    ...message,
    origin,
    ...(reasoning ? { reasoning: reasoning.map(own) } : {}),
    ...(parts
      ? {
          parts: parts.map((part) =>
            part.type === 'reasoning' ? { ...part, reasoning: own(part.reasoning) } : part,
          ),
        }
      : {}),
  };
}

/** @throws MESSAGE_INVALID, also for an unknown format */
export function readAll(entries: readonly unknown[], options: ReadMessagesOptions): Message[] {
  return readList(entries, options).messages;
}

function readList(entries: readonly unknown[], options: ReadMessagesOptions): ReadMessages {
  try {
    return readMessages(entries, options);
  } catch (thrown) {
    if (!isRekindleError(thrown, 'TRANSCRIPT_UNKNOWN')) throw thrown;
    throw new RekindleError('MESSAGE_INVALID', thrown.message, { details: thrown.details, cause: thrown });
  }
}

/** A message that only carried approvals. */
function isEmpty(message: Message): boolean {
  return message.role === 'tool' && toolResultOf(message) === null;
}

/** Messages before the input of the turn belong to earlier turns, which already have them. */
function afterInput(messages: readonly Message[], input: Message | undefined): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'user' || role === 'system');
  if (last < 0) return messages;
  const message = messages[last]!;
  if (message.role === 'user' && input && saidBy(message) === saidBy(input)) return messages.slice(last + 1);
  throw invalid(`A message of the role ${message.role} is not part of an answer. Pass it to beginTurn().`, {
    index: last,
    field: 'role',
  });
}

function saidBy(message: Message): string {
  const shown = partsOf(message).map((part) => {
    if (part.type === 'text') return part.text;
    return part.type === 'media' ? { kind: part.media.kind } : null; // its bytes may be an artifact by now
  });
  return canonicalJson(shown);
}

function assertNamed(message: Message): void {
  for (const { id, name } of toolCallsOf(message)) {
    if (name === '') throw invalid('A tool call needs a name.', { field: 'toolCalls', id });
  }
}

/**
 * The input of a turn: a text, an input in this library's own shape, or a user message with the results that
 * came with it.
 */
export interface HostInput {
  readonly input: UserInput | string;
  readonly results: readonly Message[];
}

const INPUT_FIELDS = new Set(['text', 'media', 'parts', 'pinned', 'messageId']);
const OWN_PARTS = new Set<unknown>(['text', 'media', 'reasoning']);

/** @throws MESSAGE_INVALID */
export function readHostInput(given: UserInput | string | HostMessage, origin: Origin): HostInput {
  if (typeof given === 'string') return { input: given, results: [] };
  if (typeof given !== 'object' || given === null)
    throw invalid('A turn must begin with a text or a user message.', { field: 'input' });
  if (!('role' in given) && !('type' in given)) return { input: ownInput(given as UserInput), results: [] };
  const messages = readAll([given], { origin });
  const results = messages.filter((message) => toolResultOf(message) !== null);
  const [said, ...others] = messages.filter((message) => toolResultOf(message) === null);
  if (said?.role !== 'user' || others.length > 0)
    throw invalid('A turn must begin with one message of the role user.', {
      field: 'role',
      role: said?.role ?? null,
    });
  const { messageId } = said;
  const own = { parts: partsOf(said), ...(said.pinned ? { pinned: true } : {}) };
  return { input: messageId === undefined ? own : { ...own, messageId }, results };
}

function ownInput(input: UserInput): UserInput {
  for (const field of Object.keys(input)) {
    if (!INPUT_FIELDS.has(field))
      throw invalid(`The input of a turn has no field ${JSON.stringify(field)}.`, { field });
  }
  for (const part of input.parts ?? []) {
    if (!isOwnPart(part)) throw invalid('A part of the input has an unknown type.', { field: 'parts' });
  }
  for (const media of input.media ?? []) {
    if (!isOwnMedia(media)) throw invalid('A media part needs `kind` and `data`.', { field: 'media' });
  }
  return input;
}

function isOwnPart(part: ContentPart): boolean {
  const { type } = (part ?? {}) as { type?: unknown };
  if (!OWN_PARTS.has(type)) return false;
  if (part.type === 'text') return typeof part.text === 'string';
  return part.type === 'reasoning' || (isJsonObject(part.media) && typeof part.media.ref === 'string');
}

function isOwnMedia(media: MediaInput): boolean {
  return (
    typeof media?.kind === 'string' && (typeof media.data === 'string' || media.data instanceof Uint8Array)
  );
}

export function invalid(text: string, details: JsonObject): RekindleError {
  return new RekindleError('MESSAGE_INVALID', text, { details });
}

export function isHostStep(given: HostStep | readonly HostMessage[]): given is HostStep {
  return typeof given === 'object' && given !== null && 'response' in given;
}
