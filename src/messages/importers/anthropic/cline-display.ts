/**
 * Cline's list for display (`ui_messages.json`): what the user saw, without the exact messages of the model. Read as a
 * transcript only if the API history is lost; all its texts are approximations.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { contentOf, mediaPartOf } from '../reading/content-parts.js';
import { listField, textField } from '../reading/record-fields.js';

const OF_THE_USER: ReadonlySet<unknown> = new Set(['user_feedback', 'task']);
const OF_THE_MODEL: ReadonlySet<unknown> = new Set([
  'text',
  'completion_result',
  'followup',
  'plan_mode_respond',
  'reasoning',
]);

/** Null for anything but a message: commands, tools, costs, notices, and partial texts that are still being written. */
export function displayedMessage(
  item: JsonValue,
  isFirst: boolean,
  place: string,
  losses: LossAccount,
): Message | null {
  if (!isJsonObject(item)) {
    losses.drop('record of an unknown form', place);
    return null;
  }
  const what = item[item['type'] === 'ask' ? 'ask' : 'say'];
  const text = textField(item, 'text') ?? '';
  const images = imagesOf(item);
  const isSaid = (text !== '' || images.length > 0) && item['partial'] !== true;
  const isUsers = OF_THE_USER.has(what) || (isFirst && what === 'text');
  if (!isSaid || (!isUsers && !OF_THE_MODEL.has(what))) {
    losses.drop('event of the display', place);
    return null;
  }
  losses.approximate('text as it was displayed', place);
  if (isUsers) return { role: 'user', ...contentOf([...textPart(text), ...images]) };
  if (what === 'reasoning') return { role: 'assistant', content: null, reasoning: [{ text }] };
  return { role: 'assistant', content: text };
}

function textPart(text: string): ContentPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function imagesOf(item: JsonObject): ContentPart[] {
  const urls = listField(item, 'images').filter(
    (url): url is string => typeof url === 'string' && url !== '',
  );
  return urls.map((url) => mediaPartOf(url, { kind: 'image' }));
}
