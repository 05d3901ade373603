/** Checks the input items of a request to the OpenAI Responses API one by one. `openai-responses-order.ts` checks their order. */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { argumentsProblem, functionNameProblem } from './openai-functions.js';
import { checkResponsesMessage, checkResponsesParts } from './openai-responses-content.js';
import { checkCallPairs, checkItemIds, checkReasoningFollowers } from './openai-responses-order.js';
import {
  fieldOf,
  isBlank,
  isFilledText,
  listOf,
  quote,
  type Report,
  type RequestViolation,
  violationsOf,
} from './request-check.js';
import { checkText } from './request-text.js';

const CALL_ID_LENGTH_MAX = 64;
const OUTPUT_LENGTH_MAX = 10_485_760;

export function checkOpenAiResponsesRequest(request: unknown): RequestViolation[] {
  return violationsOf((report) => {
    // The server may store the calls and items that this request refers to.
    const continued = isJsonObject(request) && (request['previous_response_id'] ?? request['conversation']);
    const isStored = fieldOf(request, 'store') === true;
    const items = inputItems(request, report);
    items.forEach((item, i) => {
      checkItem(item, `input/${i}`, isStored, report);
    });
    checkCallPairs(items, Boolean(continued), report);
    checkItemIds(items, report);
    checkReasoningFollowers(items, report);
    checkTools(fieldOf(request, 'tools'), report);
    checkText(request, 'openai-responses/2.14', report);
  });
}

function inputItems(request: unknown, report: Report): readonly unknown[] {
  const input = fieldOf(request, 'input');
  if (typeof input === 'string') {
    if (isBlank(input)) report('openai-responses/2.11', 'input', 'The input is blank.');
  } else if (listOf(input).length === 0) report('openai-responses/2.0', 'input', 'The request has no input.');
  return listOf(input);
}

function checkItem(item: unknown, path: string, isStored: boolean, report: Report): void {
  if (!isJsonObject(item)) {
    report('openai-responses/2.0', path, 'The item is not an object.');
    return;
  }
  switch (item['type'] ?? 'message') {
    case 'message':
      checkResponsesMessage(item, path, report);
      return;
    case 'function_call':
      checkCall(item, path, report);
      return;
    case 'function_call_output':
      checkOutput(item, path, report);
      return;
    case 'reasoning':
      checkReasoning(item, path, isStored, report);
      return;
    case 'item_reference':
      if (!isStored) report('openai-responses/2.5', path, 'The item refers to one that was not stored.');
      return;
    default:
      if (typeof item['type'] !== 'string') {
        report('openai-responses/2.0', `${path}/type`, 'The type of the item is not a text.');
      }
  }
}

function checkCall(item: JsonObject, path: string, report: Report): void {
  checkCallId(item['call_id'], path, report);
  const name = functionNameProblem(item['name']);
  if (name !== null) report('openai-responses/2.12', `${path}/name`, name);
  const problem = argumentsProblem(item['arguments']);
  if (problem !== null) report('openai-responses/2.13', `${path}/arguments`, problem);
}

function checkCallId(id: unknown, path: string, report: Report): void {
  if (isFilledText(id) && id.length <= CALL_ID_LENGTH_MAX) return;
  const reason = `The call id ${quote(id)} does not have 1 to ${CALL_ID_LENGTH_MAX} characters.`;
  report('openai-responses/2.2', `${path}/call_id`, reason);
}

function checkOutput(item: JsonObject, path: string, report: Report): void {
  checkCallId(item['call_id'], path, report);
  const output = item['output'];
  const place = `${path}/output`;
  if (typeof output === 'string') {
    if (output.length <= OUTPUT_LENGTH_MAX) return;
    report('openai-responses/2.2', place, `The output is longer than ${OUTPUT_LENGTH_MAX} characters.`);
  } else if (Array.isArray(output) && output.length > 0) {
    checkResponsesParts(output, place, ['input_text', 'input_image', 'input_file'], report);
  } else report('openai-responses/2.2', place, 'The output is neither a text nor a list of parts.');
}

function checkReasoning(item: JsonObject, path: string, isStored: boolean, report: Report): void {
  const summary = item['summary'];
  const isSummary = listOf(summary).every((part) => typeof fieldOf(part, 'text') === 'string');
  if (!Array.isArray(summary) || !isSummary) {
    report('openai-responses/2.8', `${path}/summary`, 'The reasoning item has no list of summary texts.');
  }
  if (isFilledText(item['encrypted_content'])) return;
  if (isStored && isFilledText(item['id'])) return;
  const reason = isStored
    ? 'The reasoning item has neither an id nor its encrypted content.'
    : 'The reasoning was not stored, and its encrypted content is missing.';
  report('openai-responses/2.5', `${path}/encrypted_content`, reason);
}

function checkTools(tools: unknown, report: Report): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools)) {
    report('openai-responses/2.0', 'tools', 'The tools are not a list.');
    return;
  }
  tools.forEach((tool: unknown, i) => {
    if (fieldOf(tool, 'type') !== 'function') return;
    const problem = functionNameProblem(fieldOf(tool, 'name'));
    if (problem !== null) report('openai-responses/2.12', `tools/${i}/name`, problem);
  });
}
