/**
 * Dumps of OpenAI chat messages: a request (perhaps with its completion), a list of messages, or one message or
 * conversation per line. Of several conversations, the first is read. Also reads AutoGen's model context, which wraps
 * the same messages.
 */
import { RekindleError } from '../../../core/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { Message } from '../../message.js';
import { systemOf } from '../anthropic/anthropic.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { hasRecordPerLine } from '../reading/source-shape.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { isChatHead } from './chat-detection.js';
import { MemberReader } from './chat-entries.js';

const MESSAGE_LISTS = [
  'messages',
  'request/messages',
  'body/messages',
  'request/body/messages',
  'input/messages',
];
const CHOICE_LISTS = ['choices', 'response/choices', 'response/body/choices'];
const HELD = new Set([
  'id',
  'model',
  'response/id',
  'response/model',
  'response/body/id',
  'response/body/model',
]);
const ENTERED = new Set(
  ['', ...MESSAGE_LISTS, ...CHOICE_LISTS].flatMap((path) => {
    const keys = path.split('/');
    return keys.map((_, index) => keys.slice(0, index + 1).join('/'));
  }),
);
const TOOL_LISTS = new Set(['tools', 'functions', 'request/tools', 'body/tools', 'request/body/tools']);

export const openAiChatImporter: TranscriptImporter = {
  format: 'openai-chat',
  entries: 'openai-chat',
  title: 'OpenAI chat messages',
  lookedFor:
    'messages with `role` and `content`, `tool_calls` with `function`, alone, in `messages`, or one a line; or `choices`',
  recognises: isChatHead,
  read,
};

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const reader = new MemberReader(losses);
  const items = (await hasRecordPerLine(source))
    ? fromLines(source, losses, reader)
    : fromDocument(source, losses, reader);
  for await (const message of items) {
    keepMessage(message, losses);
    yield { kind: 'message', message };
  }
}

async function* fromLines(source: TranscriptSource, losses: LossAccount, reader: MemberReader) {
  for await (const { value, line } of readJsonLines(source.chunks(), losses))
    yield* reader.read(value, `line ${line}`);
}

async function* fromDocument(source: TranscriptSource, losses: LossAccount, reader: MemberReader) {
  yield* systemBeside(source, losses);
  const completion: JsonObject = {};
  let isList = false;
  const slices = sliceJson(source.chunks(), (path) => {
    if (TOOL_LISTS.has(path.join('/'))) losses.drop('tool definitions', path.join('/'));
    return memberChoice(path);
  });
  for await (const { path, value } of slices) {
    const last = path[path.length - 1];
    if (HELD.has(path.join('/'))) completion[String(last)] = value;
    if (typeof last !== 'number') continue;
    isList = true;
    losses.record();
    const place = path.length === 1 ? `messages/${last}` : path.join('/');
    if (!CHOICE_LISTS.includes(path.slice(0, -1).join('/'))) yield* reader.read(value, place);
    else if (last === 0) completion['choices'] = [value];
    else losses.drop('another choice of the model', place);
  }
  if (!isList) throw invalid();
  yield* reader.readCompletion(completion, 'choices/0');
}

/** A prompt next to the list, as another API has it. It may come after the messages. */
async function* systemBeside(source: TranscriptSource, losses: LossAccount): AsyncGenerator<Message> {
  const head = await headOf(source);
  if (head?.shape !== 'object' || !(head.keys.has('system') || head.keys.has('system_prompt'))) return;
  const slices = sliceJson(source.chunks(), ([key]) => {
    if (key === undefined) return 'enter';
    return key === 'system' || key === 'system_prompt' ? 'take' : 'skip';
  });
  for await (const { value } of slices) {
    const content = systemOf(value, losses);
    if (content !== null) yield { role: 'system', content };
  }
}

function memberChoice(path: JsonPath): SliceChoice {
  if (typeof path[path.length - 1] === 'number') return 'take';
  const name = path.join('/');
  if (ENTERED.has(name)) return 'enter';
  return HELD.has(name) ? 'take' : 'skip';
}

function invalid(): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', 'The document contains no list of chat messages.', {
    details: { lookedFor: [...MESSAGE_LISTS, ...CHOICE_LISTS] },
  });
}
