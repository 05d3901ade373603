/** Checks calls and responses of a Gemini request: the content after the calls holds their responses and nothing else. */
import type { Content, PlacedPart } from './gemini-contents.js';
import { fieldOf, quote, type Report } from './request-check.js';

/** Other makers' models that Google serves require ids in their own alphabet. */
const FOREIGN_ID = /^[a-zA-Z0-9_-]{1,64}$/;

interface Placed {
  readonly value: unknown;
  readonly path: string;
}

export function checkGeminiCalls(contents: readonly Content[], model: string | null, report: Report): void {
  contents.forEach((content, i) => {
    const calls = content.role === 'model' ? placed(content.parts, 'functionCall') : [];
    const next = contents[i + 1];
    const responses = next?.role === 'user' ? placed(next.parts, 'functionResponse') : [];
    if (calls.length > 0) checkResponses(calls, responses, content.path, report);
    else for (const { path } of responses) reportOrphan(path, report);
    checkSides(content, i === 0, report);
  });
  checkIds(contents, model !== null && /claude|gpt-oss/i.test(model), report);
}

function placed(parts: readonly PlacedPart[], kind: 'functionCall' | 'functionResponse'): Placed[] {
  return parts.flatMap(({ part, path }) => {
    const value = fieldOf(part, kind);
    return value === undefined ? [] : [{ value, path }];
  });
}

function reportOrphan(path: string, report: Report): void {
  report('gemini/4.4', path, 'The response answers no call of the content before.');
}

/** A response in the first content, in a model content, or next to something else. */
function checkSides(content: Content, isFirst: boolean, report: Report): void {
  const responses = placed(content.parts, 'functionResponse');
  if (responses.length === 0) {
    const [call] = content.role === 'user' ? placed(content.parts, 'functionCall') : [];
    if (call) report('gemini/4.0', call.path, 'The call is in a content of the user.');
    return;
  }
  if (isFirst || content.role === 'model') for (const { path } of responses) reportOrphan(path, report);
  for (const { part, path } of content.parts) {
    if (fieldOf(part, 'functionResponse') !== undefined) continue;
    report('gemini/4.4', path, 'The part is beside responses, which are a content of their own.');
  }
}

function checkResponses(
  calls: readonly Placed[],
  responses: readonly Placed[],
  path: string,
  report: Report,
): void {
  if (responses.length !== calls.length) {
    const reason = `The content has ${calls.length} calls, and the next one has ${responses.length} responses.`;
    report('gemini/4.4', path, reason);
    return;
  }
  const ids = new Set<unknown>(
    calls.map(({ value }) => fieldOf(value, 'id')).filter((id) => id !== undefined),
  );
  calls.forEach(({ value: call }, i) => {
    const response = responses[i]!;
    const [id, echoed] = [fieldOf(call, 'id'), fieldOf(response.value, 'id')];
    if (fieldOf(call, 'name') !== fieldOf(response.value, 'name') || (echoed !== id && ids.has(echoed))) {
      report('gemini/4.4', response.path, 'The response is not that of the call in the same place.');
    } else if (echoed !== id) {
      report('gemini/4.5', response.path, `The response does not give back the call id ${quote(id)}.`);
    }
  });
}

function checkIds(contents: readonly Content[], isForeign: boolean, report: Report): void {
  const seen = new Set<unknown>();
  for (const { value, path } of contents.flatMap(({ parts }) => placed(parts, 'functionCall'))) {
    const id = fieldOf(value, 'id');
    const place = `${path}/functionCall/id`;
    if (isForeign && !(typeof id === 'string' && FOREIGN_ID.test(id))) {
      report('gemini/4.5', place, `The call id ${quote(id)} is missing or holds what an id may not hold.`);
    } else if (id === undefined) continue;
    else if (typeof id !== 'string' || id === '') report('gemini/4.5', place, 'The call id is not a text.');
    else if (seen.has(id)) report('gemini/4.5', place, `The call id ${quote(id)} is not unique.`);
    seen.add(id);
  }
}
