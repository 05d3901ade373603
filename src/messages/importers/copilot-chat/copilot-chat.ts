/** Chats of GitHub Copilot in the editor: a log of changes with one change per line, or an exported document. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { keptItem } from '../reading/kept-item.js';
import { membersOf } from '../reading/list-members.js';
import { listField, objectField, secondsOf } from '../reading/record-fields.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { stateOfLog } from './chat-log.js';
import { messagesOfRequest } from './chat-request.js';

export const copilotChatImporter: TranscriptImporter = {
  format: 'copilot-chat',
  title: 'GitHub Copilot chat of the editor',
  lookedFor: 'a first line {kind: 0, v: {requests}} and lines {kind, k, v}; or a document with `requests`',
  recognises,
  read,
};

/** A log of a single line is read as a document. */
function recognises({ shape, items, fields, keys }: TranscriptHead): boolean {
  if (shape === 'lines') return isFirstState(items[0]);
  return shape === 'object' && (isFirstState(fields) || (keys.has('requests') && isChat(fields)));
}

function isFirstState(line: JsonValue | undefined): boolean {
  return isJsonObject(line) && line['kind'] === 0 && isChat(objectField(line, 'v'));
}

function isChat(state: JsonObject): boolean {
  const [first] = listField(state, 'requests');
  const isRequest =
    isJsonObject(first) && 'message' in first && ('requestId' in first || 'response' in first);
  const isEmpty = first === undefined && typeof state['version'] === 'number';
  const isNamed = ['responderUsername', 'requesterUsername', 'creationDate', 'initialLocation'].some(
    (key) => key in state,
  );
  return isRequest || (isEmpty && isNamed);
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const head = await headOf(source);
  const isDocument = head?.shape === 'object' && head.keys.has('requests');
  if (!isDocument) {
    const state = await stateOfLog(source, losses);
    for (const [index, request] of listField(state, 'requests').entries())
      yield* itemsOf(request, losses, `requests/${index}`);
    return;
  }
  for await (const { value, place } of membersOf(source, ['requests'], losses))
    yield* itemsOf(value, losses, place);
}

function* itemsOf(request: JsonValue, losses: LossAccount, place: string): Generator<TranscriptItem> {
  if (!isJsonObject(request)) {
    losses.drop('request that is not an object', place);
    return;
  }
  for (const message of messagesOfRequest(request, losses, place))
    yield keptItem(message, losses, secondsOf(request['timestamp']));
}
