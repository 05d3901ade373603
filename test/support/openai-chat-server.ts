/**
 * A server on 127.0.0.1 that speaks the OpenAI chat-completions protocol: gives scripted answers, whole or as server-sent events,
 * and refuses what the real one refuses. Knows nothing of Rekindle.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type JsonObject, tryParseJson } from '../../src/core/json.js';
import { problemWith } from './openai-chat-rules.js';

export interface ServedCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: JSON or not. Sent in pieces. */
  readonly arguments: string;
}

export interface ServedAnswer {
  readonly text?: string;
  /** In the field `reasoning_content`, as DeepSeek and vLLM have it. */
  readonly reasoning?: string;
  readonly calls?: readonly ServedCall[];
  /** In place of an answer. */
  readonly refuse?: { readonly status: number; readonly message: string };
  /** After the text the connection breaks. */
  readonly hangUp?: boolean;
  /** After the text an error is sent in the stream. */
  readonly fails?: string;
  /** After the text nothing more comes. */
  readonly stalls?: boolean;
}

export interface ChatServer {
  /** For `baseURL`. */
  readonly url: string;
  /** The bodies of the requests that were accepted. */
  readonly accepted: JsonObject[];
  /** What was wrong with those that were not. */
  readonly refused: string[];
  /** Requests whose client went away before the end. */
  readonly dropped: () => number;
}

/** Answers the requests with these, one after the other. Closed after the test. */
export async function openAiChatServer(answers: readonly ServedAnswer[]): Promise<ChatServer> {
  const accepted: JsonObject[] = [];
  const refused: string[] = [];
  let dropped = 0;
  let served = 0;
  const server = http.createServer(async (request, response) => {
    const body = tryParseJson(await textOf(request));
    const problem = request.url === '/v1/chat/completions' ? problemWith(body) : 'Unknown request URL.';
    response.on('close', () => (dropped += response.writableFinished ? 0 : 1));
    if (problem !== null) {
      refused.push(problem);
      sendError(response, 400, problem);
      return;
    }
    accepted.push(body as JsonObject);
    const answer = answers[served++];
    if (!answer) sendError(response, 500, 'The script has no further answer.');
    else if (answer.refuse) sendError(response, answer.refuse.status, answer.refuse.message);
    else if ((body as JsonObject)['stream'] === true) stream(response, answer, body as JsonObject);
    else sendWhole(response, answer, body as JsonObject);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, accepted, refused, dropped: () => dropped };
}

async function textOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function sendError(response: http.ServerResponse, status: number, message: string): void {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type, param: null, code: null } }));
}

const USAGE = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 };

function sendWhole(response: http.ServerResponse, answer: ServedAnswer, request: JsonObject): void {
  const calls = (answer.calls ?? []).map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  const message = {
    role: 'assistant',
    content: answer.text ?? null,
    ...(answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const choice = { index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' };
  const head = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: request['model'],
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...head, choices: [choice], usage: USAGE }));
}

function stream(response: http.ServerResponse, answer: ServedAnswer, request: JsonObject): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (data: object) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  const head = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: request['model'],
  };
  const delta = (fields: object, finish: string | null = null) =>
    send({ ...head, choices: [{ index: 0, delta: fields, finish_reason: finish }] });
  delta({ role: 'assistant', content: '' });
  for (const piece of pieces(answer.reasoning ?? '')) delta({ reasoning_content: piece });
  for (const piece of pieces(answer.text ?? '')) delta({ content: piece });
  if (answer.stalls) return;
  if (answer.fails !== undefined) {
    send({ error: { message: answer.fails, type: 'server_error' } });
    response.end();
    return;
  }
  if (answer.hangUp) {
    response.write('', () => response.destroy());
    return;
  }
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const { id, name } = call;
    delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    for (const piece of pieces(call.arguments))
      delta({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  delta({}, answer.calls?.length ? 'tool_calls' : 'stop');
  send({ ...head, choices: [], usage: USAGE });
  response.end('data: [DONE]\n\n');
}

/** Seven characters at a time, so that words, escapes and numbers are cut anywhere. */
function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}
