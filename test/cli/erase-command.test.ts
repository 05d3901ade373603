/** `rekindle erase`: tells first, erases on request, and looks for a text in the bytes of the store. */
import { describe, expect, it } from 'vitest';
import { CLI_TIMEOUT_MS, conversation, inFolder, runCli } from './cli-fixture.js';

describe.concurrent('erase', { timeout: CLI_TIMEOUT_MS }, () => {
  it('tells what would go, erases it with --yes, and --verify says whether a text is there', () =>
    inFolder(async (dir) => {
      await conversation(dir, 'ada', ['A canary called Ünique.']);
      const told = await runCli(['erase', '--agent', 'ada', '-d', dir]);
      expect(told.code).toBe(7);
      expect(told.stdout).toContain('Would erase the agent "ada"');
      const there = await runCli(['erase', '--verify', 'called Ünique', '-d', dir]);
      expect(there.code).toBe(1);
      expect(there.stdout).toContain('agents/ada/raw_traces.jsonl: found');
      const done = await runCli(['erase', '--agent', 'ada', '--yes', '--json', '-d', dir]);
      expect(done.code).toBe(0);
      expect(JSON.parse(done.stdout)).toMatchObject({ dryRun: false, after: { items: 0, bytes: 0 } });
      expect((await runCli(['erase', '--verify', 'called Ünique', '-d', dir])).code).toBe(0);
      expect((await runCli(['erase', '--agent', 'ada', '--dry-run', '-d', dir])).code).toBe(3);
      expect((await runCli(['erase', '--resume', '-d', dir])).code).toBe(0);
    }));

  it('erases one turn, and looks for several texts', () =>
    inFolder(async (dir) => {
      await conversation(dir, 'ada', ['The first is crimson.', 'The second is turquoise.']);
      const turn = ['erase', '--agent', 'ada', '--turn', '1'];
      const told = await runCli([...turn, '-d', dir]);
      expect([told.code, told.stdout]).toEqual([7, expect.stringContaining('turn 1 of the agent "ada"')]);
      expect((await runCli([...turn, '--yes', '-d', dir])).code).toBe(0);
      const found = await runCli(['erase', '-d', dir, '--verify', 'is crimson', 'is turquoise']);
      expect(found.code).toBe(1);
      expect(found.stdout).toContain('text 2 found');
      expect(found.stdout).not.toContain('text 1 found');
    }));
});
