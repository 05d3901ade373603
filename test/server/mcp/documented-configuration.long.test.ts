/** The configuration of an MCP client, as the documentation has it. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { CLI_TIMEOUT_MS, inFolder, runCli } from '../../cli/cli-fixture.js';
import { CLI_BUILD } from '../../support/build-cli.js';
import { connected, result } from './mcp-kit.js';

const PAGE = path.join(import.meta.dirname, '../../../docs/server.md');
const MAIN = path.join(CLI_BUILD, 'cli', 'main.js');

interface Documented {
  /** Without `rekindle` itself. */
  readonly before: readonly string[];
  readonly args: readonly string[];
}

/** The command that comes first, and the arguments that the client gives. */
async function documented(): Promise<Documented> {
  const page = await readFile(PAGE, 'utf8');
  const before = /^rekindle (session create .*)$/m.exec(page)?.[1]?.split(' ') ?? [];
  const config = /^\{"mcpServers".*$/m.exec(page)?.[0] ?? '{}';
  const { mcpServers } = JSON.parse(config) as {
    mcpServers: { rekindle: { command: string; args: string[] } };
  };
  const { command, args } = mcpServers.rekindle;
  expect([command, args[0]]).toEqual(['npx', 'rekindle']);
  return { before, args: args.slice(1) };
}

function transport(args: readonly string[], cwd: string): StdioClientTransport {
  const command = process.execPath;
  return new StdioClientTransport({
    command,
    args: [MAIN, ...args],
    cwd,
    env: getDefaultEnvironment(),
    stderr: 'pipe',
  });
}

describe('the documented configuration', { timeout: CLI_TIMEOUT_MS }, () => {
  it('works in an empty folder, after the command that the page has before it', () =>
    inFolder(async (cwd) => {
      const { before, args } = await documented();
      expect(await runCli(before, { cwd })).toMatchObject({ code: 0, stderr: '' });
      const client = await connected(transport(args, cwd));
      const set = await result(client, 'state_set', { key: 'k', value: 1 });
      expect(set).toMatchObject({ updated_by: 'child-1' });
      await client.close();
    }));

  it('says the command that makes the session where there is none', () =>
    inFolder(async (cwd) => {
      const { before, args } = await documented();
      const refused = transport(args, cwd);
      let said = '';
      refused.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
      });
      await expect(connected(refused)).rejects.toThrow();
      expect(said).toContain('There is no session "child-1".');
      const command = /Make it with: rekindle (.*) \(SESSION_NOT_FOUND\)/.exec(said)?.[1]?.split(' ') ?? [];
      expect([...command].sort()).toEqual([...before].sort());
      expect(await runCli(command, { cwd })).toMatchObject({ code: 0 });
      const client = await connected(transport(args, cwd));
      await client.close();
    }));
});
