import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkRoutes } from './check-routes.mjs';

const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
probe.close();
const server = spawn(
  process.execPath,
  ['node_modules/next/dist/bin/next', 'start', '-p', String(port), '-H', '127.0.0.1'],
  { stdio: 'inherit' },
);
try {
  const base = `http://127.0.0.1:${port}`;
  while (!(await fetch(base).catch(() => null))) await sleep(100);
  await checkRoutes(`${base}/api/chat`);
} finally {
  server.kill();
}
