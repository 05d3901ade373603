/** The examples run as their head comments say, each in a folder of its own. */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAiChatServer } from './support/openai-chat-server.js';

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url));
/** `npx tsx` is the same, and slower. */
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const run = promisify(execFile);

let base = '';
beforeAll(async () => {
  base = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-examples-'));
});
afterAll(() => fs.rm(base, { recursive: true, force: true }));

/** What the example prints, run in a folder. Nothing may be on stderr: no warning, no stack trace. */
async function output(name: string, folder: string, args: readonly string[] = [], own = {}): Promise<string> {
  const cwd = path.join(base, folder);
  await fs.mkdir(cwd, { recursive: true });
  const { OPENAI_API_KEY: _, REKINDLE_MEMORY_DIR: __, AUTOBYTEUS_MEMORY_DIR: ___, ...env } = process.env;
  const command = ['--import', TSX, path.join(EXAMPLES, `${name}.ts`), ...args];
  const { stdout, stderr } = await run(process.execPath, command, { cwd, env: { ...env, ...own } });
  expect(stderr).toBe('');
  return stdout;
}

describe('examples', () => {
  it('restart.ts begins an agent, and the second run remembers', async () => {
    const first = await output('restart', 'tea', ['I like green tea.']);
    expect(first).toContain('That is the first thing I know of you.');
    expect(first).toContain('a new agent 3 messages');
    const second = await output('restart', 'tea', ['What do I like?']);
    expect(second).toContain('the first was "I like green tea."');
    expect(second).toContain('cache 5 messages');
  });

  it('ai-sdk-host.ts answers with a guarded tool, and the next run, with a real provider, remembers', async () => {
    const first = await output('ai-sdk-host', 'host');
    expect(first).toContain('a new context');
    expect(first).toContain('It arrives on Friday. This is question 1');

    const call = { id: 'call_a', name: 'look_up_order', arguments: '{"order":"4711"}' };
    const server = await openAiChatServer([{ calls: [call] }, { text: 'Still on Friday.' }]);
    const key = { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.url };
    const second = await output('ai-sdk-host', 'host', ['And now?'], key);
    expect(second).toContain('restored: cache, 5 messages');
    expect(second).toContain('Still on Friday.');
    expect(server.refused).toEqual([]);
    expect(server.accepted[1]!['messages']).toHaveLength(8);
  });

  it('resume-after-crash.ts is killed in a tool, learns that the outcome is unknown, and does not pay twice', async () => {
    const text = await output('resume-after-crash', 'crash');
    expect(text).toContain('interrupted: pay_bill, outcome_unknown');
    expect(text).toContain('[is_bill_paid]');
    expect(text).not.toContain('[pay_bill]');
    expect(text).toContain('The bill is paid; I did not pay it twice.');
    expect(text).toContain('turn turn_0001: completed');
  });
});
