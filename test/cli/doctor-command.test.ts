/** `rekindle doctor`: what it finds in a store, and that it changes nothing. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkNode } from '../../src/cli/store-checks.js';
import { jsonOf, runCliBatch } from './cli-batch.js';
import { CLI_TIMEOUT_MS, conversation, inFolder } from './cli-fixture.js';

interface Finding {
  readonly level: string;
  readonly check: string;
  readonly message: string;
  readonly advice: string | null;
}

async function doctor(dir: string) {
  const [result] = await runCliBatch([['doctor', '-d', dir, '--json']], { cwd: path.dirname(dir) });
  const findings = jsonOf(result)['findings'] as unknown as Finding[];
  return {
    code: result.code,
    of: (check: string) => findings.filter((finding) => finding.check === check && finding.level !== 'ok'),
    bad: findings.filter(({ level }) => level !== 'ok'),
  };
}

async function inStore(run: (dir: string) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const dir = path.join(folder, 'memory');
    await conversation(dir, 'ada', ['Hi.']);
    await run(dir);
  });
}

describe('doctor', { timeout: CLI_TIMEOUT_MS }, () => {
  it('finds nothing in a store as it is made, and says what it looked at', () =>
    inStore(async (dir) => {
      const { code, bad } = await doctor(dir);
      expect(bad).toEqual([]);
      expect(code).toBe(0);
      const [shown] = await runCliBatch([['doctor', '-d', dir]]);
      expect(shown.stdout).toMatch(/^ok {7}Node /m);
      expect(shown.stdout).toContain('Problems: 0, warnings: 0.');
    }));

  it('knows a folder that is not there yet, and makes none', () =>
    inFolder(async (folder) => {
      const dir = path.join(folder, 'absent');
      expect(await doctor(dir)).toMatchObject({ code: 0, bad: [] });
      await expect(fs.stat(dir)).rejects.toMatchObject({ code: 'ENOENT' });
    }));

  it.skipIf(process.platform === 'win32')('names files that others can read, links and second names', () =>
    inStore(async (dir) => {
      const traces = path.join(dir, 'agents', 'ada', 'raw_traces.jsonl');
      await fs.chmod(traces, 0o644);
      await fs.link(traces, path.join(dir, 'second'));
      await fs.symlink(traces, path.join(dir, 'link'));
      const { code, of } = await doctor(dir);
      expect(code).toBe(0);
      expect(of('modes')).toMatchObject([
        {
          level: 'warning',
          message: expect.stringContaining('raw_traces.jsonl'),
          advice: expect.stringContaining('chmod -R go-rwx'),
        },
      ]);
      for (const name of ['link', 'second', 'raw_traces.jsonl'])
        expect(of('links')[0]!.message).toContain(name);
      expect(of('links')[0]!.message.split(', ')).toHaveLength(4); // a comma of the text, and three files
    }),
  );

  it('names what was kept when something was damaged', () =>
    inStore(async (dir) => {
      await fs.writeFile(path.join(dir, 'agents', 'ada', 'raw_traces.torn-12-0123abcd'), 'x', {
        mode: 0o600,
      });
      expect((await doctor(dir)).of('kept')[0]!.message).toContain('raw_traces.torn-12-0123abcd');
    }));

  it('names tokens that never end, and refuses a token file that others can read', () =>
    inStore(async (dir) => {
      await runCliBatch([['token', 'create', '--agent', 'ada', '-d', dir]]);
      expect((await doctor(dir)).of('tokens')).toMatchObject([
        { level: 'warning', message: expect.stringMatching(/never expire: [^,]+\.$/) },
      ]);
      if (process.platform === 'win32') return;
      await fs.writeFile(path.join(dir, 'server', 'token.json'), '{"token":"0123456789abcdef"}', {
        mode: 0o644,
      });
      const { code, of } = await doctor(dir);
      expect(code).toBe(1);
      expect(of('tokens')).toMatchObject([{ level: 'problem' }]);
    }));

  it('names erasures that were not finished', () =>
    inStore(async (dir) => {
      await fs.mkdir(path.join(dir, 'erasures'), { mode: 0o700 });
      const marker = { target: { agent: 'ada' }, at: '2030-01-01T00:00:00.000Z', trees: [['agents', 'ada']] };
      await fs.writeFile(path.join(dir, 'erasures', 'agent-ada.json'), JSON.stringify(marker), {
        mode: 0o600,
      });
      const { code, of } = await doctor(dir);
      expect(code).toBe(1);
      expect(of('erasures')[0]).toMatchObject({
        level: 'problem',
        message: expect.stringContaining('agent ada'),
      });
    }));

  it.skipIf(spawnSync('git', ['--version']).status !== 0)(
    'says when Git would take the folder into a commit',
    () =>
      inStore(async (dir) => {
        const repository = path.dirname(dir);
        spawnSync('git', ['init', '--quiet'], { cwd: repository });
        expect((await doctor(dir)).of('git')).toMatchObject([
          { level: 'warning', advice: 'Add a line to .gitignore: memory/' },
        ]);
        await fs.writeFile(path.join(repository, '.gitignore'), 'memory/\n');
        expect((await doctor(dir)).of('git')).toEqual([]);
      }),
  );

  it('refuses a version of Node that is too old', () => {
    expect(checkNode('20.18.9').level).toBe('problem');
    expect(checkNode('18.20.0').level).toBe('problem');
    expect(checkNode('20.19.0').level).toBe('ok');
    expect(checkNode('24.1.0').level).toBe('ok');
  });
});
