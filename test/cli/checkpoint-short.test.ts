/** `checkpoint`, in the order in which a person uses it. What can go wrong with each command is in the long tests. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runCliBatch } from './cli-batch.js';
import { CLI_TIMEOUT_MS, conversation, inFolder } from './cli-fixture.js';

describe('checkpoint', { timeout: CLI_TIMEOUT_MS }, () => {
  it('saves, lists, compares, loads, verifies, removes, and begins an agent from one', () =>
    inFolder(async (dir) => {
      const file = path.join(dir, 'a.json');
      await fs.writeFile(file, '{"temperature": 0.2, "goal": "ship"}');
      await conversation(dir, 'trip', ['Day 1.']);
      const at = ['--dir', dir];
      const results = await runCliBatch([
        ['checkpoint', 'save', file, '--session', 's', '--tag', 'a', '--tag', 'b', ...at],
        ['checkpoint', 'save', file, '--session', 's', '--force', ...at],
        ['checkpoint', 'save', '--agent', 'trip', ...at],
        ['checkpoint', 'list', '--json', ...at],
        ['checkpoint', 'diff', 's@1', 's@2', ...at],
        ['checkpoint', 'load', 's', ...at],
        ['checkpoint', 'verify', ...at],
        ['checkpoint', 'delete', 's@1', ...at],
        ['restore', 'branch', '--from-checkpoint', 'trip@1', ...at],
        ['checkpoint', 'load', 's@1', ...at],
        ['restore', 'branch', '--from-checkpoint', 'trip@1', ...at],
      ]);
      expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 6]);
      const [saved, , , list, diff, loaded, verified, , branched] = results;
      expect(saved.stdout).toContain('Saved s@1: 33 bytes of JSON');
      expect(jsonOf(list)).toMatchObject({ total: 3 });
      expect(diff.stdout).toBe('No difference.\n');
      expect(jsonOf(loaded)).toEqual({ temperature: 0.2, goal: 'ship' });
      expect(verified.stdout).toContain('3 checkpoints in 2 sessions');
      expect(branched.stdout).toContain('branch begins from trip@1.');
      expect(branched.stdout).toContain('from a checkpoint');
    }));
});
