/**
 * The conformance tool of the protocol against our server. It cannot send a token or name a session, so a forwarder adds both; Host
 * and Origin pass through it as they came, and are checked by the server.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../../src/server/rekindle-server.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';

const TOOL = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const TOKEN = 'token-of-the-conformance-test';
const SESSION = 'conformance';
const TOOL_MS = 20_000;

/** With the number of checks that must pass, and of warnings: what the tool would like, and the protocol leaves open. */
const APPLIES = {
  'server-initialize': { passed: 1, warnings: 0 },
  ping: { passed: 1, warnings: 0 },
  'tools-list': { passed: 1, warnings: 0 },
  'dns-rebinding-protection': { passed: 2, warnings: 0 },
  // Every request stands alone: no session id of the protocol, no event ids, no resumption. The warnings say so.
  'server-sse-polling': { passed: 0, warnings: 3 },
  'server-sse-multiple-streams': { passed: 0, warnings: 1 },
} as const;

const TEST_TOOL = 'calls a tool that a server has only for this test';
const NO_PROMPTS = 'the server has no prompts, and does not announce any';
const NO_RESOURCES = 'the server has no resources, and does not announce any';
/** With the reason. */
const DOES_NOT_APPLY: Readonly<Record<string, string>> = {
  'logging-set-level': 'the server sends no log messages, and does not announce any',
  'completion-complete': 'there are no prompts and resources whose arguments could be completed',
  'tools-call-simple-text': TEST_TOOL,
  'tools-call-image': TEST_TOOL,
  'tools-call-audio': TEST_TOOL,
  'tools-call-embedded-resource': TEST_TOOL,
  'tools-call-mixed-content': TEST_TOOL,
  'tools-call-with-logging': TEST_TOOL,
  'tools-call-error': TEST_TOOL,
  'tools-call-with-progress': TEST_TOOL,
  'tools-call-sampling': TEST_TOOL,
  'tools-call-elicitation': TEST_TOOL,
  'json-schema-2020-12': TEST_TOOL,
  'elicitation-sep1034-defaults': TEST_TOOL,
  'elicitation-sep1330-enums': TEST_TOOL,
  'resources-list': NO_RESOURCES,
  'resources-read-text': NO_RESOURCES,
  'resources-read-binary': NO_RESOURCES,
  'resources-templates-read': NO_RESOURCES,
  'resources-subscribe': NO_RESOURCES,
  'resources-unsubscribe': NO_RESOURCES,
  'prompts-list': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
};

interface Passed {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly status: number | undefined;
}

/** Adds the token and the session, and keeps what it saw. */
class Forwarder {
  readonly passed: Passed[] = [];
  readonly #server: http.Server;
  #port = 0;

  constructor() {
    this.#server = http.createServer((request, response) => this.#forward(request, response));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  to(port: number): void {
    this.#port = port;
  }

  #forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { method, url, headers } = request;
    const further = http.request({
      host: '127.0.0.1',
      port: this.#port,
      method,
      path: url,
      headers: { ...headers, authorization: `Bearer ${TOKEN}`, 'x-agent-session-id': SESSION },
    });
    further.once('response', (answer) => {
      this.passed.push({ host: headers.host, origin: headers.origin, status: answer.statusCode });
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    further.once('error', () => response.destroy());
    response.once('close', () => further.destroy());
    request.pipe(further);
  }

  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await ended;
  }
}

describe('the conformance tool', () => {
  const forwarder = new Forwarder();
  let server: RunningServer;
  let shared: SharedSessions;
  let port: number;
  let folder: string;

  beforeAll(async () => {
    folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-conformance-'));
    const backend = new MemoryStorage();
    shared = new SharedSessions(backend);
    await shared.tree.create({ id: SESSION });
    port = await forwarder.listen();
    const host = `127.0.0.1:${port}`;
    const allowed = { allowedHosts: [host], allowedOrigins: [`http://${host}`] };
    server = await startServer({ backend, token: TOKEN, port: 0, ...allowed });
    forwarder.to(server.port);
  });

  afterAll(async () => {
    await forwarder.close();
    await server.close();
    await shared.close();
    await fs.rm(folder, { recursive: true, force: true });
  });

  async function run(...args: readonly string[]): Promise<{ code: number | null; text: string }> {
    const child = spawn(process.execPath, [TOOL, ...args], { cwd: folder, timeout: TOOL_MS });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    return { code, text };
  }

  it.each(Object.entries(APPLIES))('is content with %s', async (scenario, { passed, warnings }) => {
    const { code, text } = await run(
      'server',
      '--url',
      `http://127.0.0.1:${port}/mcp`,
      '--scenario',
      scenario,
    );
    expect(text).toContain(`Passed: ${passed}/${passed}, 0 failed, ${warnings} warnings`);
    expect(code).toBe(0);
  });

  it('sees our check of Host and Origin: no wrong token and no unknown session is what refuses', async () => {
    const evil = 'evil.example.com';
    const foreign = forwarder.passed.filter(({ host }) => host === evil);
    expect(foreign).toEqual([{ host: evil, origin: `http://${evil}`, status: 403 }]);
    // A foreign page may also name us as the host: then its Origin alone tells.
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: { Origin: `http://${evil}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('Origin')]);
  });

  it('has no scenario that is neither run nor left out for a reason', async () => {
    const { text } = await run('list');
    const [ofServers] = text.split('Client scenarios');
    const names = [...(ofServers ?? '').matchAll(/^ +- (\S+)$/gm)].map(([, name]) => name ?? '');
    expect(names.sort()).toEqual([...Object.keys(APPLIES), ...Object.keys(DOES_NOT_APPLY)].sort());
  });
});
