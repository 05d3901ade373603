/** Checks the parts of a Gemini request one by one, and the signatures that the current turn needs. */
import { isJsonObject } from '../../../core/json.js';
import { type Content, isResponse, type PlacedPart } from './gemini-contents.js';
import { fieldOf, isFilledText, isPlainObject, quote, type Report } from './request-check.js';
import { isBase64 } from './request-media.js';

/** A part holds exactly one of these. */
const DATA = new Set([
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
  'audioTranscription',
]);
const ABOUT = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
  'mediaProcessing',
  'speechMetadata',
]);
/** Base64 in either alphabet; the documented placeholders for a missing signature match too. */
const SIGNATURE = /^[A-Za-z0-9+/_-]+={0,2}$/;

export function checkGeminiPart({ part, path }: PlacedPart, report: Report): void {
  if (!isJsonObject(part)) {
    report('gemini/4.0', path, 'The part is not an object.');
    return;
  }
  checkFields(part, path, report);
  const signature = part['thoughtSignature'];
  if (signature !== undefined && !(typeof signature === 'string' && SIGNATURE.test(signature))) {
    report('gemini/4.7', `${path}/thoughtSignature`, 'The signature is not Base64.');
  }
  const { functionCall, functionResponse } = part;
  if (functionCall !== undefined && !isPlainObject(fieldOf(functionCall, 'args') ?? {})) {
    report('gemini/4.5', `${path}/functionCall/args`, 'The arguments are not an object.');
  }
  if (functionResponse !== undefined && !isPlainObject(fieldOf(functionResponse, 'response'))) {
    report('gemini/4.5', `${path}/functionResponse/response`, 'The response is not an object.');
  }
  checkMedia(part, path, report);
}

function checkFields(part: object, path: string, report: Report): void {
  const keys = Object.keys(part).filter((key) => fieldOf(part, key) !== undefined);
  const data = keys.filter((key) => DATA.has(key));
  const unknown = keys.find((key) => !DATA.has(key) && !ABOUT.has(key));
  if (unknown !== undefined)
    report('gemini/4.2', path, `The field ${quote(unknown)} of the part is not known.`);
  else if (data.length === 0) report('gemini/4.2', path, 'The part is empty.');
  else if (data.length > 1) report('gemini/4.0', path, `The part holds ${data.join(' and ')} at once.`);
  const text = fieldOf(part, 'text');
  if (text === undefined) return;
  if (typeof text !== 'string') report('gemini/4.0', `${path}/text`, 'The text of the part is none.');
  // A signature may be in a part of its own with an empty text.
  else if (text === '' && fieldOf(part, 'thoughtSignature') === undefined) {
    report('gemini/4.2', `${path}/text`, 'The text of the part is empty.');
  }
}

function checkMedia(part: object, path: string, report: Report): void {
  const inline = fieldOf(part, 'inlineData');
  if (inline !== undefined) {
    const data = fieldOf(inline, 'data');
    const isWhole = isMime(fieldOf(inline, 'mimeType')) && typeof data === 'string' && isBase64(data);
    if (!isWhole) report('gemini/4.12', `${path}/inlineData`, 'The media have no type or no Base64 data.');
  }
  const file = fieldOf(part, 'fileData');
  if (file !== undefined && !isFilledText(fieldOf(file, 'fileUri'))) {
    report('gemini/4.12', `${path}/fileData`, 'The file has no URI.');
  }
}

function isMime(type: unknown): boolean {
  return typeof type === 'string' && /^[a-z]+\/[^\s/*]+$/i.test(type);
}

/** Checks from the user's latest text on: the API does not validate earlier turns. */
export function checkGeminiSignatures(contents: readonly Content[], report: Report): void {
  const start = contents.findLastIndex((content) => content.role === 'user' && startsTurn(content));
  for (const content of contents.slice(Math.max(start, 0))) {
    if (content.role !== 'model') continue;
    const call = content.parts.find(({ part }) => fieldOf(part, 'functionCall') !== undefined);
    if (!call || fieldOf(call.part, 'thoughtSignature') !== undefined) continue;
    report('gemini/4.7', call.path, 'The first call of a content in the current turn has no signature.');
  }
}

/** Text next to responses does not start a new turn. */
function startsTurn(content: Content): boolean {
  return !isResponse(content) && content.parts.some(({ part }) => isFilledText(fieldOf(part, 'text')));
}
