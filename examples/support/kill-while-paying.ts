/** Runs an example of a host twice: the first process is killed with SIGKILL in the middle of its tool, the second goes on. */
import { spawn } from 'node:child_process';
import { strictProvider } from './strict-provider.js';

/** `PROVIDER_URL` is where the client finds its provider: in your program leave it out. */
export async function killWhilePaying(host: (url: string) => Promise<void>): Promise<void> {
  const { PROVIDER_URL } = process.env;
  if (PROVIDER_URL) return host(PROVIDER_URL);
  const provider = await strictProvider();
  await killedInTool(provider.url);
  await host(provider.url);
  provider.close();
}

async function killedInTool(url: string): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!], {
    env: { ...process.env, PROVIDER_URL: url },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  await new Promise((resolve) => child.once('message', resolve).once('exit', resolve));
  const ended = child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : null;
  child.kill('SIGKILL');
  await ended;
  console.log('\n[killed in the middle of pay_bill]');
}

export const payBill = {
  name: 'pay_bill',
  description: 'Pays a bill.',
  inputSchema: { type: 'object', properties: { bill: { type: 'string' } }, required: ['bill'] },
  /** In the first process it has its effect, and the process is killed before it can say so. */
  execute: async () => {
    if (!process.send) return { receipt: 'R-1' };
    process.send('paid');
    return new Promise(() => setInterval(() => {}, 60_000));
  },
};
