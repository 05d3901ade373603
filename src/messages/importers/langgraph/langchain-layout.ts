/** The place of the messages in a document of LangChain messages or a LangGraph thread; also identifies the format. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { listField, objectField } from '../reading/record-fields.js';
import type { TranscriptHead } from '../transcript.js';
import { isCertainlyLangChain, mayBeLangChain } from './langchain-shape.js';

/** `list` is the path of the list of messages; `turns` holds model calls, one message each. */
export type LangChainLayout =
  | { readonly form: 'lines' }
  | { readonly form: 'turns' }
  | { readonly form: 'list'; readonly list: string };

/** For documents that are objects. A thread state is preferred over recorded requests. */
const LISTS = ['values/messages', 'channel_values/messages', 'checkpoint/channel_values/messages'].concat([
  'messages',
  'kwargs/messages',
  'state/messages',
  'output/messages',
  'outputs/messages',
]);
/** Keys of a thread next to its values. */
const THREAD_KEYS = ['checkpoint', 'checkpoint_id', 'next', 'thread_id', 'interrupts'];

/** Null if the document is of another kind. */
export function langChainLayoutOf(head: TranscriptHead): LangChainLayout | null {
  switch (head.shape) {
    case 'lines':
      return isList(head.items) ? { form: 'lines' } : null;
    case 'array':
      return layoutOfArray(head.items);
    case 'object':
      return layoutOfObject(head);
    default:
      return null;
  }
}

function isList(items: readonly JsonValue[]): boolean {
  return items.length > 0 && items.every(mayBeLangChain) && items.some(isCertainlyLangChain);
}

/** A list of messages, or the states of a thread, newest first. */
function layoutOfArray(items: readonly JsonValue[]): LangChainLayout | null {
  if (isList(items)) return { form: 'list', list: '' };
  const [newest] = items;
  if (!isJsonObject(newest)) return null;
  const [first] = listField(objectField(newest, 'values'), 'messages');
  return isCertainlyLangChain(first) ? { form: 'list', list: '0/values/messages' } : null;
}

function layoutOfObject({ fields, keys }: TranscriptHead): LangChainLayout | null {
  const list = LISTS.find((path) => isCertainlyLangChain(firstOf(fields, path)));
  if (list !== undefined) return { form: 'list', list };
  const [turn] = listField(fields, 'turns');
  if (isJsonObject(turn) && isCertainlyLangChain(turn['output'])) return { form: 'turns' };
  const isThread = keys.has('values') && THREAD_KEYS.filter((key) => keys.has(key)).length >= 3;
  return isThread ? { form: 'list', list: 'values/messages' } : null;
}

function firstOf(fields: JsonObject, path: string): JsonValue | undefined {
  const keys = path.split('/');
  const holder = keys.slice(0, -1).reduce((at, key) => objectField(at, key), fields);
  return listField(holder, keys.at(-1)!)[0];
}
