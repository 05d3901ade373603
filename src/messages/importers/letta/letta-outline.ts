/**
 * What must be known of a Letta agent file before its messages can be read: which agent has a conversation, and which
 * of its messages are in the context. Ids are kept as numbers, so that a long list stays small.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { NumberColumn } from '../reading/number-column.js';
import { idText, textField } from '../reading/record-fields.js';
import type { TranscriptSource } from '../transcript.js';

export interface LettaAgent {
  /** Path of the agent in the document. Empty in older files, in which the document is the agent. */
  readonly path: string;
  /** Keys of the messages in the context, in order. */
  readonly context: NumberColumn;
  /** The system prompt, before the memory is inserted. */
  readonly system: string | undefined;
  readonly settings: JsonObject;
  readonly hasMessages: boolean;
}

const CONTEXT_LISTS: ReadonlySet<unknown> = new Set(['in_context_message_ids', 'in_context_message_indices']);
const HELD: ReadonlySet<unknown> = new Set(['system', 'llm_config']);

/** The first agent with messages, else the first agent; null if there is none. */
export async function agentIn(source: TranscriptSource): Promise<LettaAgent | null> {
  let first: AgentDraft | null = null;
  let draft: AgentDraft | null = null;
  const slices = sliceJson(source.chunks(), (path) => {
    const owner = ownerOf(path);
    if (owner !== null && owner !== draft?.path && !draft?.hasMessages) {
      draft = new AgentDraft(owner);
      first ??= draft;
    }
    return owner === draft?.path ? draft!.choose(insideOf(path)) : choiceAbove(path);
  });
  for await (const { path, value } of slices) {
    const owner = draft as AgentDraft | null;
    if (owner && ownerOf(path) === owner.path) owner.note(insideOf(path), value);
  }
  const found = draft as AgentDraft | null;
  return found?.hasMessages ? found : first;
}

class AgentDraft {
  readonly path: string;
  readonly context = NumberColumn.offsets();
  system: string | undefined;
  settings: JsonObject = {};
  hasMessages = false;

  constructor(path: string) {
    this.path = path;
  }

  choose([name, ...rest]: JsonPath): SliceChoice {
    if (name === undefined) return 'enter';
    if (name === 'messages' && rest.length === 0) return 'enter';
    if (name === 'messages') this.hasMessages = true;
    if (CONTEXT_LISTS.has(name)) return rest.length === 0 ? 'enter' : 'take';
    return HELD.has(name) ? 'take' : 'skip';
  }

  note([name, at]: JsonPath, value: JsonValue): void {
    if (name === 'system' && typeof value === 'string') this.system = value;
    else if (name === 'llm_config' && isJsonObject(value)) this.settings = value;
    else if (CONTEXT_LISTS.has(name) && typeof at === 'number') this.context.push(keyOf(value));
  }
}

/** Path of the agent that contains the member; null outside all agents. */
function ownerOf([name, at]: JsonPath): string | null {
  if (name === 'agents') return typeof at === 'number' ? `agents/${at}` : null;
  return name === 'messages' || CONTEXT_LISTS.has(name) || HELD.has(name) ? '' : null;
}

function insideOf(path: JsonPath): JsonPath {
  return path[0] === 'agents' ? path.slice(2) : path;
}

function choiceAbove(path: JsonPath): SliceChoice {
  return path.length === 0 || (path.length === 1 && path[0] === 'agents') ? 'enter' : 'skip';
}

/** Key of a message: its index in older files, which have no ids; else a number derived from its id. */
export function keyOf(id: JsonValue | undefined): number {
  return typeof id === 'number' ? id : numberOf(idText(id));
}

export function keyOfMessage(message: JsonValue, index: number): number {
  const id = isJsonObject(message) ? textField(message, 'id') : undefined;
  return id === undefined ? index : numberOf(id);
}

/** 53 bits: a collision between two ids of one file is not expected. Indices are far smaller. */
function numberOf(id: string): number {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let at = 0; at < id.length; at += 1) {
    const unit = id.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low + unit, 0x27d4eb2f) ^ (low >>> 13);
  }
  return 2 ** 53 - 1 - ((high & 0xfffff) * 2 ** 32 + (low >>> 0));
}
