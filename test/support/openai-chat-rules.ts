/** What the real chat-completions endpoint refuses about a request, in its words. The rules are in `provider-rules.md`, section 1. */
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../src/core/json.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CALL_ID_MAX = 40;

/** The message of the 400; null for a request that is accepted. */
export function problemWith(request: JsonValue | undefined): string | null {
  if (!isJsonObject(request)) return 'We could not parse the JSON body of your request.';
  if (typeof request['model'] !== 'string') return 'you must provide a model parameter';
  const { messages, tools } = request;
  if (!Array.isArray(messages) || messages.length === 0) return "[] is too short - 'messages'";
  const shape = first(messages, (message, index) => problemWithMessage(message, `messages.[${index}]`));
  return shape ?? problemWithPairing(messages as JsonObject[]) ?? problemWithTools(tools);
}

function first<T>(items: readonly T[], check: (item: T, index: number) => string | null): string | null {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index);
    if (problem !== null) return problem;
  }
  return null;
}

function problemWithMessage(message: JsonValue, at: string): string | null {
  if (!isJsonObject(message)) return `Invalid type for '${at}': expected an object.`;
  const { role, content } = message;
  if (role === 'system' || role === 'user') return problemWithContent(content, at);
  if (role === 'tool') {
    if (typeof message['tool_call_id'] !== 'string')
      return `Missing required parameter: '${at}.tool_call_id'.`;
    return problemWithContent(content, at);
  }
  if (role !== 'assistant')
    return `Invalid value: '${String(role)}'. Supported values are: 'system', 'assistant', 'user', 'tool'.`;
  if (!('tool_calls' in message)) return problemWithContent(content, at);
  if (typeof content !== 'string' && content !== null) return `Invalid type for '${at}.content'.`;
  return problemWithCalls(message['tool_calls'], `${at}.tool_calls`);
}

/** Text or at least one part, and well-formed Unicode. */
function problemWithContent(content: JsonValue | undefined, at: string): string | null {
  if (Array.isArray(content)) return content.length > 0 ? null : `Invalid '${at}.content': empty array.`;
  if (typeof content !== 'string') return `Invalid type for '${at}.content': expected a string or an array.`;
  return content.isWellFormed() ? null : `Invalid '${at}.content': no low surrogate in string.`;
}

function problemWithCalls(calls: JsonValue | undefined, at: string): string | null {
  if (!Array.isArray(calls) || calls.length === 0) return `Invalid '${at}': empty array.`;
  const ids = new Set(calls.map((call) => (isJsonObject(call) ? call['id'] : undefined)));
  if (ids.size < calls.length) return `Duplicate ids in '${at}'.`;
  return first(calls, (call, index) => problemWithCall(call, `${at}.[${index}]`));
}

function problemWithCall(call: JsonValue, at: string): string | null {
  const called = isJsonObject(call) ? call['function'] : undefined;
  if (!isJsonObject(call) || !isJsonObject(called)) return `Missing required parameter: '${at}.function'.`;
  const { id, type } = call;
  if (typeof id !== 'string' || id === '') return `Missing required parameter: '${at}.id'.`;
  if (id.length > CALL_ID_MAX) return `Invalid '${at}.id': string too long.`;
  if (type !== 'function') return `Invalid value: '${String(type)}' for '${at}.type'.`;
  if (!NAME.test(String(called['name']))) return `Invalid '${at}.function.name'.`;
  const args = called['arguments'];
  if (typeof args !== 'string') return `Invalid type for '${at}.function.arguments': expected a string.`;
  // OpenAI itself takes any text; the servers that speak its protocol parse it and want an object.
  return isJsonObject(tryParseJson(args)) ? null : `Invalid '${at}.function.arguments': not a JSON object.`;
}

/** Calls are answered at once, each once, and nothing else is answered. */
function problemWithPairing(messages: readonly JsonObject[]): string | null {
  let open: string[] = [];
  for (const message of messages) {
    if (message['role'] === 'tool') {
      const id = String(message['tool_call_id']);
      if (!open.includes(id))
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      open = open.filter((other) => other !== id);
      continue;
    }
    if (open.length > 0) return unanswered(open);
    const calls = message['tool_calls'] as JsonObject[] | undefined;
    open = (calls ?? []).map((call) => String(call['id']));
  }
  return open.length > 0 ? unanswered(open) : null;
}

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`;
}

function problemWithTools(tools: JsonValue | undefined): string | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools) || tools.length === 0) return "Invalid 'tools': empty array.";
  return first(tools, (tool, index) => {
    const declared = isJsonObject(tool) ? tool['function'] : undefined;
    if (!isJsonObject(declared) || !NAME.test(String(declared['name'])))
      return `Invalid 'tools[${index}].function.name'.`;
    const { parameters } = declared;
    const isObject = isJsonObject(parameters) && parameters['type'] === 'object';
    return isObject
      ? null
      : `Invalid schema for function '${String(declared['name'])}': type must be 'object'.`;
  });
}
