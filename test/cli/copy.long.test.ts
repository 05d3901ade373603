/** More of `copy`: what it leaves out and takes along, and places that a newcomer gets wrong. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentState } from '../../src/state/durable/documents/agent-state.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { CLI_TIMEOUT_MS, conversation, runCli } from './cli-fixture.js';
import { keptBelow, withStore } from './store-to-copy.js';

describe.concurrent('copy', { timeout: CLI_TIMEOUT_MS }, () => {
  it(
    'of named agents copies these alone',
    withStore(async (cwd) => {
      const copied = await runCli(
        ['copy', '--from', 'memory', '--to', 'other', '--agent', 'Bob B', '--json'],
        { cwd },
      );
      expect(copied).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(copied.stdout)).toMatchObject({ agents: [{ agentId: 'Bob B' }], rest: null });
      expect(await fs.readdir(path.join(cwd, 'other'))).toStrictEqual(['agents']);
      expect(await fs.readdir(path.join(cwd, 'other', 'agents'))).toHaveLength(1);
    }),
  );

  it(
    'takes along what lies below an agent that has no traces yet',
    withStore(async (cwd, memory) => {
      const storage = new FileStorage(memory);
      const folder = ['agents', 'not yet', 'state'];
      await (await StateManager.open({ ...agentState, backend: storage, folder })).close();
      await storage.close();
      expect(await runCli(['copy', '--from', 'memory', '--to', 'other'], { cwd })).toMatchObject({ code: 0 });
      const copy = new FileStorage(path.join(cwd, 'other'));
      expect(await copy.documents.list(folder)).toContain('agent_state.json');
      await copy.close();
    }),
  );

  it(
    'from a place where nothing is does not say that something was copied',
    withStore(async (cwd) => {
      const places = ['memroy', 'sqlite:memroy.db'];
      const results = await Promise.all(
        places.map((place) => runCli(['copy', '--from', place, '--to', 'other'], { cwd })),
      );
      for (const { stdout } of results) expect(stdout).not.toContain('verified');
      expect(await fs.readdir(cwd)).toStrictEqual(['memory']);
    }),
  );

  it(
    'onto itself is refused, and says so',
    withStore(async (cwd, memory) => {
      const before = await keptBelow(cwd);
      const copied = await runCli(['copy', '--from', 'memory', '--to', `file:${memory}`], { cwd });
      expect(copied.code).not.toBe(0);
      expect(copied.stderr).toMatch(/same (?:place|store)|itself/);
      expect(await keptBelow(cwd)).toStrictEqual(before);
    }),
  );

  it(
    'refuses a target whose journal goes on otherwise with exit code 6, and overwrites nothing',
    withStore(async (cwd) => {
      const other = path.join(cwd, 'other');
      await conversation(other, 'ada', ['Something else.']);
      await fs.rm(path.join(other, 'agents', 'ada', 'working_context_snapshot.json'));
      const before = await keptBelow(other);
      const shown = await runCli(['copy', '--from', 'memory', '--to', 'other', '--agent', 'ada'], { cwd });
      expect(shown).toMatchObject({ code: 6, stdout: '' });
      expect(shown.stderr).toContain('agents/ada/raw_traces is in the target, with other records.');
      expect(await keptBelow(other)).toStrictEqual(before);
    }),
  );
});
