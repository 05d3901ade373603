/** What the command line knows of shared states. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SharedSessions } from '../../src/state/shared/shared-sessions.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { Workspace } from '../../src/workspace/workspace.js';
import type { WorkspaceScope } from '../../src/workspace/workspace-scope.js';
import { CLI_TIMEOUT_MS, inFolder, runCli } from './cli-fixture.js';

describe('a damaged shared state', { timeout: CLI_TIMEOUT_MS }, () => {
  it('is found by verify, mended by repair, and then goes on with new versions', () =>
    inFolder(async (cwd) => {
      const dir = path.join(cwd, 'memory');
      const { version } = await withState(dir, async (state) => {
        for (let n = 0; n < 5; n += 1) await state.increment('n');
        return (await state.get('n'))!;
      });
      const file = path.join(dir, 'shared', 'state', 'root', 'changes.jsonl');
      const lines = (await readFile(file, 'utf8')).split('\n');
      lines[2] = lines[2]!.replace('increment', 'incremenT');
      await writeFile(file, lines.join('\n'));
      const name = 'shared/state/root/changes';
      expect(await runCli(['verify', '--dir', dir], { cwd })).toMatchObject({ code: 1 });
      await expect(withState(dir, (state) => state.get('n'))).rejects.toMatchObject({
        code: 'JOURNAL_DAMAGED',
      });
      expect(await runCli(['repair', name, '--dir', dir], { cwd })).toMatchObject({ code: 0 });
      expect(await runCli(['verify', '--dir', dir], { cwd })).toMatchObject({ code: 0 });
      const after = await withState(dir, (state) => state.increment('n'));
      expect(after.version).toBeGreaterThan(version);
    }));
});

async function withState<T>(
  dir: string,
  use: (state: Awaited<ReturnType<SharedSessions['stateOf']>>) => Promise<T>,
): Promise<T> {
  const storage = new FileStorage(dir);
  const shared = new SharedSessions(storage);
  try {
    if ((await shared.tree.get('root')) === null) await shared.tree.create({ id: 'root' });
    return await use(await shared.stateOf('root'));
  } finally {
    await shared.close();
    await storage.close();
  }
}

describe('damaged workspaces', { timeout: CLI_TIMEOUT_MS }, () => {
  it.each<{ scope: WorkspaceScope; name: string }>([
    { scope: { root: 'root' }, name: 'workspace/roots/root/entries' },
    { scope: { agent: 'ann' }, name: 'workspace/agents/ann/entries' },
  ])('of $scope are found by verify and mended by repair', ({ scope, name }) =>
    inFolder(async (cwd) => {
      const dir = path.join(cwd, 'memory');
      await withWorkspace(dir, scope, async (workspace) => {
        for (let n = 0; n < 5; n += 1) await workspace.write('plan', { n }, { agent: 'a' });
      });
      expect(await runCli(['verify', '--dir', 'memory'], { cwd })).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`ok      ${name}: 5 records`),
      });
      const file = path.join(dir, `${name}.jsonl`);
      const lines = (await readFile(file, 'utf8')).split('\n');
      lines[2] = lines[2]!.replace('plan', 'plaN');
      await writeFile(file, lines.join('\n'));

      const found = await runCli(['verify', '--dir', 'memory'], { cwd });
      expect(found.code).toBe(1);
      expect(found.stdout).toContain(`Run: rekindle repair --dir memory ${name}`);
      expect((await runCli(['repair', name, '--dir', 'memory'], { cwd })).code).toBe(0);
      expect((await runCli(['verify', '--dir', 'memory'], { cwd })).code).toBe(0);
      await withWorkspace(dir, scope, async (workspace) => {
        expect((await workspace.write('plan', { n: 5 }, { agent: 'a' })).version).toBe(6);
      });
    }),
  );
});

async function withWorkspace(
  dir: string,
  scope: WorkspaceScope,
  use: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  const storage = new FileStorage(dir);
  const workspace = new Workspace(storage, { scope });
  try {
    await use(workspace);
  } finally {
    await workspace.close();
    await storage.close();
  }
}
