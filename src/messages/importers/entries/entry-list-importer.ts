/** Importers of formats that are plain message lists: what a host has in memory and what it stored are read the same way. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { keepMessage } from '../reading/keep-message.js';
import { listField, objectField, textField } from '../reading/record-fields.js';
import { hasRecordPerLine } from '../reading/source-shape.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { entriesIn } from './entries-in-source.js';
import { readerOf } from './entry-readers.js';

export const responsesImporter: TranscriptImporter = {
  format: 'openai-responses',
  entries: 'openai-responses',
  title: 'OpenAI Responses items',
  lookedFor:
    'items `function_call`, `reasoning` or messages with `input_text`, alone or in `input`; or a response',
  recognises: (head) => head.shape === 'object' && (isResponse(head.fields) || isResponsesRequest(head)),
  read: (source, losses) => read(source, losses, 'openai-responses'),
};

export const geminiImporter: TranscriptImporter = {
  format: 'gemini',
  entries: 'gemini',
  title: 'Gemini contents',
  lookedFor: 'contents with `parts` without a type, alone or in `contents`',
  recognises: ({ shape, fields }) =>
    shape === 'object' &&
    (listField(fields, 'candidates').length > 0 || listField(fields, 'contents').length > 0),
  read: (source, losses) => read(source, losses, 'gemini'),
};

function isResponse(fields: JsonObject): boolean {
  return fields['object'] === 'response' && Array.isArray(fields['output']);
}

/** Its messages alone may look like those of other APIs. */
function isResponsesRequest({ keys, fields }: TranscriptHead): boolean {
  const isOwn = keys.has('instructions') || (keys.has('store') && keys.has('include'));
  return isOwn && listField(fields, 'input').length > 0;
}

async function* read(
  source: TranscriptSource,
  losses: LossAccount,
  format: 'openai-responses' | 'gemini',
): AsyncGenerator<TranscriptItem> {
  const reader = readerOf(format, losses);
  const shape = (await hasRecordPerLine(source)) ? 'lines' : 'object';
  const head = shape === 'lines' ? null : await headOf(source);
  const system = head ? systemOf(head.fields) : undefined;
  if (system !== undefined) {
    const message = { role: 'system', content: system } as const;
    keepMessage(message, losses);
    yield { kind: 'message', message };
  }
  for await (const { entry, place } of entriesIn(source, shape)) {
    losses.record();
    yield* reader.read(entry, place);
  }
  yield* reader.end();
}

/** `instructions` of Responses, `systemInstruction` of Gemini: a text, or parts. */
function systemOf(fields: JsonObject): string | undefined {
  const config = objectField(fields, 'config', 'generationConfig');
  const given = [fields['instructions'], fields['systemInstruction'], fields['system_instruction']].concat(
    config['systemInstruction'],
    config['system_instruction'],
  );
  const found = given.find((value) => value !== undefined && value !== null);
  const text = found === undefined ? '' : textIn(found);
  return text === '' ? undefined : text;
}

function textIn(given: JsonValue | undefined): string {
  if (typeof given === 'string') return given;
  if (Array.isArray(given)) return given.map(textIn).join('');
  return isJsonObject(given)
    ? (textField(given, 'text') ?? textIn(listField(given, 'parts') as JsonValue))
    : '';
}
