/**
 * A server on 127.0.0.1 that stands for OpenAI, Anthropic and Gemini, so that the examples run without a key. It refuses what
 * the providers refuse, and streams: first a call of `pay_bill`, and once that has a result what came of it.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkRequest, type TargetName } from '../../src/messages/index.js'; // in your program: from 'rekindle/messages'

interface Body {
  readonly [key: string]: unknown;
}

/** What an API streams, as server-sent events. */
interface Api {
  readonly target: TargetName;
  requestOf(body: Body): unknown;
  events(answer: Answer): readonly object[];
}

interface Answer {
  readonly text: string;
  readonly calls: boolean;
}

const CALL = { id: 'call_bill', name: 'pay_bill', args: { bill: '4711' } };
const ARGUMENTS = JSON.stringify(CALL.args);

const APIS: readonly (readonly [RegExp, Api])[] = [
  [/\/chat\/completions$/, { target: 'openai-chat', requestOf: withoutStream, events: chatEvents }],
  [/\/responses$/, { target: 'openai-responses', requestOf: withoutStream, events: responsesEvents }],
  [/\/v1\/messages/, { target: 'anthropic', requestOf: withoutStream, events: anthropicEvents }],
  [/streamGenerateContent/, { target: 'gemini', requestOf: geminiRequest, events: geminiEvents }],
];

/** Its address, and how to stop it. */
export async function strictProvider(): Promise<{ readonly url: string; close(): void }> {
  const server = http.createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Body;
    const api = APIS.find(([path]) => path.test(request.url ?? ''))?.[1];
    const problems = api ? checkRequest(api.target, api.requestOf(body)) : [{ problem: 'unknown path' }];
    if (!api || problems.length > 0) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { code: 400, message: JSON.stringify(problems), status: 'INVALID' } }),
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of api.events(answerTo(body))) {
      const { type } = event as { type?: string };
      response.write(
        `${api.target === 'anthropic' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`,
      );
    }
    response.end(api.target === 'openai-chat' ? 'data: [DONE]\n\n' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function textOf(request: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

function answerTo(body: Body): Answer {
  const text = JSON.stringify(body);
  if (text.includes('outcome is unknown'))
    return { text: 'I do not know whether the bill was paid, so I ask before I try again.', calls: false };
  if (text.includes('receipt')) return { text: 'The bill is paid.', calls: false };
  return { text: 'I pay it.', calls: true };
}

function withoutStream({ stream: _, max_tokens: __, ...request }: Body): unknown {
  return request;
}

/** The client writes `config` apart. */
function geminiRequest({ contents, systemInstruction, tools }: Body): unknown {
  const parts = (systemInstruction as { parts?: { text: string }[] } | undefined)?.parts ?? [];
  const system = parts.length === 0 ? {} : { systemInstruction: parts.map(({ text }) => text).join('') };
  return { contents, config: { ...system, ...(tools === undefined ? {} : { tools }) } };
}

function chatEvents({ text, calls }: Answer): object[] {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...{ id: 'chat_1', object: 'chat.completion.chunk', created: 0, model: 'model-1' },
    choices: [{ index: 0, delta, finish_reason }],
  });
  const { id, name } = CALL;
  const call = { index: 0, id, type: 'function', function: { name, arguments: ARGUMENTS.slice(0, 5) } };
  const rest = { index: 0, function: { arguments: ARGUMENTS.slice(5) } };
  return [
    ...(text.match(/\S+\s*/g) ?? []).map((content) => chunk({ content })),
    ...(calls ? [chunk({ tool_calls: [call] }), chunk({ tool_calls: [rest] })] : []),
    chunk({}, calls ? 'tool_calls' : 'stop'),
  ];
}

function responsesEvents({ text, calls }: Answer): object[] {
  const message = {
    ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const { id: call_id, name } = CALL;
  const call = {
    type: 'function_call',
    id: 'fc_1',
    call_id,
    name,
    arguments: ARGUMENTS,
    status: 'completed',
  };
  const output = [message, ...(calls ? [call] : [])];
  const response = { id: 'resp_1', object: 'response', model: 'model-1', status: 'completed', output };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...(text.match(/\S+\s*/g) ?? []).map((delta) => ({
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      item_id: 'msg_1',
      delta,
    })),
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response },
  ];
}

function anthropicEvents({ text, calls }: Answer): object[] {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'model-1', content: [] };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const { id, name } = CALL;
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...(text.match(/\S+\s*/g) ?? []).map((part) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: part },
    })),
    { type: 'content_block_stop', index: 0 },
    ...(calls
      ? [
          { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id, name, input: {} } },
          {
            type: 'content_block_delta',
            index: 1,
            delta: { type: 'input_json_delta', partial_json: ARGUMENTS },
          },
          { type: 'content_block_stop', index: 1 },
        ]
      : []),
    {
      type: 'message_delta',
      delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage,
    },
    { type: 'message_stop' },
  ];
}

function geminiEvents({ text, calls }: Answer): object[] {
  const chunk = (parts: object[], more = {}) => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
    modelVersion: 'model-1',
  });
  const { name, args } = CALL;
  return [
    ...(text.match(/\S+\s*/g) ?? []).map((part) => chunk([{ text: part }])),
    chunk(calls ? [{ functionCall: { name, args }, thoughtSignature: 'c2lnbmVk' }] : [{ text: '' }], {
      finishReason: 'STOP',
    }),
  ];
}
