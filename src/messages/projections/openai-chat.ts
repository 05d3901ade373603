/**
 * Projects messages to a request of the OpenAI Chat Completions API, or of a compatible server.
 *
 * Arguments are the model's own text. Images that a tool returned follow in a user message after the whole block,
 * because tool messages accept only text. The flavors `strict` and `mistral` are for templates with alternating user
 * and assistant turns.
 */
import type { JsonObject } from '../../core/json.js';
import {
  isBlankText,
  type Media,
  type Message,
  mediaOf,
  partsOf,
  toolCallsOf,
  toolResultOf,
} from '../message.js';
import { argumentsTextOf } from './call-arguments.js';
import type { SentMedia } from './media-plan.js';
import { Preparation } from './preparation.js';
import { BRIDGE_TEXT, type Projection, type ProjectionTarget } from './projection.js';
import { hasReasoning, saidParts } from './reasoning-origin.js';
import { markedOutputText, partTexts } from './tool-output.js';

export type OpenAiChatPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
  | { type: 'file'; file: { file_data: string; filename: string } };

export interface OpenAiChatCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export type OpenAiChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | OpenAiChatPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: OpenAiChatCall[]; prefix?: true }
  | { role: 'tool'; tool_call_id: string; name?: string; content: string };

/** Body of a request to the Chat Completions API. */
export interface OpenAiChatRequest {
  model?: string;
  messages: OpenAiChatMessage[];
  tools?: { type: 'function'; function: { name: string; description: string; parameters: JsonObject } }[];
}

const AUDIO_FORMATS: ReadonlyMap<string, 'wav' | 'mp3'> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
]);

/** The text of a result that has only media. */
const SHOWN_TEXT = 'The result is shown below.';

/** Other media than images must be bytes: a URL is accepted only for images. */
function accepts(media: Media, mime: string): boolean {
  if (/^https?:/.test(media.ref)) return false;
  return (
    (media.kind === 'audio' && AUDIO_FORMATS.has(mime)) ||
    (media.kind === 'file' && mime === 'application/pdf')
  );
}

export function projectOpenAiChat(
  messages: readonly Message[],
  target: ProjectionTarget = {},
): Projection<OpenAiChatRequest> {
  const preparation = new Preparation('openai-chat', messages, target, accepts);
  const builder = new ChatBuilder(preparation);
  for (const { message } of preparation.conversation()) {
    if (message.role === 'assistant') builder.addAssistant(message);
    else if (message.role === 'tool') builder.addResult(message);
    else builder.addUser(userContent(message, preparation));
  }
  builder.end();
  const system = preparation.systemText;
  const tools = preparation.tools(false).map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: inputSchema },
  }));
  return preparation.finish({
    ...(target.model === undefined ? {} : { model: target.model }),
    messages: [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...builder.messages],
    ...(tools.length === 0 ? {} : { tools }),
  });
}

class ChatBuilder {
  readonly messages: OpenAiChatMessage[] = [];
  readonly #preparation: Preparation;
  /** User and assistant must alternate, and only the assistant may speak after a tool. */
  readonly #strict: boolean;
  readonly #mistral: boolean;
  /** Media that the results of the current block returned. */
  #shown: OpenAiChatPart[] = [];

  constructor(preparation: Preparation) {
    this.#preparation = preparation;
    const { flavor } = preparation.target;
    this.#strict = flavor === 'strict' || flavor === 'mistral';
    this.#mistral = flavor === 'mistral';
  }

  addUser(content: string | OpenAiChatPart[]): void {
    this.#endBlock();
    this.#pushUser(content);
  }

  addAssistant(message: Message): void {
    this.#endBlock();
    this.#preparation.omitProviderItems(message);
    if (hasReasoning(message)) this.#preparation.omitReasoning('this API takes none back');
    const text = saidParts(message)
      .flatMap((part) => (part.type === 'text' && !isBlankText(part.text) ? [part.text] : []))
      .join('');
    const ids = this.#preparation.callIds(message);
    const calls = toolCallsOf(message).map((call, index): OpenAiChatCall => {
      const name = this.#preparation.toolName(call.name);
      return { id: ids[index]!, type: 'function', function: { name, arguments: argumentsTextOf(call) } };
    });
    if (text === '' && calls.length === 0)
      this.#preparation.note('message-omitted', 'nothing of it can be sent here');
    else this.#pushAssistant(text, calls);
  }

  addResult(message: Message): void {
    const result = toolResultOf(message)!;
    const texts = [markedOutputText(result), ...partTexts(message)];
    let moved = '';
    for (const media of mediaOf(message)) {
      const planned = this.#preparation.media(media);
      if (typeof planned === 'string') texts.push(planned);
      else {
        this.#preparation.note('media-moved', `the ${media.kind} of ${result.toolName} follows its results`);
        this.#shown.push(mediaPart(planned));
        moved = SHOWN_TEXT;
      }
    }
    const text = texts.filter((line) => !isBlankText(line)).join('\n');
    this.messages.push({
      role: 'tool',
      tool_call_id: this.#preparation.ids.ofResult(result.toolCallId),
      ...(this.#mistral ? { name: this.#preparation.toolName(result.toolName) } : {}),
      content: text === '' ? moved : text,
    });
  }

  end(): void {
    this.#endBlock();
    const added = this.#preparation.addedUserTurn();
    if (added !== null) this.#pushUser(added);
    const last = this.messages[this.messages.length - 1];
    if (this.#mistral && last?.role === 'assistant') last.prefix = true;
  }

  #endBlock(): void {
    if (this.#shown.length === 0) return;
    const shown = this.#shown;
    this.#shown = [];
    this.#pushUser(shown);
  }

  #pushUser(content: string | OpenAiChatPart[]): void {
    const last = this.messages[this.messages.length - 1];
    if (this.#strict && last?.role === 'tool') {
      this.#preparation.note('assistant-bridge-added', 'the assistant has to speak after a tool');
      this.messages.push({ role: 'assistant', content: BRIDGE_TEXT });
    }
    if (this.#strict && last?.role === 'user') last.content = joined(last.content, content);
    else this.messages.push({ role: 'user', content });
  }

  #pushAssistant(text: string, calls: OpenAiChatCall[]): void {
    const last = this.messages[this.messages.length - 1];
    const tool_calls = calls.length === 0 ? {} : { tool_calls: calls };
    if (this.#strict && last?.role === 'assistant') {
      last.content = [last.content ?? '', text].filter((part) => part !== '').join('\n\n');
      Object.assign(last, tool_calls);
    } else this.messages.push({ role: 'assistant', content: text === '' ? this.#none : text, ...tool_calls });
  }

  /** Next to calls: null, unless the template requires a text. */
  get #none(): '' | null {
    return this.#strict ? '' : null;
  }
}

function joined(
  first: string | OpenAiChatPart[],
  second: string | OpenAiChatPart[],
): string | OpenAiChatPart[] {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  return [...asParts(first), ...asParts(second)];
}

function asParts(content: string | OpenAiChatPart[]): OpenAiChatPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** A plain text if possible: some servers with strict templates accept nothing else. */
function userContent(message: Message, preparation: Preparation): string | OpenAiChatPart[] {
  const parts = partsOf(message).flatMap((part): OpenAiChatPart[] => {
    if (part.type === 'reasoning') return [];
    if (part.type === 'text') return isBlankText(part.text) ? [] : [{ type: 'text', text: part.text }];
    const planned = preparation.media(part.media);
    return [typeof planned === 'string' ? { type: 'text', text: planned } : mediaPart(planned)];
  });
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text') return only.text;
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const { flavor } = preparation.target;
  const takesParts = flavor === undefined || flavor === 'openai' || texts.length < parts.length;
  return takesParts ? parts : texts.join('\n\n');
}

function mediaPart({ media, data }: SentMedia): OpenAiChatPart {
  if (data.kind === 'url') return { type: 'image_url', image_url: { url: data.url } };
  const url = `data:${data.mime};base64,${data.data}`;
  if (media.kind === 'image') return { type: 'image_url', image_url: { url } };
  const format = AUDIO_FORMATS.get(data.mime);
  if (format) return { type: 'input_audio', input_audio: { data: data.data, format } };
  return { type: 'file', file: { file_data: url, filename: media.name ?? 'document.pdf' } };
}
