/**
 * The content of a SpecStory message. A call and its result are one element there, rendered for reading, so the arguments
 * are lost: the call keeps its summary, and the result is the text of the element.
 */
import type { Message, ReasoningItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { originOfModel } from '../reading/record-fields.js';
import type { TextLine } from '../reading/split-lines.js';
import { closesFence, type Fence, opensFence } from './code-fences.js';
import { textOfLines } from './line-block.js';

const CALL = /^<tool-use\b[^<>]{0,1000}?\bdata-tool-name="([^"<>]{0,200})"/;
const OLD_CALL = /^Tool use: \*\*/m;

export function questionFrom(lines: readonly TextLine[]): Message[] {
  const content = trimmed(lines);
  return content === '' ? [] : [{ role: 'user', content }];
}

/** An answer up to each call, and its result; then the rest. */
export function answersFrom(
  lines: readonly TextLine[],
  model: string | undefined,
  losses: LossAccount,
): Message[] {
  const messages: Message[] = [];
  const origin = originOfModel(model);
  let texts: string[] = [];
  let reasoning: ReasoningItem[] = [];
  const answer = (payload: Pick<Message, 'toolPayload'>) => {
    const said = texts.length === 0 ? null : texts.join('\n\n');
    if (said === null && reasoning.length === 0 && !payload.toolPayload) return;
    const thought = reasoning.length === 0 ? {} : { reasoning };
    messages.push({ role: 'assistant', content: said, ...thought, ...payload, ...origin });
    texts = [];
    reasoning = [];
  };
  for (const { element, of } of elementsOf(lines)) {
    const place = `line ${of[0]!.line}`;
    if (element === 'think') reasoning.push({ text: thoughtOf(of), ...origin });
    else if (element === 'tool-use') {
      losses.approximate('a tool call as it was shown, without its arguments', place);
      const { call, result } = callFrom(of);
      answer({ toolPayload: { toolCalls: [call] } });
      messages.push(result);
    } else {
      const text = trimmed(of);
      if (OLD_CALL.test(text)) losses.approximate('a tool call in words, as text', place);
      if (text !== '') texts.push(text);
    }
  }
  answer({});
  return messages;
}

interface Element {
  readonly element: 'text' | 'think' | 'tool-use';
  readonly of: TextLine[];
}

/** Elements begin outside code. One that does not end takes the rest of the message. */
function elementsOf(lines: readonly TextLine[]): Element[] {
  const elements: Element[] = [];
  let open: Element | null = null;
  let fence: Fence | null = null;
  for (const line of lines) {
    if (!open && !fence && /^<(?:think|tool-use)\b/.test(line.text)) {
      open = { element: line.text.startsWith('<think') ? 'think' : 'tool-use', of: [] };
      elements.push(open);
    }
    if (open) {
      open.of.push(line);
      if (line.text.trimEnd().endsWith(`</${open.element}>`)) open = null;
    } else {
      fence = fence ? (closesFence(line.text, fence) ? null : fence) : opensFence(line.text);
      if (elements.at(-1)?.element === 'text') elements.at(-1)!.of.push(line);
      else elements.push({ element: 'text', of: [line] });
    }
  }
  return elements;
}

function thoughtOf(lines: readonly TextLine[]): string {
  const { before, after } = summaryIn(textOfLines(lines));
  return withoutEnds(before + after, ['<think>', '<details>'], ['</think>', '</details>']);
}

function callFrom(lines: readonly TextLine[]) {
  const text = textOfLines(lines);
  const id = `specstory_${lines[0]!.line}`;
  const name = unescaped(CALL.exec(text)?.[1] ?? '');
  const { before, summary, after } = summaryIn(text.slice(text.indexOf('>') + 1));
  const shown = unescaped(summary.trim()).replace(/^Tool use: \*\*[^*]{0,200}\*\*(?: •)?/, '');
  const body = withoutEnds(before + after, ['<details>'], ['</tool-use>', '</details>']);
  const result: Message = {
    role: 'tool',
    content: null,
    toolPayload: { toolCallId: id, toolName: name, toolResult: body, toolError: null },
  };
  return { call: { id, name, arguments: shown === '' ? {} : { shown: shown.trim() } }, result };
}

function summaryIn(text: string): {
  readonly before: string;
  readonly summary: string;
  readonly after: string;
} {
  const from = text.indexOf('<summary>');
  const end = from < 0 ? -1 : text.indexOf('</summary>', from);
  if (end < 0) return { before: text, summary: '', after: '' };
  const summary = text.slice(from + '<summary>'.length, end);
  return { before: text.slice(0, from), summary, after: text.slice(end + '</summary>'.length) };
}

/** Removes tags, each once, from the outside. */
function withoutEnds(text: string, starts: readonly string[], ends: readonly string[]): string {
  let rest = text.trim();
  for (const tag of starts) if (rest.startsWith(tag)) rest = rest.slice(tag.length).trimStart();
  for (const tag of ends) if (rest.endsWith(tag)) rest = rest.slice(0, -tag.length).trimEnd();
  return rest;
}

/** Without the separators around it. */
function trimmed(lines: readonly TextLine[]): string {
  const isSaid = ({ text }: TextLine) => text.trim() !== '' && text.trim() !== '---';
  const from = lines.findIndex(isSaid);
  return from < 0 ? '' : textOfLines(lines.slice(from, lines.findLastIndex(isSaid) + 1));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? '');
}
