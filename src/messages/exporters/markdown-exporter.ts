/**
 * Writes a conversation for people to read: a heading for each turn, messages as quotations, calls and results as code.
 *
 * It is a report and cannot be imported again: it leaves out bytes of media, signatures, encrypted reasoning and ids.
 */
import type { JsonValue } from '../../core/json.js';
import {
  type ContentPart,
  type Media,
  type Message,
  type ToolCallSpec,
  type ToolResultPayload,
  toolCallsOf,
  toolResultOf,
} from '../message.js';
import { contentPartsOf } from './export-media.js';
import { codeSpan, fenced, quoted } from './markdown-fences.js';
import type { TranscriptExporter } from './transcript-exporter.js';

const SPEAKERS = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const;

export const markdownExporter: TranscriptExporter = {
  format: 'markdown',
  title: 'Markdown for people',
  extension: '.md',
  *write(messages, options) {
    yield `# Conversation of ${codeSpan(options.agentId)}\n`;
    let turn = 0;
    for (const message of messages) {
      if (opensTurn(message)) {
        turn += 1;
        yield `\n## Turn ${turn}\n`;
      }
      yield sectionOf(message);
    }
  },
};

function opensTurn(message: Message): boolean {
  return message.role === 'user' && message.kind === undefined && !message.synthetic;
}

function sectionOf(message: Message): string {
  const result = toolResultOf(message);
  const blocks = [
    ...(message.reasoningContent && !message.reasoning ? [detailsOf(message.reasoningContent)] : []),
    ...contentPartsOf(message).map(blockOf),
    ...toolCallsOf(message).map(callBlock),
    ...(result ? [resultBlock(result)] : []),
    ...(message.status ? [`*The answer was cut off (${message.status}).*\n`] : []),
  ].filter((block) => block !== '');
  return [`\n### ${headingOf(message, result)}\n`, ...blocks.map((block) => `\n${block}`)].join('');
}

function headingOf(message: Message, result: ToolResultPayload | null): string {
  if (result) return `${result.toolError === null ? 'Result' : 'Error'} of ${codeSpan(result.toolName)}`;
  if (message.kind === 'recall') return 'Recalled from earlier messages';
  return message.kind === 'memory' ? 'Summary of earlier messages' : SPEAKERS[message.role];
}

function blockOf(part: ContentPart): string {
  if (part.type === 'text') return part.text.trim() === '' ? '' : quoted(part.text);
  if (part.type === 'media') return mediaBlock(part.media);
  return part.reasoning.text === null || part.reasoning.text === '' ? '' : detailsOf(part.reasoning.text);
}

/** The blank lines are needed for Markdown to parse the code block inside. */
function detailsOf(reasoning: string): string {
  return `<details>\n<summary>Reasoning</summary>\n\n${fenced(reasoning)}\n</details>\n`;
}

/** A link, never an inline image: opening a report must not fetch anything. */
function mediaBlock(media: Media): string {
  const label = media.name === undefined ? `[${media.kind}]` : `[${media.kind}: ${media.name}]`;
  if (!/^https?:\/\//i.test(media.ref)) return `${codeSpan(label)}\n`;
  const url = media.ref.replace(/[\s<>\\`]/g, (character) => encodeURIComponent(character));
  return `[${codeSpan(label)}](<${url}>)\n`;
}

function callBlock(call: ToolCallSpec): string {
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments, null, 2);
  return `Call of ${codeSpan(call.name)}:\n\n${fenced(text, typeof call.arguments === 'string' ? '' : 'json')}`;
}

function resultBlock({ toolError, toolResult }: ToolResultPayload): string {
  if (toolError !== null) return fenced(toolError);
  return toolResult === null ? '' : valueBlock(toolResult);
}

function valueBlock(value: JsonValue): string {
  return typeof value === 'string' ? fenced(value) : fenced(JSON.stringify(value, null, 2), 'json');
}
