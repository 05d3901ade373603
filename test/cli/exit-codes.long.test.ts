/** Exit codes, as scripts see them. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT, exitCodeFor } from '../../src/cli/exit-codes.js';
import { ERROR_ADVICE, type ErrorCode, RekindleError } from '../../src/core/errors.js';
import { openMemory } from '../../src/memory/open-memory.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { HOSTILE, OBEYED } from './cli-batch.js';
import {
  CLI_TIMEOUT_MS,
  conversation,
  entriesBelow,
  removeFolder,
  runCliProcess,
  tempFolder,
} from './cli-fixture.js';

const docs = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
let dir: string;

beforeAll(async () => {
  dir = await tempFolder();
  await conversation(dir, 'busy', ['Hi.']);
}, CLI_TIMEOUT_MS);

afterAll(() => removeFolder(dir));

describe('the process exits with', { timeout: CLI_TIMEOUT_MS }, () => {
  it('2 for an unknown command, and points to the help', async () => {
    const [unknown, help] = await Promise.all([runCliProcess(['nonsense']), runCliProcess(['--help'])]);
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toBe("error: unknown command 'nonsense'\n(see: rekindle --help)\n");
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of [
      'demo',
      'chat',
      'list',
      'inspect',
      'restore',
      'verify',
      'repair',
      'rebuild',
      'compact',
      'import',
      'export',
      'check',
      'state',
      'migrate',
      'workspace',
      'session',
      'repair-history',
    ])
      expect(help.stdout).toContain(`  ${command} `);
  });

  it('2 for arguments that hold escapes, which are shown and not obeyed', async () => {
    const [command, option, value] = await Promise.all([
      runCliProcess([HOSTILE]),
      runCliProcess(['list', `--${HOSTILE}`]),
      runCliProcess(['workspace', 'history', 'k', '--limit', HOSTILE, '--dir', dir]),
    ]);
    for (const { code, stderr } of [command, option, value]) {
      expect(code).toBe(2);
      expect(stderr).not.toMatch(OBEYED);
      expect(stderr).toContain('\\u001b]0;title\\u0007');
    }
  });

  it('an error with its advice, which repeats nothing of the message', async () => {
    const all = await runCliProcess(['workspace', 'history', 'k', '--limit', 'x', '--dir', dir]);
    expect(all.stderr.split('\n').slice(1)).toEqual(['Nothing was written.', '']);
    const port = await runCliProcess(['serve', '--port', '99999', '--dir', dir]);
    expect(port).toMatchObject({ code: 2, stdout: '' });
    expect(port.stderr).toContain('--port must be a whole number from 0 to 65535, not "99999".');
    expect(port.stderr).toContain('\nNothing was written.\n');
  });

  it('2 for a group of commands alone, with its commands, and for an argument that is missing', async () => {
    const [group, argument] = await Promise.all([
      runCliProcess(['workspace']),
      runCliProcess(['state', 'show']),
    ]);
    expect(group).toMatchObject({ code: 2, stdout: '' });
    expect(group.stderr).toContain('Usage: rekindle workspace [options] [command]');
    expect(group.stderr).toContain('  context [options] <agent> ');
    expect(argument).toMatchObject({ code: 2, stdout: '' });
    expect(argument.stderr).toContain("error: missing required argument 'name'");
  });

  it('2 for an id that is no id, 3 for an agent that is not there; neither leaves anything on disk', async () => {
    const before = await entriesBelow(dir);
    const [badId, unknown] = await Promise.all([
      runCliProcess(['inspect', '../busy', '-d', dir]),
      runCliProcess(['restore', 'nobody', '-d', dir, '--json']),
    ]);
    expect(badId).toMatchObject({ code: 2, stdout: '' });
    expect(badId.stderr).toContain(
      'The name "../busy" is not allowed: it has a path separator. (INVALID_NAME)',
    );
    expect(unknown).toMatchObject({ code: 3, stderr: '' });
    expect(JSON.parse(unknown.stdout)).toEqual({
      error: {
        name: 'RekindleError',
        code: 'AGENT_NOT_FOUND',
        message: 'There is no agent "nobody" here.',
        details: { agentId: 'nobody' },
        advice: ERROR_ADVICE.AGENT_NOT_FOUND,
      },
    });
    expect(await entriesBelow(dir)).toEqual(before);
  });

  it('4 for an agent in use, when it would write; looking at it is fine', async () => {
    const opened = await openMemory(new FileStorage(dir), 'busy');
    try {
      const [chat, list] = await Promise.all([
        runCliProcess(['chat', '-a', 'busy', '-d', dir], { input: 'Hi.\n' }),
        runCliProcess(['list', '-d', dir, '--json']),
      ]);
      expect(chat).toMatchObject({ code: 4, stdout: '' });
      expect(chat.stderr).toContain(`in use by process ${process.pid} on `);
      expect(JSON.parse(list.stdout)).toMatchObject({
        agents: [{ agentId: 'busy', status: 'running', owner: { pid: process.pid } }],
      });
    } finally {
      await opened.close();
    }
  });
});

describe('exitCodeFor', () => {
  it('never says that all is well', () => {
    const codes = Object.keys(ERROR_ADVICE) as ErrorCode[];
    expect(codes.filter((code) => exitCodeFor(new RekindleError(code, 'x')) === EXIT.ok)).toEqual([]);
    expect(exitCodeFor(new RangeError('x'))).toBe(EXIT.problem);
  });

  it.each(Object.keys(ERROR_ADVICE) as ErrorCode[])('gives %s the code that docs/cli.md has', (code) => {
    const row = docs.split('\n').find((line) => line.startsWith('| ') && line.includes(`\`${code}\``));
    const documented = row === undefined ? EXIT.problem : Number(/^\| (\d) \|/.exec(row)?.[1]);
    expect(exitCodeFor(new RekindleError(code, 'x'))).toBe(documented);
  });
});
