import { describe, expect, it } from 'vitest';
import { openMemory } from '../../src/memory/open-memory.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import {
  CLI_TIMEOUT_MS,
  entriesBelow,
  inFolder,
  resultOf,
  runCli,
  startCli,
  traceRows,
} from './cli-fixture.js';

describe.concurrent('chat through a pipe', { timeout: CLI_TIMEOUT_MS }, () => {
  it('remembers in its second process what it was told in the first', () =>
    inFolder(async (dir) => {
      const env = { REKINDLE_MEMORY_DIR: dir };
      const first = await runCli(['chat', '--agent', 'ann'], { env, input: 'My name is Ann.\n' });
      expect(first).toMatchObject({ code: 0, stderr: '' });
      expect(first.stdout).toContain('A new agent, ann.');
      expect(first.stdout).toContain('(offline model) You said: "My name is Ann.".');

      const input = 'What is my name?\n/report\n/resume\n/exit\nnot read\n';
      const second = await runCli(['chat', '--agent', 'ann'], { env, input });
      expect(second.code).toBe(0);
      expect(second.stdout).toContain('I still know 1 earlier message; the first was "My name is Ann.".');
      expect(second.stdout.match(/The context of ann was restored from its cache/g)).toHaveLength(2);
      expect(second.stderr).toMatch(/^No turn was interrupted\. \(AGENT_STATE\)\n/);
      const said = (await traceRows(dir, 'ann')).filter((row) => row['trace_type'] === 'user');
      expect(said.map((row) => row['content'])).toEqual(['My name is Ann.', 'What is my name?']);
    }));

  it('with --json prints one event a line, errors too', () =>
    inFolder(async (dir) => {
      const input = 'Hi.\n/report\n/resume';
      const { code, stdout, stderr } = await runCli(['chat', '-a', 'ann', '-d', dir, '--json'], { input });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const lines = stdout.trimEnd().split('\n');
      const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      const kinds = events.map((event) => event['type']).filter((kind, at, all) => kind !== all[at - 1]);
      expect(kinds).toEqual(['started', 'text', 'turn_ended', 'report', 'error']);
      expect(events[0]).toEqual({ type: 'started', agentId: 'ann', report: null });
      const deltas = events.filter((event) => event['type'] === 'text').map((event) => event['delta']);
      expect(events.find((event) => event['type'] === 'turn_ended')).toMatchObject({
        turnId: 'turn_0001',
        status: 'completed',
        text: deltas.join(''),
      });
      expect(events.at(-1)).toMatchObject({ error: { code: 'AGENT_STATE' } });
    }));

  it('goes on with a turn whose answer was never given', () =>
    inFolder(async (dir) => {
      const opened = await openMemory(new FileStorage(dir), 'ann', { compaction: null });
      await opened.memory.begin('You are brief.');
      await opened.memory.ingestUserMessage('Are you there?', opened.memory.startTurn());
      await opened.close();

      const { code, stdout } = await runCli(['chat', '-a', 'ann', '-d', dir], { input: '/resume\n' });
      expect(code).toBe(0);
      expect(stdout).toContain('The last turn was interrupted. /resume continues it.');
      expect(stdout).toContain('(offline model) You said: "Are you there?".');
      const turns = (await traceRows(dir, 'ann')).map((row) => row['turn_id']);
      // The header of the journal, and the system prompt, are of no turn.
      expect(turns).toEqual(['', '', 'turn_0001', 'turn_0001']);
    }));

  it('--model with a provider that is not installed says what to install, and makes no agent', () =>
    inFolder(async (dir) => {
      const { code, stdout, stderr } = await runCli(['chat', '--model', 'nosuch:x', '-d', dir]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('Run: npm install ai @ai-sdk/nosuch (DEPENDENCY_MISSING)');
      expect((await entriesBelow(dir)).size).toBe(0);
    }));
});

// The signal has to arrive while words are coming. On a busy machine it may come too late, so it may be tried again.
describe('Ctrl-C', { timeout: CLI_TIMEOUT_MS, retry: 3 }, () => {
  it('in mid-answer stops the answer and keeps what was said; a second one ends the chat', () =>
    inFolder(async (dir) => {
      const child = startCli(['chat', '-a', 'ann', '-d', dir]);
      let shown = '';
      child.stdout.on('data', (chunk: Buffer) => {
        const before = shown;
        shown += chunk.toString('utf8');
        const arrives = (text: string) => shown.includes(text) && !before.includes(text);
        if (arrives('(offline model)')) child.kill('SIGINT');
        if (arrives('the text so far is kept)')) child.kill('SIGINT');
      });
      child.stdin.write(`Tell me about ${'very '.repeat(12)}old ships.\n`);
      const { code, stderr } = await resultOf(child);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(shown).toMatch(/\(offline model\).* \(stopped; the text so far is kept\)\n$/);

      const answer = (await traceRows(dir, 'ann')).at(-1)!;
      expect(answer).toMatchObject({ trace_type: 'assistant', status: 'aborted' });
      const said = String(answer['content']);
      expect(said).toMatch(/^\(offline model\)/);
      expect(said).not.toContain('first thing I know');
      expect(shown).toContain(said);
    }));
});
