/** Checks the parts of AI SDK messages one by one: their fields, the data of media, and tool outputs. */
import {
  fieldOf,
  isBlank,
  isFilledText,
  isPlainObject,
  listOf,
  quote,
  type Report,
} from './request-check.js';
import { isBase64, isWebUrl, parseDataUrl } from './request-media.js';

export function checkAiSdkPart(part: unknown, path: string, report: Report): void {
  switch (fieldOf(part, 'type')) {
    case 'text':
      checkTextPart(part, path, report);
      return;
    case 'reasoning':
      if (typeof fieldOf(part, 'text') !== 'string') report('ai-sdk/7.1', path, 'The reasoning has no text.');
      return;
    case 'image':
      checkMedia(fieldOf(part, 'image'), fieldOf(part, 'mediaType') ?? 'image/*', path, report);
      return;
    case 'file':
      checkMedia(fieldOf(part, 'data'), fieldOf(part, 'mediaType'), path, report);
      return;
    case 'tool-call':
      checkName(part, path, report);
      if (isPlainObject(fieldOf(part, 'input'))) return;
      report('ai-sdk/7.7', `${path}/input`, 'The input of the call is not an object.');
      return;
    case 'tool-result':
      checkName(part, path, report);
      checkOutput(fieldOf(part, 'output'), `${path}/output`, report);
      return;
    default:
      if (isFilledText(fieldOf(part, 'approvalId'))) return;
      report('ai-sdk/7.1', path, 'The part does not say which approval it is about.');
  }
}

/** A part without text may still carry a provider's signature. */
function checkTextPart(part: unknown, path: string, report: Report): void {
  const text = fieldOf(part, 'text');
  if (typeof text !== 'string') report('ai-sdk/7.1', path, 'The part has no text.');
  else if (isBlank(text) && fieldOf(part, 'providerOptions') === undefined) {
    report('ai-sdk/7.6', `${path}/text`, 'The text of the part is blank.');
  }
}

function checkName(part: unknown, path: string, report: Report): void {
  if (isFilledText(fieldOf(part, 'toolName'))) return;
  report('ai-sdk/7.1', `${path}/toolName`, 'The part does not name its tool.');
}

function checkMedia(data: unknown, mediaType: unknown, path: string, report: Report): void {
  if (!isFilledText(mediaType)) report('ai-sdk/7.9', `${path}/mediaType`, 'The media have no type.');
  if (isMediaData(data)) return;
  report('ai-sdk/7.9', path, 'The media are neither bytes, nor Base64, nor a URL.');
}

function isMediaData(data: unknown): boolean {
  if (data instanceof URL) return true;
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return data.byteLength > 0;
  if (typeof data !== 'string') return false;
  const dataUrl = parseDataUrl(data);
  return dataUrl ? isBase64(dataUrl.data) : isWebUrl(data) || isBase64(data);
}

function checkOutput(output: unknown, path: string, report: Report): void {
  const problem = outputProblem(output);
  if (problem !== null) report('ai-sdk/7.8', path, problem);
}

function outputProblem(output: unknown): string | null {
  const value = fieldOf(output, 'value');
  switch (fieldOf(output, 'type')) {
    case 'text':
    case 'error-text':
      return typeof value === 'string' ? null : 'The output has no text.';
    case 'json':
    case 'error-json':
      return value === undefined ? 'The output has no value.' : null;
    case 'content':
      if (!Array.isArray(value)) return 'The output has no list of parts.';
      return (
        listOf(value)
          .map(contentProblem)
          .find((problem) => problem !== null) ?? null
      );
    case 'execution-denied':
      return typeof (fieldOf(output, 'reason') ?? '') === 'string' ? null : 'The reason is not a text.';
    default:
      return `The output type ${quote(fieldOf(output, 'type'))} is not known.`;
  }
}

function contentProblem(part: unknown): string | null {
  const type = fieldOf(part, 'type');
  switch (type) {
    case 'text':
      return typeof fieldOf(part, 'text') === 'string' ? null : 'A part of the output has no text.';
    case 'media':
    case 'file-data':
    case 'image-data':
      return isFilledText(fieldOf(part, 'data')) && isFilledText(fieldOf(part, 'mediaType'))
        ? null
        : 'A part of the output has no data or no media type.';
    case 'file-url':
    case 'image-url':
      return isFilledText(fieldOf(part, 'url')) ? null : 'A part of the output has no URL.';
    case 'file-id':
    case 'image-file-id':
      return fieldOf(part, 'fileId') === undefined ? 'A part of the output names no file.' : null;
    case 'custom':
      return null;
    default:
      return `A part of type ${quote(type)} may not be in an output.`;
  }
}
