/** Checks a request to `generateContent` of the Gemini API, in the form that its SDK accepts. */
import { checkGeminiCalls } from './gemini-calls.js';
import { type Content, geminiContents, isResponse } from './gemini-contents.js';
import { checkGeminiPart, checkGeminiSignatures } from './gemini-parts.js';
import {
  fieldOf,
  isFilledText,
  listOf,
  type Report,
  type RequestViolation,
  violationsOf,
} from './request-check.js';
import { checkText } from './request-text.js';

const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;

export function checkGeminiRequest(request: unknown): RequestViolation[] {
  return violationsOf((report) => {
    const model = fieldOf(request, 'model');
    const contents = geminiContents(fieldOf(request, 'contents'), report);
    for (const { parts } of contents) for (const placed of parts) checkGeminiPart(placed, report);
    checkNames(contents, report);
    checkTurns(contents, report);
    checkGeminiCalls(contents, typeof model === 'string' ? model : null, report);
    if (isSigningModel(model)) checkGeminiSignatures(contents, report);
    checkConfig(fieldOf(request, 'config'), report);
    checkText(request, 'gemini/4.11', report);
  });
}

/** Gemini 3 or later, or a model that could be one. */
function isSigningModel(model: unknown): boolean {
  if (typeof model !== 'string') return true;
  if (!/gemini/i.test(model)) return false;
  const version = /gemini-(\d+)/i.exec(model)?.[1];
  return version === undefined || Number(version) >= 3;
}

function checkTurns(contents: readonly Content[], report: Report): void {
  contents.forEach((content, i) => {
    const before = contents[i - 1];
    const isCall =
      content.role === 'model' && content.parts.some(({ part }) => fieldOf(part, 'functionCall'));
    if (!before) {
      if (content.role === 'model')
        report('gemini/4.2', content.path, 'The conversation begins with the model.');
    } else if (content.role !== before.role) return;
    else if (isCall) {
      report(
        'gemini/4.3',
        content.path,
        'The content with calls does not come directly after one of the user.',
      );
    } else if (!isResponse(content) && !isResponse(before)) {
      // Responses form a content of their own, whatever comes before or after them.
      report('gemini/4.2', content.path, 'Two contents of one role follow each other.');
    }
  });
  const last = contents.at(-1);
  // Calls without responses are reported elsewhere.
  if (last?.role === 'model' && !last.parts.some(({ part }) => fieldOf(part, 'functionCall'))) {
    report('gemini/4.2', last.path, 'The conversation ends with the model.');
  }
}

function checkNames(contents: readonly Content[], report: Report): void {
  for (const { parts } of contents) {
    for (const { part, path } of parts) {
      for (const kind of ['functionCall', 'functionResponse']) {
        const value = fieldOf(part, kind);
        if (value !== undefined) checkName(fieldOf(value, 'name'), `${path}/${kind}/name`, report);
      }
    }
  }
}

function checkName(name: unknown, path: string, report: Report): void {
  if (typeof name === 'string' && NAME.test(name)) return;
  report('gemini/4.6', path, 'The function name is missing or holds what a name may not hold.');
}

function checkConfig(config: unknown, report: Report): void {
  const system = fieldOf(config, 'systemInstruction');
  if (system !== undefined && !isSystemText(system)) {
    report('gemini/4.10', 'config/systemInstruction', 'The system instruction holds no text.');
  }
  const tools = fieldOf(config, 'tools');
  if (tools !== undefined && !Array.isArray(tools))
    report('gemini/4.0', 'config/tools', 'The tools are not a list.');
  listOf(tools).forEach((tool, i) => {
    listOf(fieldOf(tool, 'functionDeclarations')).forEach((declaration, n) => {
      checkName(fieldOf(declaration, 'name'), `config/tools/${i}/functionDeclarations/${n}/name`, report);
    });
  });
}

/** A text, a part, a content, or a list of texts and parts. */
function isSystemText(system: unknown): boolean {
  const parts = Array.isArray(system) ? system : (fieldOf(system, 'parts') ?? [system]);
  const list = listOf(parts);
  return list.length > 0 && list.every((part) => isFilledText(part) || isFilledText(fieldOf(part, 'text')));
}
