import { type Message, textOf } from '../../messages/message.js';
import type { LanguageModel, ModelEvent, ModelRequest } from './language-model.js';
import { speak } from './scripted-model.js';

/**
 * A model without a network connection. It shows what the context contains, to try memory without an API key.
 */
export class OfflineModel implements LanguageModel {
  readonly origin = { provider: 'offline', model: 'offline' } as const;
  readonly #wordMs: number;

  /** @param options `wordMs`: pause between words, in ms */
  constructor(options: { readonly wordMs?: number } = {}) {
    this.#wordMs = options.wordMs ?? 15;
  }

  stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    return speak({ text: answerTo(request.messages), wordMs: this.#wordMs }, request, 0);
  }
}

function answerTo(messages: readonly Message[]): string {
  const said = messages
    .filter((message) => message.role === 'user' && message.kind === undefined)
    .map(textOf);
  const memory = messages.find((message) => message.kind === 'memory');
  const before = said.slice(0, -1);
  const lines = [`(offline model) You said: "${shorten(said.at(-1) ?? '')}".`];
  if (before.length === 0) lines.push('That is the first thing I know of you.');
  else
    lines.push(
      `I still know ${before.length} earlier ${before.length === 1 ? 'message' : 'messages'}; the first was "${shorten(before[0]!)}".`,
    );
  if (memory) lines.push('From before that I keep a summary.');
  return lines.join(' ');
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 80 ? line : `${line.slice(0, 77).toWellFormed()}...`;
}
