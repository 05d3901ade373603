/** `import`: a transcript becomes an agent, or nothing is written. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI_TIMEOUT_MS, conversation, entriesBelow, inFolder, runCli } from './cli-fixture.js';
import { chatDump, SESSION_RECORDS, STOPPED_RECORDS, writeJson, writeLines } from './transcript-files.js';

/** A folder for transcripts, and one for memory that is not there yet. */
function withFolders(run: (files: string, memory: string) => Promise<void>): () => Promise<void> {
  return () => inFolder((dir) => run(dir, path.join(dir, 'memory')));
}

async function contextOf(memory: string, agentId: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await runCli(['restore', agentId, '-d', memory, '--json']);
  return (JSON.parse(stdout) as { messages: Record<string, unknown>[] }).messages;
}

describe.concurrent('import', { timeout: CLI_TIMEOUT_MS }, () => {
  it(
    'makes an agent of a Claude Code session, and says what was kept and dropped',
    withFolders(async (dir, memory) => {
      const file = await writeLines(path.join(dir, 'session.txt'), SESSION_RECORDS);
      const { code, stdout, stderr } = await runCli(['import', file, '-a', 'app', '-d', memory]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.split('\n').map((line) => line.trim())).toEqual([
        expect.stringMatching(
          /session\.txt: Claude Code session\. 4 messages in 1 turn became 5 traces of the agent app\.$/,
        ),
        'Kept: 1 user message, 2 assistant messages, 1 tool call, 1 reasoning, 1 tool result.',
        'Dropped:',
        '1  record of a sub-agent (sidechain)  line 5',
        '',
      ]);
      expect(await contextOf(memory, 'app')).toMatchObject([
        { role: 'user', content: 'List the files.' },
        { role: 'assistant', tool_payload: { tool_calls: [{ id: 'toolu_1', name: 'Bash' }] } },
        { role: 'tool', tool_payload: { tool_result: 'a.ts' } },
        { role: 'assistant', content: 'One file.' },
      ]);
    }),
  );

  it(
    'makes an agent of a dump of chat messages, and tells all as JSON',
    withFolders(async (dir, memory) => {
      const file = await writeJson(path.join(dir, 'dump'), chatDump());
      const { code, stdout } = await runCli(['import', file, '--agent', 'app', '--dir', memory, '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toEqual({
        ...{ agentId: 'app', format: 'openai-chat', title: 'OpenAI chat messages' },
        ...{ messages: 5, replayed: 0, turns: 1, traces: 5, artifacts: 0, openCalls: 0 },
        losses: {
          records: 5,
          kept: {
            ...{ 'system message': 1, 'user message': 1, 'assistant message': 2 },
            ...{ 'tool call': 1, 'tool result': 1 },
          },
          approximated: [],
          dropped: [],
        },
      });
    }),
  );

  it(
    'makes an agent of a folder of OpenCode files',
    withFolders(async (dir, memory) => {
      const storage = path.join(dir, 'storage');
      const text = (id: string, messageID: string, said: string) => ({
        id,
        messageID,
        type: 'text',
        text: said,
      });
      const info = (id: string, role: string, created: number) => ({
        id,
        sessionID: 's1',
        role,
        time: { created },
      });
      await writeJson(path.join(storage, 'message/s1/m1.json'), info('m1', 'user', 1000));
      await writeJson(path.join(storage, 'message/s1/m2.json'), info('m2', 'assistant', 2000));
      await writeJson(path.join(storage, 'part/m1/p1.json'), text('p1', 'm1', 'Hello.'));
      await writeJson(path.join(storage, 'part/m2/p2.json'), text('p2', 'm2', 'Hi.'));
      const { code, stdout } = await runCli(['import', storage, '-a', 'app', '-d', memory]);
      expect(code).toBe(0);
      expect(stdout).toContain('2 messages in 1 turn');
      expect(await contextOf(memory, 'app')).toMatchObject([{ content: 'Hello.' }, { content: 'Hi.' }]);
    }),
  );

  it(
    'says which calls the transcript leaves open, and the restore says that their outcome is unknown',
    withFolders(async (dir, memory) => {
      const file = await writeLines(path.join(dir, 'session.jsonl'), STOPPED_RECORDS);
      const imported = await runCli(['import', file, '-a', 'app', '-d', memory]);
      expect(imported.stdout).toContain(
        '1 call without a result; the first restore will mark the outcome as unknown.',
      );
      const restored = await runCli(['restore', 'app', '-d', memory]);
      expect(restored.stdout).toContain('Interrupted call Bash (toolu_2): it was running;');
    }),
  );

  it(
    'shows the name of a file and does not obey it',
    withFolders(async (dir, memory) => {
      const file = await writeJson(path.join(dir, 'a\u001b[31m.json'), chatDump());
      const { code, stdout } = await runCli(['import', path.basename(file), '-a', 'app', '-d', memory], {
        cwd: dir,
      });
      expect(code).toBe(0);
      expect(stdout).toContain('a\\u001b[31m.json: ');
    }),
  );
});

describe.concurrent('import refuses, and writes nothing:', { timeout: CLI_TIMEOUT_MS }, () => {
  it(
    'an agent that exists (6)',
    withFolders(async (dir, memory) => {
      await conversation(memory, 'ada', ['Hello.']);
      const before = await entriesBelow(memory);
      const file = await writeJson(path.join(dir, 'dump.json'), chatDump());
      const { code, stdout, stderr } = await runCli(['import', file, '-a', 'ada', '-d', memory]);
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
      expect(stderr).toContain('The agent "ada" exists already. (AGENT_EXISTS)');
      expect(await entriesBelow(memory)).toEqual(before);
    }),
  );

  it(
    'a file of no known format (6), saying what was looked for',
    withFolders(async (dir, memory) => {
      const file = path.join(dir, 'notes.txt');
      await writeFile(file, 'Hello.\n');
      const [shown, json] = await Promise.all([
        runCli(['import', file, '-a', 'app', '-d', memory]),
        runCli(['import', file, '-a', 'app', '-d', memory, '--json']),
      ]);
      expect(shown.code).toBe(6);
      expect(shown.stderr).toMatch(
        /notes\.txt" has no known transcript format: it is not JSON\. Looked for: .*Codex/,
      );
      const { error } = JSON.parse(json.stdout) as {
        error: { code: string; details: Record<string, unknown> };
      };
      expect(error.code).toBe('TRANSCRIPT_UNKNOWN');
      expect(error.details['lookedFor']).toContainEqual({ format: 'codex', lookedFor: expect.any(String) });
      expect([...(await entriesBelow(dir)).keys()]).toEqual(['notes.txt']);
    }),
  );

  it(
    'a file that is not there (2)',
    withFolders(async (dir, memory) => {
      const { code, stderr } = await runCli(['import', path.join(dir, 'none'), '-a', 'app', '-d', memory]);
      expect(code).toBe(2);
      expect(stderr).toContain('none cannot be read. There is no such file or folder. (INVALID_ARGUMENT)');
      expect((await entriesBelow(dir)).size).toBe(0);
    }),
  );

  it(
    'a document that is broken at its end (6)',
    withFolders(async (dir, memory) => {
      const file = path.join(dir, 'dump.json');
      const messages = Array.from({ length: 40 }, (_, number) => ({
        role: 'user',
        content: `Say ${number}.`,
      }));
      await writeFile(file, JSON.stringify({ model: 'm', messages }).slice(0, -8));
      const { code, stderr } = await runCli(['import', file, '-a', 'app', '-d', memory]);
      expect(code).toBe(6);
      expect(stderr).toContain('(TRANSCRIPT_INVALID)');
      expect([...(await entriesBelow(dir)).keys()]).toEqual(['dump.json']);
    }),
  );

  it(
    'a name that leaves the folder (2)',
    withFolders(async (dir, memory) => {
      const file = await writeJson(path.join(dir, 'dump.json'), chatDump());
      const { code, stderr } = await runCli(['import', file, '-a', '../up', '-d', memory]);
      expect(code).toBe(2);
      expect(stderr).toContain('(INVALID_NAME)');
      expect([...(await entriesBelow(dir)).keys()]).toEqual(['dump.json']);
    }),
  );

  it(
    'a transcript in which nothing was said (1)',
    withFolders(async (dir, memory) => {
      const payload = { id: 's', timestamp: '2026-01-02T03:04:05Z', cwd: '/', originator: 'codex_cli_rs' };
      const header = { timestamp: '2026-01-02T03:04:05Z', type: 'session_meta', payload };
      const file = await writeLines(path.join(dir, 'rollout.jsonl'), [header]);
      const { code, stdout } = await runCli(['import', file, '-a', 'app', '-d', memory]);
      expect(code).toBe(1);
      expect(stdout).toContain('Codex rollout. It has no messages, so no agent was made.');
      expect((await runCli(['restore', 'app', '-d', memory])).code).toBe(3);
    }),
  );

  it(
    'to guess the agent (2)',
    withFolders(async (dir, memory) => {
      const file = await writeJson(path.join(dir, 'dump.json'), chatDump());
      const before = await readFile(file, 'utf8');
      const { code, stderr } = await runCli(['import', file, '-d', memory]);
      expect(code).toBe(2);
      expect(stderr).toContain("required option '-a, --agent <id>'");
      expect(await readFile(file, 'utf8')).toBe(before);
      expect([...(await entriesBelow(dir)).keys()]).toEqual(['dump.json']);
    }),
  );
});
