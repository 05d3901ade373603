/** `check`: exit code 1, and a line for each thing that a provider would refuse. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CLI_BUILD } from '../support/build-cli.js';
import { CLI_TIMEOUT_MS, entriesBelow, inFolder, runCli, runCliProcess } from './cli-fixture.js';
import {
  chatCall,
  chatDump,
  SESSION_RECORDS,
  STOPPED_RECORDS,
  writeJson,
  writeLines,
} from './transcript-files.js';

const LONG_ID = `call_${'a'.repeat(55)}`;

describe.concurrent('check', { timeout: CLI_TIMEOUT_MS }, () => {
  it('exits with 0 for a legal transcript, still says what it could not look at, and writes nothing', () =>
    inFolder(async (dir) => {
      const file = await writeLines(path.join(dir, 'session.jsonl'), SESSION_RECORDS);
      const before = await entriesBelow(dir);
      const { code, stdout, stderr } = await runCli(['check', file], { cwd: dir });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.split('\n').map((line) => line.trim())).toEqual([
        expect.stringMatching(/session\.jsonl: Claude Code session, 4 messages in the context\.$/),
        'No provider would refuse it.',
        'Dropped:',
        '1  record of a sub-agent (sidechain)  line 5',
        '',
      ]);
      expect(await entriesBelow(dir)).toEqual(before);
    }));

  it('exits with 1 for a faulty one, and names message, call, rule and who refuses it', () =>
    inFolder(async (dir) => {
      const file = await writeLines(path.join(dir, 'session.jsonl'), STOPPED_RECORDS);
      const { code, stdout } = await runCli(['check', file]);
      expect(code).toBe(1);
      expect(stdout).toContain(
        '1 problem:\n  message 4: a call without its result (call toolu_2) [H4; refused by every provider]\n',
      );
    }));

  it("applies the provider's own rules to a dump of its messages", () =>
    inFolder(async (dir) => {
      const file = await writeJson(path.join(dir, 'dump.json'), chatDump(LONG_ID));
      const [shown, json] = await Promise.all([runCli(['check', file]), runCli(['check', file, '--json'])]);
      expect(shown.code).toBe(1);
      expect(shown.stdout).toMatch(
        / {2}messages\/2\/tool_calls\/0\/id: .*\[openai-chat\/1\.8; refused by openai-chat\]/,
      );
      const result = JSON.parse(json.stdout) as Record<string, unknown>;
      expect(result).toMatchObject({
        ...{ format: 'openai-chat', messages: 5, violations: [], target: 'openai-chat' },
        refused: [{ rule: 'openai-chat/1.8', path: 'messages/2/tool_calls/0/id' }],
      });
    }));

  it('knows a format that a module of the same process registers, and explains it', () =>
    inFolder(async (dir) => {
      const file = path.join(dir, 'notes.md');
      const module = path.join(dir, 'notes-format.mjs');
      await writeFile(file, 'NOTES\n');
      await writeFile(
        module,
        `import { registerTranscriptFormat } from ${JSON.stringify(pathToFileURL(path.join(CLI_BUILD, 'messages/index.js')))};
         registerTranscriptFormat({
           format: 'notes', title: 'Notes', lookedFor: 'a first line NOTES',
           recognises: ({ items }) => items[0] === 'NOTES',
           async *read() { yield { kind: 'message', message: { role: 'user', content: 'noted' } }; },
         });`,
      );
      const env = { NODE_OPTIONS: `--import ${pathToFileURL(module)}` };
      const { code, stdout, stderr } = await runCliProcess(['check', file, '--explain'], { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/notes\.md: Notes, 1 message in the context\./);
      expect(stdout).toContain('it looks like this: a first line NOTES');
    }));

  it('prints all as JSON', () =>
    inFolder(async (dir) => {
      const messages = [
        { role: 'user', content: 'Look.' },
        chatCall('call_1'),
        { role: 'user', content: 'Well?' },
      ];
      const file = await writeJson(path.join(dir, 'dump.json'), { messages });
      const { code, stdout } = await runCli(['check', file, '--json']);
      expect(code).toBe(1);
      const result = JSON.parse(stdout) as Record<string, unknown>;
      expect(Object.keys(result)).toEqual([
        ...['format', 'title', 'reasons', 'messages', 'violations', 'target', 'refused', 'losses'],
      ]);
      expect(result['violations']).toEqual([
        { rule: 'H4', messageIndex: 1, callId: 'call_1', reason: 'a call without its result' },
      ]);
    }));

  it('shows the first 50 of many problems', () =>
    inFolder(async (dir) => {
      const blank = Array.from({ length: 60 }, () => ({ role: 'assistant', content: '' }));
      const file = await writeJson(path.join(dir, 'dump.json'), [{ role: 'user', content: 'Hi.' }, ...blank]);
      const { stdout } = await runCli(['check', file]);
      expect(stdout).toMatch(/^\d+ problems:$/m);
      expect(stdout.match(/^ {2}message/gm)).toHaveLength(50);
      expect(stdout).toMatch(/^\.\.\. and \d+ problems more \(--json has all\)\.$/m);
    }));

  it('refuses what is no transcript with 6, and what is not there with 2', () =>
    inFolder(async (dir) => {
      const file = path.join(dir, 'notes.txt');
      await writeFile(file, 'Hello.\n');
      const [unknown, missing] = await Promise.all([
        runCli(['check', file]),
        runCli(['check', path.join(dir, 'none')]),
      ]);
      expect(unknown).toMatchObject({ code: 6, stdout: '' });
      expect(missing).toMatchObject({ code: 2, stdout: '' });
    }));
});
