/** The place of the messages in a trajectory of SWE-agent or mini-swe-agent; also identifies the format. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { listField, objectField, textField } from '../reading/record-fields.js';
import type { TranscriptHead } from '../transcript.js';

/** `history` and `messages` are lists in the document, `list` is the document itself, and `steps` has no messages. */
export type SweAgentLayout = 'history' | 'messages' | 'list' | 'steps';

/** Message fields that only these two tools write. */
const OWN_FIELDS = ['message_type', 'is_demo', 'tool_call_ids'];
/** Fields that mini-swe-agent adds to a message. */
const OWN_NOTES = [
  'response',
  'actions',
  'raw_output',
  'returncode',
  'exit_status',
  'model_response',
  'interrupt_type',
];
/** Texts of prompts and answers: the smallest histories have no field of their own. */
const OWN_TEXTS = /COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|```mswea_bash_command/;

/** Null for any other document. */
export function sweAgentLayoutOf({ shape, items, keys, fields }: TranscriptHead): SweAgentLayout | null {
  if (shape === 'array') return items.length > 0 && items.every(isEntry) && items.some(isOwn) ? 'list' : null;
  if (shape !== 'object') return null;
  const [entry] = listField(fields, 'history');
  if (isEntry(entry) && (isOwn(entry) || keys.has('trajectory') || keys.has('replay_config')))
    return 'history';
  if (isStep(listField(fields, 'trajectory')[0])) return 'steps';
  return isEntry(listField(fields, 'messages')[0]) && isOfMini(fields) ? 'messages' : null;
}

function isEntry(json: JsonValue | undefined): boolean {
  return isJsonObject(json) && typeof json['role'] === 'string' && 'content' in json && !('type' in json);
}

function isOwn(json: JsonValue | undefined): boolean {
  if (!isJsonObject(json)) return false;
  const extra = objectField(json, 'extra');
  const isThought = 'thought' in json && 'action' in json;
  const isOfAgent = typeof json['agent'] === 'string' && !('parts' in json);
  const hasOwn = OWN_FIELDS.some((key) => key in json) || OWN_NOTES.some((key) => key in extra);
  return isThought || isOfAgent || hasOwn || OWN_TEXTS.test(textField(json, 'content') ?? '');
}

function isStep(json: JsonValue | undefined): boolean {
  return (
    isJsonObject(json) &&
    'action' in json &&
    'observation' in json &&
    ('thought' in json || 'response' in json)
  );
}

function isOfMini(fields: JsonObject): boolean {
  if (/^mini-swe-agent/.test(textField(fields, 'trajectory_format') ?? '')) return true;
  const info = objectField(fields, 'info');
  return 'mini_version' in info || ('exit_status' in info && 'model_stats' in info);
}
