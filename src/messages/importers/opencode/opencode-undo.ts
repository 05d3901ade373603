/** What the user of OpenCode undid: the session names the first message, or the first part, that no longer counts. */
import type { JsonObject } from '../../../core/json.js';
import { objectField, textField } from '../reading/record-fields.js';

export interface UndoneFrom {
  readonly messageId?: string | undefined;
  readonly partId?: string | undefined;
}

export function undoneFrom(session: JsonObject): UndoneFrom {
  const revert = objectField(session, 'revert');
  return { messageId: textField(revert, 'messageID'), partId: textField(revert, 'partID') };
}

/** Ids increase with time. */
export function isUndoneMessage(id: string | undefined, { messageId, partId }: UndoneFrom): boolean {
  if (id === undefined || messageId === undefined) return false;
  return id > messageId || (id === messageId && partId === undefined);
}

export function isUndonePart(part: JsonObject, { messageId, partId }: UndoneFrom): boolean {
  const id = textField(part, 'id');
  return partId !== undefined && part['messageID'] === messageId && id !== undefined && id >= partId;
}
