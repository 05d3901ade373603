/** The command `rekindle mcp` as an MCP client starts it. */
import path from 'node:path';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CLI_BUILD } from '../../support/build-cli.js';
import type { Caller } from './mcp-kit.js';

const MAIN = path.join(CLI_BUILD, 'cli', 'main.js');

export function transportTo(dir: string, { session, agent }: Caller, env: Record<string, string> = {}) {
  const args = ['mcp', '--dir', dir];
  if (session !== undefined) args.push('--session', session);
  if (agent !== undefined) args.push('--agent', agent);
  return new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, ...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
  });
}
