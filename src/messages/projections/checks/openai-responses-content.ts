/** Checks the content of message items and outputs of the Responses API: the parts allowed for each role, none of them blank. */
import type { JsonObject } from '../../../core/json.js';
import { imageUrlProblem } from './openai-media.js';
import { fieldOf, isBlank, isFilledText, quote, type Report } from './request-check.js';

const ROLES = new Set<unknown>(['user', 'assistant', 'system', 'developer']);
const SAID = ['output_text', 'refusal'];
const GIVEN = ['input_text', 'input_image', 'input_file'];

export function checkResponsesMessage(item: JsonObject, path: string, report: Report): void {
  const { role, content } = item;
  if (!ROLES.has(role))
    report('openai-responses/2.0', `${path}/role`, `The role ${quote(role)} is not known.`);
  const place = `${path}/content`;
  if (typeof content === 'string') {
    if (isBlank(content)) report('openai-responses/2.11', place, 'The message is blank.');
  } else if (!Array.isArray(content)) {
    report('openai-responses/2.0', place, 'The content is neither a text nor a list of parts.');
  } else if (content.length === 0) report('openai-responses/2.11', place, 'The message has no parts.');
  else checkResponsesParts(content, place, role === 'assistant' ? SAID : GIVEN, report);
}

export function checkResponsesParts(
  parts: readonly unknown[],
  place: string,
  allowed: readonly string[],
  report: Report,
): void {
  parts.forEach((part, i) => {
    const type = fieldOf(part, 'type');
    if (typeof type === 'string' && allowed.includes(type)) checkPart(type, part, `${place}/${i}`, report);
    else report('openai-responses/2.0', `${place}/${i}`, `A part of type ${quote(type)} may not be here.`);
  });
}

function checkPart(type: string, part: unknown, path: string, report: Report): void {
  if (type === 'input_image' || type === 'input_file') {
    const problem = type === 'input_image' ? imageProblem(part) : fileProblem(part);
    if (problem !== null) report('openai-responses/2.0', path, problem);
    return;
  }
  const text = fieldOf(part, type === 'refusal' ? 'refusal' : 'text');
  if (typeof text !== 'string') report('openai-responses/2.0', path, 'The part has no text.');
  else if (isBlank(text)) report('openai-responses/2.11', path, 'The text of the part is blank.');
}

function imageProblem(part: unknown): string | null {
  return isFilledText(fieldOf(part, 'file_id')) ? null : imageUrlProblem(fieldOf(part, 'image_url'));
}

function fileProblem(part: unknown): string | null {
  const sources = ['file_id', 'file_data', 'file_url'];
  return sources.some((key) => isFilledText(fieldOf(part, key))) ? null : 'The part has no file.';
}
