/**
 * Deploy: two processes of a service on one store. One is killed while it answers; the other one continues the conversation.
 *
 *     npx tsx examples/guides/deploy.ts
 *
 * The service is `examples/deploy/service.ts`. It is the same in a container, under systemd and in Kubernetes.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inNewFolder } from '../support/lives.js';

inNewFolder();
/** In the tests the service is compiled already. */
const SERVICE =
  process.env['GUIDE_SERVICE'] ?? fileURLToPath(new URL('../deploy/service.ts', import.meta.url));

async function start(): Promise<{ readonly url: string; readonly service: ChildProcess }> {
  const free = createServer().listen(0);
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  await once(free.close(), 'close');
  const service = spawn(process.execPath, [...process.execArgv, SERVICE], {
    env: { ...process.env, PORT: String(port), REKINDLE_MEMORY_DIR: 'memory' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/health`).catch(() => null))?.ok) await sleep(50);
  return { url, service };
}

async function say(url: string, text: string): Promise<{ text: string; messages: number }> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ conversation: 'ann', text }) });
  assert.equal(response.status, 200);
  return (await response.json()) as { text: string; messages: number };
}

const [one, two] = await Promise.all([start(), start()]);
console.log('one:', (await say(one.url, 'Order 4711 ships on Friday.')).text);
console.log('two:', (await say(two.url, 'When does it ship?')).text);

const size = () => statSync('memory/agents/ann/raw_traces.jsonl').size;
const before = size();
const lost = say(one.url, 'And where is it now?').catch(() => 'no answer');
while (size() === before) await sleep(10); // until the question is on disk: the answer takes longer
one.service.kill('SIGKILL');
console.log('one is killed:', await lost);

const { text, messages } = await say(two.url, 'Are you there?'); // first continues the turn that was cut off
console.log('two:', text);
console.log('messages in the context:', messages);

two.service.kill('SIGTERM');
const [code] = await once(two.service, 'exit');
console.log('exit code after SIGTERM:', code);

assert.equal(messages, 9); // the system prompt, four messages of the user, four answers
assert.equal(code, 0);
