/**
 * Projects messages to a request of the Gemini API (`generateContent`).
 *
 * The results of one batch form one content with nothing else in it. Thought signatures stay on the part that they came
 * with; calls of other models in the current turn get the documented placeholder. Thoughts themselves are not sent
 * back.
 */
import type { JsonObject, JsonValue } from '../../core/json.js';
import { callOptionsOf } from '../ai-sdk-metadata.js';
import {
  isBlankText,
  type Media,
  type Message,
  mediaOf,
  partsOf,
  type ToolCallSpec,
  toolCallsOf,
  toolResultOf,
} from '../message.js';
import { argumentsObjectOf } from './call-arguments.js';
import type { SentMedia } from './media-plan.js';
import { Preparation } from './preparation.js';
import type { Projection, ProjectionTarget } from './projection.js';
import { hasReasoning, isOwn, saidParts } from './reasoning-origin.js';
import { partTexts } from './tool-output.js';

export interface GeminiPart {
  text?: string;
  inlineData?: { mimeType: string; data: string };
  fileData?: { fileUri: string; mimeType: string };
  functionCall?: { id: string; name: string; args: JsonObject };
  functionResponse?: { id: string; name: string; response: JsonObject };
  thoughtSignature?: string;
}

export interface GeminiContent {
  role: 'user' | 'model';
  parts: GeminiPart[];
}

/** Arguments for `generateContent` of the Gemini SDK. */
export interface GeminiRequest {
  model?: string;
  contents: GeminiContent[];
  config?: {
    systemInstruction?: string;
    tools?: {
      functionDeclarations: { name: string; description: string; parametersJsonSchema: JsonObject }[];
    }[];
  };
}

/** The API accepts this in place of a signature that a call never had. */
export const SIGNATURE_PLACEHOLDER = 'skip_thought_signature_validator';

const MEDIA_TYPES = /^(audio|video)\/|^application\/pdf$|^text\//;

function accepts(media: Media, mime: string): boolean {
  return MEDIA_TYPES.test(mime) && media.kind !== 'image';
}

export function projectGemini(
  messages: readonly Message[],
  target: ProjectionTarget = {},
): Projection<GeminiRequest> {
  const preparation = new Preparation('gemini', messages, target, accepts);
  const builder = new ContentBuilder(preparation);
  for (const { message, index } of preparation.conversation()) {
    if (message.role === 'assistant') builder.addModel(message, index);
    else if (message.role === 'tool') builder.addResponse(message);
    else builder.addUser(userParts(message, preparation));
  }
  const added = preparation.addedUserTurn();
  if (added !== null) builder.addUser([{ text: added }]);
  const contents = builder.end();
  const declarations = preparation.tools(true).map(({ name, description, inputSchema }) => ({
    name,
    description,
    parametersJsonSchema: inputSchema,
  }));
  const system = preparation.systemText;
  const config = {
    ...(system === '' ? {} : { systemInstruction: system }),
    ...(declarations.length === 0 ? {} : { tools: [{ functionDeclarations: declarations }] }),
  };
  return preparation.finish({
    ...(target.model === undefined ? {} : { model: target.model }),
    contents,
    ...(Object.keys(config).length === 0 ? {} : { config }),
  });
}

class ContentBuilder {
  readonly #contents: GeminiContent[] = [];
  readonly #preparation: Preparation;
  /** Calls without a signature. Placeholders are added once the start of the current turn is known. */
  readonly #unsigned: { readonly content: number; readonly part: GeminiPart; readonly index: number }[] = [];
  /** Media of the current results: a content of results must hold only results. */
  #shown: GeminiPart[] = [];
  /** Index of the content where the current turn started. */
  #turnStart = 0;

  constructor(preparation: Preparation) {
    this.#preparation = preparation;
  }

  addUser(parts: GeminiPart[]): void {
    this.#endBlock();
    const last = this.#contents[this.#contents.length - 1];
    if (last?.role === 'user' && !isResponses(last)) last.parts.push(...parts);
    else this.#contents.push({ role: 'user', parts });
    if (parts.some((part) => part.text !== undefined)) this.#turnStart = this.#contents.length - 1;
  }

  addModel(message: Message, index: number): void {
    this.#endBlock();
    const parts = this.#modelParts(message);
    if (parts.length === 0) {
      this.#preparation.note('message-omitted', 'nothing of it can be sent here');
      return;
    }
    const last = this.#contents[this.#contents.length - 1];
    const content = last?.role === 'model' ? last : { role: 'model' as const, parts: [] };
    if (content !== last) this.#contents.push(content);
    const isFirst = !content.parts.some((part) => part.functionCall);
    content.parts.push(...parts);
    const call = parts.find((part) => part.functionCall);
    if (isFirst && call && call.thoughtSignature === undefined)
      this.#unsigned.push({ content: this.#contents.length - 1, part: call, index });
  }

  addResponse(message: Message): void {
    const result = toolResultOf(message)!;
    const texts = partTexts(message);
    for (const media of mediaOf(message)) {
      const planned = this.#preparation.media(media);
      if (typeof planned === 'string') texts.push(planned);
      else {
        this.#preparation.note('media-moved', `the ${media.kind} of ${result.toolName} follows its results`);
        this.#shown.push(mediaPart(planned));
      }
    }
    const part: GeminiPart = {
      functionResponse: {
        id: this.#preparation.ids.ofResult(result.toolCallId),
        name: this.#preparation.toolName(result.toolName),
        response: responseOf(result.toolError, result.toolResult, texts),
      },
    };
    const last = this.#contents[this.#contents.length - 1];
    if (last && isResponses(last)) last.parts.push(part);
    else this.#contents.push({ role: 'user', parts: [part] });
  }

  end(): GeminiContent[] {
    this.#endBlock();
    if (!checksSignatures(this.#preparation.target.model)) return this.#contents;
    for (const { content, part, index } of this.#unsigned) {
      if (content < this.#turnStart) continue;
      part.thoughtSignature = SIGNATURE_PLACEHOLDER;
      this.#preparation.at(index);
      this.#preparation.note(
        'signature-placeholder',
        `the call of ${part.functionCall?.name} was never signed`,
      );
    }
    this.#preparation.at(null);
    return this.#contents;
  }

  /** The media get a content without text: it must not look like the start of a turn. */
  #endBlock(): void {
    if (this.#shown.length === 0) return;
    this.#contents.push({ role: 'user', parts: this.#shown });
    this.#shown = [];
  }

  #modelParts(message: Message): GeminiPart[] {
    this.#preparation.omitProviderItems(message);
    const own = isOwn(message.origin, 'google', this.#preparation.target);
    if (hasReasoning(message)) this.#preparation.omitReasoning('thoughts are not sent back');
    const ids = this.#preparation.callIds(message);
    const parts = saidParts(message).flatMap((part): GeminiPart[] => {
      if (part.type !== 'text' || isBlankText(part.text)) return [];
      return [
        {
          text: part.text,
          ...(own && isSignature(part.signature) ? { thoughtSignature: part.signature } : {}),
        },
      ];
    });
    for (const [index, call] of toolCallsOf(message).entries()) {
      const { value: args, hasLargeInteger } = argumentsObjectOf(call);
      if (hasLargeInteger)
        this.#preparation.note('large-integer-as-text', `in the arguments of ${call.name}`);
      const signature = own ? signatureOf(call, message) : undefined;
      parts.push({
        functionCall: { id: ids[index]!, name: this.#preparation.toolName(call.name), args },
        ...(signature === undefined ? {} : { thoughtSignature: signature }),
      });
    }
    return parts;
  }
}

/** The API accepts only base64, in either alphabet. A damaged signature counts as missing. */
function isSignature(text: string | undefined): text is string {
  return text !== undefined && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}

/** The call's own signature, or the one that the AI SDK stores next to it. */
function signatureOf(call: ToolCallSpec, message: Message): string | undefined {
  if (isSignature(call.signature)) return call.signature;
  for (const fields of Object.values(callOptionsOf(call, message) ?? {})) {
    const { thoughtSignature } = fields;
    if (typeof thoughtSignature === 'string' && isSignature(thoughtSignature)) return thoughtSignature;
  }
  return undefined;
}

/** Models before Gemini 3 accept calls without a signature. */
function checksSignatures(model: string | undefined): boolean {
  return model === undefined || !/gemini-(1|2)\b/.test(model);
}

function isResponses(content: GeminiContent): boolean {
  return content.parts[0]?.functionResponse !== undefined;
}

function responseOf(error: string | null, result: JsonValue, texts: readonly string[]): JsonObject {
  const notes = texts.length === 0 ? {} : { notes: [...texts] };
  return error === null ? { output: result, ...notes } : { error, ...notes };
}

function userParts(message: Message, preparation: Preparation): GeminiPart[] {
  return partsOf(message).flatMap((part): GeminiPart[] => {
    if (part.type === 'reasoning') return [];
    if (part.type === 'text') return isBlankText(part.text) ? [] : [{ text: part.text }];
    const planned = preparation.media(part.media);
    return [typeof planned === 'string' ? { text: planned } : mediaPart(planned)];
  });
}

function mediaPart({ data }: SentMedia): GeminiPart {
  if (data.kind === 'base64') return { inlineData: { mimeType: data.mime, data: data.data } };
  return { fileData: { fileUri: data.url, mimeType: data.mime } };
}
