/** A server in this process over a folder of its own, and plain clients that send exactly what they are told to. */
import fs from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished as afterThisTest } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { openAgent, ScriptedModel } from '../../src/index.js';
import { type RunningServer, startServer } from '../../src/server/rekindle-server.js';
import type { ServerOptions } from '../../src/server/server-options.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';

export const TOKEN = 'a-token-for-the-tests-0123456789';
export const JSON_TYPE = 'application/json';
export const MERGE_TYPE = 'application/merge-patch+json';
export const PROBLEM_TYPE = 'application/problem+json';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body as an object; empty where it is none. */
  readonly json: JsonObject;
}

export interface Asked {
  /** As JSON. */
  readonly body?: JsonValue;
  /** As it is, instead of `body`. */
  readonly raw?: string | Buffer;
  /** Null takes a header away that is otherwise sent: the token, the media type. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Does not say how long the body is. */
  readonly chunked?: boolean;
}

export interface ServerKit {
  readonly dir: string;
  readonly backend: FileStorage;
  readonly server: RunningServer;
  readonly port: number;
  /** What the server did not expect. */
  readonly unexpected: unknown[];
  /** The path goes out as it is given: nothing is normalized. */
  call(method: string, target: string, asked?: Asked): Promise<Answer>;
  get(target: string, headers?: Asked['headers']): Promise<Answer>;
  /** A session that is there. */
  session(fields: JsonObject): Promise<void>;
  put(key: string, value: JsonValue, headers?: Asked['headers']): Promise<Answer>;
}

export interface KitOptions {
  /** Syncs, as a server does outside of tests. */
  readonly durable?: boolean;
  /** Needed in tests that run at the same time: those of their context. */
  readonly onTestFinished?: (end: () => Promise<void>) => void;
}

/** Closed after the test, with its folder. `root` is a root session that is there. */
export async function serverKit(
  options: Partial<ServerOptions> = {},
  { durable = false, onTestFinished = afterThisTest }: KitOptions = {},
): Promise<ServerKit> {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-server-'));
  const backend = new FileStorage(dir, durable ? {} : { durability: 'relaxed' });
  const unexpected: unknown[] = [];
  const server = await startServer({
    backend,
    token: TOKEN,
    port: 0,
    onUnexpected: (thrown) => unexpected.push(thrown),
    ...options,
  });
  const agent = new http.Agent({ keepAlive: true });
  onTestFinished(async () => {
    agent.destroy();
    await server.close();
    await fs.rm(dir, { recursive: true, force: true });
  });
  const { port } = server;
  const call: ServerKit['call'] = (method, target, asked = {}) => ask(port, method, target, asked, agent);
  const kit: ServerKit = {
    dir,
    backend,
    server,
    port,
    unexpected,
    call,
    get: (target, headers = {}) => call('GET', target, { headers }),
    session: async (fields) => {
      const made = await call('POST', '/sessions', { body: fields });
      if (made.status !== 201) throw new Error(`No session: ${made.text}`);
    },
    put: (key, value, headers = {}) => call('PUT', keyPath(key), { body: { value }, headers }),
  };
  await kit.session({ id: 'root', status: 'running' });
  return kit;
}

export const STATE = '/sessions/root/state';

export function keyPath(key: string): string {
  return `${STATE}/keys/${encodeURIComponent(key)}`;
}

export function ask(
  port: number,
  method: string,
  target: string,
  { body, raw, headers = {}, chunked = false }: Asked = {},
  agent: http.Agent | false = false,
): Promise<Answer> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const all: Record<string, string | null> = {
    Authorization: `Bearer ${TOKEN}`,
    ...(content === undefined ? {} : { 'Content-Type': JSON_TYPE }),
    ...(content === undefined || chunked ? {} : { 'Content-Length': String(Buffer.byteLength(content)) }),
    ...headers,
  };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Record<
    string,
    string
  >;
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, path: target, headers: sent, agent });
    let answered = false;
    request.on('error', (error) => {
      if (!answered) reject(error); // what is left of a body that was refused does not matter
    });
    request.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve(answerOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString('utf8'))),
      );
    });
    if (content !== undefined && chunked) for (const piece of pieces(content)) request.write(piece);
    request.end(chunked ? undefined : content);
  });
}

function pieces(content: string | Buffer): Buffer[] {
  const bytes = Buffer.from(content);
  const size = 64 * 1024;
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

function answerOf(status: number, headers: http.IncomingHttpHeaders, text: string): Answer {
  let json: JsonObject = {};
  try {
    json = JSON.parse(text) as JsonObject;
  } catch {} // a page, or nothing
  return { status, headers, text, json };
}

/** A change whose body takes 200 ms to come. The status of its answer. */
export function slowPut(port: number, agent: http.Agent | false): Promise<number> {
  const body = JSON.stringify({ value: 'slow' });
  const headers = {
    Authorization: `Bearer ${TOKEN}`,
    'Content-Type': JSON_TYPE,
    'Content-Length': body.length,
  };
  return new Promise((resolve, reject) => {
    const target = { host: '127.0.0.1', port, method: 'PUT', path: keyPath('k') };
    const request = http.request({ ...target, headers, agent });
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.write(body.slice(0, 5));
    setTimeout(() => request.end(body.slice(5)), 200);
  });
}

/** Sends bytes and reads until the server ends the connection, or for a while. */
export function rawExchange(port: number, bytes: string | Buffer, waitMs = 1_500): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      const text = Buffer.concat(chunks).toString('utf8');
      const end = text.indexOf('\r\n\r\n');
      const [first = '', ...lines] = text.slice(0, Math.max(end, 0)).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(':') + 1).trim(),
        ]),
      );
      resolve(answerOf(Number(first.split(' ')[1] ?? 0), headers, text.slice(end + 4)));
    });
  });
}

/** What is upgraded to a WebSocket, as raw bytes. */
export function upgradeBytes(target: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  });
  return `GET ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** Every file below a folder with its bytes and the time it was changed, leases left out: they are let go a moment later. */
export async function folderPrint(dir: string): Promise<string[]> {
  const lines: string[] = [];
  for (const entry of await fs.readdir(dir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (/(^|\/)[^/]*lease(\/|$)/.test(path.relative(dir, file))) continue;
    const { mtimeMs } = await fs.stat(file);
    const content = entry.isFile() ? (await fs.readFile(file)).toString('base64') : 'folder';
    lines.push(`${path.relative(dir, file)} ${entry.isFile() ? mtimeMs : ''} ${content}`);
  }
  return lines.sort();
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** An agent that was stopped while its call `call_1_1` of the tool `pay` waited for an approval. */
export async function waitingAgent(memoryDir: string, agentId: string): Promise<void> {
  const model = new ScriptedModel([{ calls: [{ name: 'pay', arguments: { amount: 120 } }] }]);
  const pay = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, needsApproval: true };
  const tools = [{ ...pay, execute: () => 'paid' }];
  const agent = await openAgent(agentId, { memoryDir, model, tools, approve: 'inbox' });
  const asked = new Promise((resolve) => agent.events.on('tool_approval_requested', resolve));
  const turn = agent.send('Pay.');
  await asked;
  await agent.stop({ graceMs: 0 });
  await turn;
}
