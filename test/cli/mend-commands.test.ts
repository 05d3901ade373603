/** `verify`, `repair`, `rebuild`, `compact`. */
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  CLI_TIMEOUT_MS,
  conversation,
  damage,
  entriesBelow,
  inFolder,
  runCli,
  traceRows,
} from './cli-fixture.js';

const CACHE = 'working_context_snapshot.json';
const REQUESTS = ['My name is Ann.', 'The invoice is late.', 'Call me tomorrow.'];

/** A folder with the agent `ada`, and her own folder in it. */
function withAda(run: (dir: string, ada: string) => Promise<void>): () => Promise<void> {
  return () =>
    inFolder(async (dir) => {
      await conversation(dir, 'ada', REQUESTS);
      await run(dir, path.join(dir, 'agents', 'ada'));
    });
}

describe.concurrent('verify and repair', { timeout: CLI_TIMEOUT_MS }, () => {
  it(
    'verify finds nothing wrong with healthy agents, and changes nothing',
    withAda(async (dir) => {
      await conversation(dir, 'bob', ['Hi.']);
      const before = await entriesBelow(dir);
      const shown = await runCli(['verify', '-d', dir]);
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect(shown.stdout).toBe(
        'ok      ada: 8 records, 0 artifacts, cache equals rebuild\n' +
          'ok      bob: 4 records, 0 artifacts, cache equals rebuild\n',
      );
      expect(await entriesBelow(dir)).toEqual(before);
    }),
  );

  it(
    'verify exits with 1, says what is damaged, and which command mends it',
    withAda(async (dir, ada) => {
      await conversation(dir, 'bob', ['Hi.']);
      await damage(path.join(ada, 'raw_traces.jsonl'), 'invoice');
      const [shown, json] = await Promise.all([
        runCli(['verify', '-d', dir]),
        runCli(['verify', '-d', dir, '--json']),
      ]);
      expect(shown.code).toBe(1);
      expect(shown.stdout).toContain('DAMAGED ada: 7 records');
      expect(shown.stdout).toMatch(/raw_traces\.jsonl: checksum, \d+ bytes at \d+/);
      expect(shown.stdout).toContain(`Run: rekindle repair --dir ${dir} ada\n`);
      expect(shown.stdout).toContain('ok      bob:');

      expect(json.code).toBe(1);
      const result = JSON.parse(json.stdout) as { ok: boolean; agents: Record<string, unknown>[] };
      expect(result.ok).toBe(false);
      expect(result.agents.map((agent) => [agent['agentId'], agent['ok']])).toEqual([
        ['ada', false],
        ['bob', true],
      ]);
      expect(Object.keys(result.agents[0]!)).toEqual([
        'agentId',
        'ok',
        'journals',
        'artifacts',
        'restore',
        'cacheEqualsRebuild',
        'isAtWork',
        'problems',
      ]);
    }),
  );

  it(
    'repair puts a clean copy in the place of a damaged file and keeps the damaged one',
    withAda(async (dir, ada) => {
      const file = path.join(ada, 'raw_traces.jsonl');
      await damage(file, 'invoice');
      await rm(path.join(ada, CACHE)); // so that the context comes from the traces
      const damaged = await readFile(file, 'latin1');

      const first = await runCli(['repair', 'ada', '-d', dir, '--json']);
      expect(first.code).toBe(0);
      const report = JSON.parse(first.stdout) as { journals: { kept: string }[] };
      expect(report).toMatchObject({
        agentId: 'ada',
        journals: [{ place: 'raw_traces.jsonl', ranges: 1, bytesBeyondSeal: 0 }],
        restore: { source: 'rebuilt', cacheRefused: { reason: 'missing' } },
        snapshot: { whole: true, setAside: null },
      });
      const { kept } = report.journals[0]!;
      expect(kept).toMatch(/^raw_traces\.jsonl\.damaged-[0-9a-f]{8}$/);
      expect(await readFile(path.join(ada, kept), 'latin1')).toBe(damaged);
      const clean = await readFile(file, 'latin1');
      expect(clean).toHaveLength(damaged.length);
      expect(clean).toContain('\n{"_lost":1} ');

      const verified = await runCli(['verify', 'ada', '-d', dir]);
      expect(verified.stdout).toBe('ok      ada: 7 records, 0 artifacts, cache equals rebuild\n');
      expect(verified.code).toBe(0);

      const second = await runCli(['repair', 'ada', '-d', dir]);
      expect(second.code).toBe(0);
      expect(second.stdout).toContain('No journal file was replaced.');
      expect(await readFile(file, 'latin1')).toBe(clean);
      expect((await readdir(ada)).filter((name) => name.includes('damaged'))).toEqual([kept]);
    }),
  );

  it(
    'after a repair with a good cache, which still has what the traces lost, nothing is wrong any more',
    withAda(async (dir, ada) => {
      await damage(path.join(ada, 'raw_traces.jsonl'), 'invoice');
      const repaired = await runCli(['repair', 'ada', '-d', dir]);
      expect(repaired.code).toBe(0);
      expect(await readFile(path.join(ada, CACHE), 'utf8')).toContain('The invoice is late.');
      const verified = await runCli(['verify', 'ada', '-d', dir]);
      expect(verified.stdout).toMatch(/^ok {6}ada: .*, cache equals rebuild$/m);
      expect(verified.code).toBe(0);
    }),
  );
});

describe.concurrent('rebuild', { timeout: CLI_TIMEOUT_MS }, () => {
  it(
    'writes the cache anew from the traces alone, byte for byte the same context',
    withAda(async (dir, ada) => {
      const file = path.join(ada, CACHE);
      const messages = (text: string) => text.slice(text.indexOf('\n'), text.indexOf('\n],'));
      const before = await readFile(file, 'utf8');
      await damage(file, 'late');
      const shown = await runCli(['rebuild', 'ada', '-d', dir]);
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect(shown.stdout).toContain(
        'The context of ada was restored from its traces alone, without the cache',
      );
      expect(shown.stdout).toContain('The cache was not used (damaged): its checksum does not match.');
      const aside = /The old cache is (working_context_snapshot\.json\.set-aside-[0-9a-f]{8})\./.exec(
        shown.stdout,
      );
      expect(await readdir(ada)).toContain(aside?.[1]);
      expect(messages(await readFile(file, 'utf8'))).toBe(messages(before));
    }),
  );
});

describe.concurrent('compact', { timeout: CLI_TIMEOUT_MS }, () => {
  it(
    'summarizes old turns and keeps every trace',
    withAda(async (dir) => {
      await conversation(
        dir,
        'eve',
        REQUESTS.map((request) => `${request} ${'And so on. '.repeat(60)}`),
      );
      const before = await traceRows(dir, 'eve');
      const dry = await runCli(['compact', 'eve', '--keep-turns', '1', '--dry-run', '-d', dir]);
      expect(dry.stdout).toMatch(
        /would be summarized; [\d,]+ tokens would become [\d,]+ tokens\. Nothing was changed\./,
      );
      const compacted = await runCli(['compact', 'eve', '--keep-turns', '1', '-d', dir, '--json']);
      expect(compacted.code).toBe(0);
      const result = JSON.parse(compacted.stdout) as Record<string, unknown>;
      expect(result).toMatchObject({
        compacted: true,
        epochId: 2,
        turnIds: ['turn_0001', 'turn_0002'],
        episodic: { summary: expect.stringContaining('My name is Ann.') },
      });
      expect(Number(result['tokensAfter'])).toBeLessThan(Number(result['tokensBefore']));
      const after = await traceRows(dir, 'eve');
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.slice(before.length).map((row) => row['trace_type'])).toEqual(['compaction']);

      const again = await runCli(['compact', 'eve', '--keep-turns', '1', '-d', dir]);
      expect(again).toMatchObject({ code: 0, stderr: '' });
      expect(again.stdout).toMatch(/^Nothing to compact/);
    }),
  );

  it(
    'refuses a number of turns that is none, before it touches anything',
    withAda(async (dir) => {
      const before = await entriesBelow(dir);
      const json = await runCli(['compact', 'ada', '--keep-turns', '0', '-d', dir, '--json']);
      expect(json.code).toBe(2);
      expect(JSON.parse(json.stdout)).toMatchObject({
        error: { code: 'INVALID_ARGUMENT', details: { argument: '--keep-turns', given: '0' } },
      });
      expect(await entriesBelow(dir)).toEqual(before);
    }),
  );
});
