/** `copy`: from one store to another, for people and as JSON, and what it refuses. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { restoreAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../src/agent/model/scripted-model.js';
import { runCliBatch } from './cli-batch.js';
import { CLI_TIMEOUT_MS, conversation, damage, runCli, traceRows } from './cli-fixture.js';
import { keptBelow, withoutServer, withStore } from './store-to-copy.js';

interface CopyJson {
  readonly from: string;
  readonly to: string;
  readonly agents: readonly Record<string, unknown>[];
  readonly rest: Record<string, unknown> | null;
}

describe.concurrent('copy', { timeout: CLI_TIMEOUT_MS }, () => {
  it(
    'copies everything to a database and back, but the token of a server, says what it copied, and leaves the source as it was',
    withStore(async (cwd, memory) => {
      const before = await keptBelow(memory);
      const run = (...args: string[]) => runCli(args, { cwd });
      const there = await run('copy', '--from', 'memory', '--to', 'sqlite:store.db');
      const back = await run('copy', '--from', 'sqlite:store.db', '--to', 'back', '--json');
      const listed = await run('list', '-d', 'sqlite:store.db', '--json'); // after the copy, which holds the leases
      const verified = await run('verify', '-d', 'back');
      expect(there).toMatchObject({ code: 0, stderr: '' });
      expect(there.stdout).toBe(
        'Bob B: 4 records, 0 artifacts; restores to the same 3 messages.\n' +
          'ada: 6 records, 0 artifacts; restores to the same 5 messages.\n' +
          'Other data: 1 record, 1 document, 0 blobs.\n' +
          `Copied to sqlite:${path.join(cwd, 'store.db')} and verified.\n`,
      );
      expect(back).toMatchObject({ code: 0, stderr: '' });
      const json = JSON.parse(back.stdout) as CopyJson;
      expect(json).toStrictEqual({
        from: `sqlite:${path.join(cwd, 'store.db')}`,
        to: path.join(cwd, 'back'),
        agents: ['Bob B', 'ada'].map((agentId) => ({
          agentId,
          journals: 1,
          records: agentId === 'ada' ? 6 : 4,
          documents: 1,
          blobs: 0,
          skipped: 0,
          messages: agentId === 'ada' ? 5 : 3,
        })),
        rest: { journals: 1, records: 1, documents: 1, blobs: 0, skipped: 0 },
        tenants: [],
      });
      const agents = (JSON.parse(listed.stdout) as { agents: { agentId: string; status: string }[] }).agents;
      expect(agents.map(({ agentId, status }) => [agentId, status])).toStrictEqual([
        ['Bob B', 'stopped'],
        ['ada', 'stopped'],
      ]);
      expect(verified).toMatchObject({ code: 0 });
      expect((await fs.readdir(path.join(cwd, 'back'))).sort()).toStrictEqual(['agents', 'state']);
      expect(await traceRows(path.join(cwd, 'back'), 'ada')).toStrictEqual(await traceRows(memory, 'ada'));
      expect(await keptBelow(memory)).toStrictEqual(before);
    }),
  );

  it(
    'made again says that all was there, and changes nothing',
    withStore(async (cwd, memory) => {
      const copy = ['copy', '--from', 'memory', '--to', 'other'];
      const [first, again, json] = await runCliBatch([copy, copy, [...copy, '--json']], { cwd });
      expect(first).toMatchObject({ code: 0, stderr: '' });
      expect(again).toMatchObject({ code: 0, stderr: '' });
      expect(again.stdout).not.toBe(first.stdout);
      expect(again.stdout).toMatch(/all already copied/);
      for (const agent of (JSON.parse(json.stdout) as CopyJson).agents)
        expect(agent).toMatchObject({ journals: 1, documents: 1, skipped: 2 });
      expect((JSON.parse(json.stdout) as CopyJson).rest).toMatchObject({ skipped: 2 });
      expect(await keptBelow(path.join(cwd, 'other'))).toStrictEqual(await withoutServer(memory));
    }),
  );

  it(
    'told wrongly says what is missing or possible, exits with 2 or 3, and makes nothing',
    withStore(async (cwd) => {
      const before = await keptBelow(cwd);
      const [noTo, noFrom, scheme, parameter, agent, id] = await runCliBatch(
        [
          ['copy', '--from', 'memory', '--json'],
          ['copy', '--to', 'other'],
          ['copy', '--from', 'memory', '--to', 'mysql://here/there'],
          ['copy', '--from', 'memory', '--to', 'sqlite:x.db?schema=a', '--json'],
          ['copy', '--from', 'memory', '--to', 'other', '--agent', 'nobody'],
          ['copy', '--from', 'memory', '--to', 'other', '--agent', '../ada'],
        ],
        { cwd },
      );
      expect(noTo.code).toBe(2);
      expect(noTo.stdout + noTo.stderr).toContain("'--to <place>'");
      expect(noFrom.code).toBe(2);
      expect(noFrom.stderr).toContain("'--from <place>'");
      expect(scheme.code).toBe(2);
      expect(scheme.stderr).toContain('"mysql" is not known. Possible are: a folder');
      expect(parameter.code).toBe(2);
      expect(JSON.parse(parameter.stdout)).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } });
      expect(agent.code).toBe(3);
      expect(agent.stderr).toContain('There is no agent "nobody" here. (AGENT_NOT_FOUND)');
      expect(id.code).toBe(2);
      expect(id.stderr).toContain('(INVALID_NAME)');
      expect(await keptBelow(cwd)).toStrictEqual(before);
    }),
  );

  it(
    'refuses a target with another agent of that id with exit code 6, and overwrites nothing',
    withStore(async (cwd) => {
      const other = path.join(cwd, 'other');
      await conversation(other, 'ada', ['Something else.']);
      const before = await keptBelow(other);
      const [shown, json] = await runCliBatch(
        [
          ['copy', '--from', 'memory', '--to', 'other', '--agent', 'ada'],
          ['copy', '--from', 'memory', '--to', 'other', '--agent', 'ada', '--json'],
        ],
        { cwd },
      );
      expect(shown.code).toBe(6);
      expect(shown.stderr).toMatch(
        /agents\/ada\/.* is in the target, with .*\((?:DOCUMENT|JOURNAL)_CONFLICT\)/,
      );
      expect(JSON.parse(json.stdout)).toMatchObject({ error: { details: { target: other } } });
      expect(await keptBelow(other)).toStrictEqual(before);
    }),
  );

  it(
    'refuses an agent that runs with exit code 4, and copies it when it has stopped',
    withStore(async (cwd, memory) => {
      const config = { memoryDir: memory, systemPrompt: 'You are brief.', model: new ScriptedModel([]) };
      const agent = restoreAgent('ada', config);
      const copy = ['copy', '--from', 'memory', '--to', 'other', '--agent', 'ada'];
      await agent.start();
      const running = await runCli(copy, { cwd });
      await agent.stop();
      expect(running).toMatchObject({ code: 4, stdout: '' });
      expect(running.stderr).toContain('(LEASE_HELD)');
      await expect(fs.access(path.join(cwd, 'other', 'agents', 'ada'))).rejects.toMatchObject({
        code: 'ENOENT',
      });
      expect(await runCli(copy, { cwd })).toMatchObject({ code: 0 });
    }),
  );

  it(
    'refuses a damaged agent with exit code 5, names the journal, and copies nothing of it',
    withStore(async (cwd, memory) => {
      await damage(path.join(memory, 'agents', 'ada', 'raw_traces.jsonl'), 'Hello');
      const copied = await runCli(['copy', '--from', 'memory', '--to', 'other'], { cwd });
      expect(copied.code).toBe(5);
      expect(copied.stderr).toContain('agents/ada/raw_traces was not copied: checksum. (JOURNAL_DAMAGED)');
      const entries = [...(await keptBelow(path.join(cwd, 'other'))).entries()];
      const ofAda = entries.filter(([name, content]) => name.includes('ada') && content !== '(folder)');
      expect(ofAda).toStrictEqual([]);
    }),
  );
});
