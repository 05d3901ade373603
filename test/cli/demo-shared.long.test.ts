import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI_TIMEOUT_MS, inFolder, runCli } from './cli-fixture.js';

interface Demo {
  readonly dir: string;
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly killed: readonly string[];
  readonly state: { readonly done: number; readonly findings: readonly string[] };
}

describe('demo shared', { timeout: CLI_TIMEOUT_MS }, () => {
  it('kills two of five children that update one state, and loses nothing that was acknowledged', () =>
    inFolder(async (cwd) => {
      const shown = await runCli(['demo', 'shared', '--json'], { cwd });
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      const demo = JSON.parse(shown.stdout) as Demo;
      expect(demo).toMatchObject({
        dir: path.join(cwd, 'rekindle-demo-shared'),
        lost: [],
        killed: ['demo-tester', 'demo-writer'],
      });
      expect(demo.acknowledged).toBeGreaterThanOrEqual(3 * 120 + 31 + 62);
      // Counted by hand as well: what the demo says of itself is not evidence.
      expect(demo.state.done).toBeGreaterThanOrEqual(3 * 40 + 11 + 21);
      expect(new Set(demo.state.findings).size).toBe(demo.state.findings.length);
      const verified = await runCli(['verify', '--json', '--dir', demo.dir], { cwd });
      expect(verified.code).toBe(0);
      expect(verified.stdout).toContain('shared/state/demo/changes');
    }));
});
