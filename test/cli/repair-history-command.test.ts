/** `repair-history`: a copy beside the transcript, which every provider accepts. The transcript is never touched. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI_TIMEOUT_MS, entriesBelow, inFolder, runCli } from './cli-fixture.js';
import { chatCall, STOPPED_RECORDS, writeJson, writeLines } from './transcript-files.js';

const LONG_ID = `call_${'a'.repeat(55)}`;
const FAULTY = {
  messages: [
    { role: 'user', content: 'Look.' },
    chatCall(LONG_ID),
    { role: 'user', content: 'Well?' },
    { role: 'assistant', content: '' },
  ],
};

describe.concurrent('repair-history', { timeout: CLI_TIMEOUT_MS }, () => {
  it('writes a copy that passes `check`, says what was mended, and leaves the file byte for byte', () =>
    inFolder(async (dir) => {
      const file = await writeJson(path.join(dir, 'dump.json'), FAULTY);
      const before = await readFile(file);
      const { code, stdout, stderr } = await runCli(['repair-history', file]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/dump\.repaired\.json: 4 messages, 4 problems fixed\.$/m);
      expect(stdout).toContain('  message 1: add-interrupted-result, because the call has no result\n');
      expect(stdout).toMatch(/^ {2}messages\/1\/tool_calls\/0\/id: .*\[openai-chat\/1\.8/m);
      expect(await readFile(file)).toEqual(before);
      expect([...(await entriesBelow(dir)).keys()]).toEqual(['dump.json', 'dump.repaired.json']);

      const checked = await runCli(['check', path.join(dir, 'dump.repaired.json'), '--json']);
      expect(checked.code).toBe(0);
      expect(JSON.parse(checked.stdout)).toMatchObject({
        format: 'openai-chat',
        violations: [],
        refused: [],
      });
    }));

  it('keeps the format of the file, and its times', () =>
    inFolder(async (dir) => {
      const file = await writeLines(path.join(dir, 'session.jsonl'), STOPPED_RECORDS);
      expect((await runCli(['repair-history', 'session.jsonl'], { cwd: dir })).code).toBe(0);
      const copy = path.join(dir, 'session.repaired.jsonl');
      const [first] = (await readFile(copy, 'utf8')).split('\n');
      expect(JSON.parse(first ?? '')).toMatchObject({ type: 'user', timestamp: '2026-01-02T03:04:01.000Z' });
      const [before, after] = await Promise.all([runCli(['check', file]), runCli(['check', copy])]);
      expect([before.code, after.code]).toEqual([1, 0]);
    }));

  it('writes messages of our own for a format without an exporter, which pass `check`, too', () =>
    inFolder(async (dir) => {
      const record = (role: string, content: object) => ({ role, message: { content: [content] } });
      const file = await writeLines(path.join(dir, 'transcript.jsonl'), [
        record('user', { type: 'text', text: 'Look.' }),
        record('assistant', { type: 'tool_use', name: 'shell', input: {} }),
      ]);
      const { code, stdout } = await runCli(['repair-history', file, '--json']);
      expect(code).toBe(0);
      const { file: copy, format } = JSON.parse(stdout) as { file: string; format: string };
      expect([path.basename(copy), format]).toEqual(['transcript.repaired.json', 'rekindle']);
      const checked = await runCli(['check', copy, '--json']);
      expect(JSON.parse(checked.stdout)).toMatchObject({ format: 'rekindle', violations: [], refused: [] });
      expect(checked.code).toBe(0);
    }));

  it('writes another format, to another place, when told so', () =>
    inFolder(async (dir) => {
      const file = await writeJson(path.join(dir, 'dump.json'), FAULTY);
      const out = path.join(dir, 'mended.md');
      const { code, stdout } = await runCli(['repair-history', file, '-f', 'markdown', '-o', out, '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        ...{ file: out, format: 'markdown', messages: 4, target: 'openai-chat' },
        repairs: [
          { code: 'add-interrupted-result', messageIndex: 1, callId: LONG_ID },
          { code: 'drop-empty-message', messageIndex: 3 },
        ],
        refused: [{ rule: 'openai-chat/1.8' }, { rule: 'openai-chat/1.1' }],
        losses: { records: 4 },
      });
      expect(await readFile(out, 'utf8')).toMatch(/^# Conversation of `dump`\n/);
    }));

  it('never overwrites: neither a copy that is there, nor the transcript', () =>
    inFolder(async (dir) => {
      const file = await writeJson(path.join(dir, 'dump.json'), FAULTY);
      await writeFile(path.join(dir, 'dump.repaired.json'), 'mine');
      const before = await entriesBelow(dir);
      const [copy, itself] = await Promise.all([
        runCli(['repair-history', file]),
        runCli(['repair-history', file, '-o', file]),
      ]);
      expect([copy.code, itself.code]).toEqual([2, 2]);
      expect(copy.stderr).toContain('The file already exists and was not changed. Choose another name.');
      expect(await entriesBelow(dir)).toEqual(before);
    }));

  it('writes beside a folder, not into it, also when the folder is `.`', () =>
    inFolder(async (dir) => {
      const storage = path.join(dir, 'storage');
      await writeJson(path.join(storage, 'm1.json'), {
        id: 'm1',
        sessionID: 's',
        role: 'user',
        time: { created: 1 },
      });
      await writeJson(path.join(storage, 'p1.json'), {
        id: 'p1',
        messageID: 'm1',
        type: 'text',
        text: 'Hi.',
      });
      const { code } = await runCli(['repair-history', '.'], { cwd: storage });
      expect(code).toBe(0);
      expect([...(await entriesBelow(dir)).keys()]).toContain('storage.repaired.json');
    }));

  it('refuses an unknown format and names the known ones, before anything is written', () =>
    inFolder(async (dir) => {
      const file = await writeJson(path.join(dir, 'dump.json'), FAULTY);
      const { code, stderr } = await runCli(['repair-history', file, '-f', 'xml']);
      expect(code).toBe(2);
      expect(stderr).toContain('Unknown format "xml". Choose one of openai-chat,');
      expect([...(await entriesBelow(dir)).keys()]).toEqual(['dump.json']);
    }));
});
