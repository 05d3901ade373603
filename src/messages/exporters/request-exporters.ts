/** Exports as a provider request: the projection as it would be sent, without a turn added at its end. */
import { project } from '../projections/project.js';
import type { TranscriptExporter } from './transcript-exporter.js';

export const openAiChatExporter: TranscriptExporter = {
  format: 'openai-chat',
  title: 'OpenAI Chat Completions messages',
  extension: '.json',
  write: (messages, { artifacts }) => {
    const { request } = project('openai-chat', messages, {
      ending: 'as-is',
      ...(artifacts ? { artifacts } : {}),
    });
    return documentOf({}, 'messages', request.messages);
  },
};

export const anthropicExporter: TranscriptExporter = {
  format: 'anthropic',
  title: 'Anthropic Messages request',
  extension: '.json',
  write: (messages, { artifacts }) => {
    const target = { provider: 'anthropic', ending: 'as-is' as const, ...(artifacts ? { artifacts } : {}) };
    const { messages: list, ...rest } = project('anthropic', messages, target).request;
    return documentOf(rest, 'messages', list);
  },
};

export const openAiResponsesExporter: TranscriptExporter = {
  format: 'openai-responses',
  title: 'OpenAI Responses request',
  extension: '.json',
  write: (messages, { artifacts }) => {
    const target = { ending: 'as-is' as const, ...(artifacts ? { artifacts } : {}) };
    const { input, ...rest } = project('openai-responses', messages, target).request;
    return documentOf(rest, 'input', input);
  },
};

export const geminiExporter: TranscriptExporter = {
  format: 'gemini',
  title: 'Gemini request',
  extension: '.json',
  write: (messages, { artifacts }) => {
    const target = { ending: 'as-is' as const, ...(artifacts ? { artifacts } : {}) };
    const { contents, ...rest } = project('gemini', messages, target).request;
    return documentOf(rest, 'contents', contents);
  },
};

/** One message per line, so that two exports can be compared. */
function* documentOf(fields: object, list: string, messages: readonly object[]): Generator<string> {
  yield '{\n';
  for (const [key, value] of Object.entries(fields))
    yield `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`;
  yield `"${list}": [`;
  for (const [index, message] of messages.entries())
    yield `${index === 0 ? '' : ','}\n${JSON.stringify(message)}`;
  yield '\n]\n}\n';
}
