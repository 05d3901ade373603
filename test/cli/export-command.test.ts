/** `export`: the working context in each format, to standard output or into a new file. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXPORTERS } from '../../src/messages/exporters/exporters.js';
import { openTranscript } from '../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../src/messages/importers/source.js';
import { CLI_TIMEOUT_MS, entriesBelow, inFolder, removeFolder, runCli, tempFolder } from './cli-fixture.js';
import { CHAT, importedAgent } from './imported-agent.js';

const FORMATS = EXPORTERS.map(({ format }) => format);
/** Markdown is for people. */
const READABLE = FORMATS.filter((format) => format !== 'markdown');

/** The memory, with the agent `ann` in it. */
let dir: string;

beforeAll(async () => {
  dir = await tempFolder();
  await importedAgent(dir, 'ann', CHAT);
}, CLI_TIMEOUT_MS);

afterAll(() => removeFolder(dir));

function exportAnn(...args: string[]) {
  return runCli(['export', 'ann', '-d', dir, ...args]);
}

async function contextOfAgent(memory: string, agentId: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await runCli(['restore', agentId, '-d', memory, '--json']);
  return (JSON.parse(stdout) as { messages: Record<string, unknown>[] }).messages;
}

describe.concurrent('rekindle export', { timeout: CLI_TIMEOUT_MS }, () => {
  it.each(READABLE)(
    '-f %s writes what `import` knows as this format, and changes nothing',
    async (format) => {
      const before = await entriesBelow(dir);
      const shown = await exportAnn('-f', format);
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect((await openTranscript(sourceOf(shown.stdout))).format).toBe(format);
      for (const text of ['Look at a.ts.', 'It is short.', 'It is a short file.'])
        expect(shown.stdout).toContain(text);
      expect(await entriesBelow(dir)).toEqual(before);
    },
  );

  it('-f markdown writes a page with everything that was said', async () => {
    const shown = await exportAnn('-f', 'markdown');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/^#/m);
    for (const text of ['Be brief.', 'Look at a.ts.', 'look', 'It is short.', 'It is a short file.'])
      expect(shown.stdout).toContain(text);
  });

  it('gives the text and its format with --json', async () => {
    const [plain, json] = await Promise.all([
      exportAnn('-f', 'openai-chat'),
      exportAnn('-f', 'openai-chat', '--json'),
    ]);
    expect(JSON.parse(json.stdout)).toEqual({ format: 'openai-chat', text: plain.stdout });
  });

  it('-f rekindle gives, when it is imported, an agent with the same context', () =>
    inFolder(async (other) => {
      const file = path.join(other, 'ann.json');
      expect((await exportAnn('-f', 'rekindle', '-o', file)).code).toBe(0);
      expect((await runCli(['import', file, '-a', 'bob', '-d', other])).code).toBe(0);
      const [first, second] = await Promise.all([contextOfAgent(dir, 'ann'), contextOfAgent(other, 'bob')]);
      expect(first).toHaveLength(5);
      expect(second).toEqual(first);
    }));

  it('writes with --out a new file and says so', () =>
    inFolder(async (files) => {
      const file = path.join(files, 'ann.jsonl');
      const shown = await exportAnn('-f', 'claude-code', '-o', file);
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect(shown.stdout).toMatch(/^Written to .*ann\.jsonl\.$/m);
      expect(await readFile(file, 'utf8')).toContain('It is a short file.');
    }));

  it('refuses with --out a file that is there and leaves it as it was', () =>
    inFolder(async (files) => {
      const file = path.join(files, 'ann.json');
      await writeFile(file, 'mine');
      const shown = await exportAnn('-f', 'rekindle', '-o', file);
      expect(shown).toMatchObject({ code: 2, stdout: '' });
      expect(shown.stderr).toContain('was not changed');
      expect([...(await entriesBelow(files))]).toEqual([['ann.json', 'mine']]);
    }));

  it('exits with 2 for a format that does not exist and names those that do', async () => {
    const shown = await exportAnn('-f', 'nonsense');
    expect(shown).toMatchObject({ code: 2, stdout: '' });
    expect(shown.stderr).toContain(`Unknown format "nonsense". Choose one of ${FORMATS.join(', ')}.`);
  });

  it('exits with 3 for an agent that does not exist and makes no file', () =>
    inFolder(async (files) => {
      const shown = await runCli([
        'export',
        'nobody',
        '-d',
        dir,
        '-f',
        'rekindle',
        '-o',
        path.join(files, 'x'),
      ]);
      expect(shown).toMatchObject({ code: 3, stdout: '' });
      expect((await entriesBelow(files)).size).toBe(0);
    }));
});
