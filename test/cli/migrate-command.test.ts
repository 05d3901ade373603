/** `migrate`, and the scaffold of `state init` that it is shown with. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { agentState } from '../../src/state/durable/documents/agent-state.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { runCliBatch } from './cli-batch.js';
import { CLI_TIMEOUT_MS, type CliResult, entriesBelow, inFolder, runCli } from './cli-fixture.js';

const FILES = ['plan.state.mjs', 'plan.v1.schema.json', 'plan.v2.schema.json'];
const DIFF = ['  - /blockers', '  ~ /schema_version: 2', '  + /risks: []', ''];

function documentsOf({ stdout }: CliResult): JsonObject[] {
  return (JSON.parse(stdout) as { documents: JsonObject[] }).documents;
}

describe('a document of the project', { timeout: CLI_TIMEOUT_MS }, () => {
  it('begins with two schemas and a migration, which dry-run shows and migrate makes, once', () =>
    inFolder(async (cwd) => {
      const run = (...args: string[]) => runCli(args, { cwd });
      const begun = await run('state', 'init', 'plan');
      expect(begun).toMatchObject({ code: 0, stderr: '' });
      for (const file of FILES) expect(begun.stdout).toContain(`wrote ${path.join(cwd, 'rekindle', file)}\n`);
      expect(begun.stdout).toContain(
        'began state/plan.json\nNext: rekindle migrate --dry-run --definitions rekindle',
      );
      expect((await fs.readdir(path.join(cwd, 'rekindle'))).sort()).toEqual(FILES);
      const stored = path.join(cwd, 'memory', 'state', 'plan.json');
      expect(JSON.parse(await fs.readFile(stored, 'utf8'))).toMatchObject({ schema_version: 1, goal: '' });

      const before = await entriesBelow(cwd);
      const [again, dry, dryJson, first, bad] = await runCliBatch(
        [
          ['state', 'init', 'plan'],
          ['migrate', '--dry-run', '--definitions', 'rekindle'],
          ['migrate', '--dry-run', '--json', '--definitions', 'rekindle'],
          ['migrate', '--to', '1'],
          ['migrate', '--to', 'one'],
        ],
        { cwd },
      );
      expect(again).toMatchObject({ code: 0, stderr: '' });
      expect(again.stdout).toContain('state/plan.json already exists.');
      expect(dry).toMatchObject({ code: 0, stderr: '' });
      expect(dry.stdout.split('\n')).toEqual(['plan: version 1 would become 2.', ...DIFF]);
      expect(documentsOf(dryJson)).toEqual([
        expect.objectContaining({ name: 'plan', status: 'would-migrate', from: 1, to: 2, error: null }),
      ]);
      expect(first).toEqual({ code: 0, stdout: 'plan: at version 1. Nothing to do.\n', stderr: '' });
      expect(bad).toMatchObject({ code: 2, stdout: '' });
      expect(await entriesBelow(cwd)).toEqual(before);

      const made = await run('migrate');
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(made.stdout.split('\n')).toEqual(['plan: version 1 became 2.', ...DIFF]);
      const migrated = { schema_version: 2, goal: '', risks: [], last_human_touch: null };
      expect(JSON.parse(await fs.readFile(stored, 'utf8'))).toEqual(expect.objectContaining(migrated));
      expect(await fs.readdir(path.join(cwd, 'memory', 'state', 'backups'))).toHaveLength(1);

      const after = await entriesBelow(cwd);
      const [idempotent, older] = await runCliBatch([['migrate'], ['migrate', '--to', '1', '--json']], {
        cwd,
      });
      expect(idempotent).toEqual({ code: 0, stdout: 'plan: at version 2. Nothing to do.\n', stderr: '' });
      expect(documentsOf(older)).toEqual([expect.objectContaining({ status: 'newer', from: 2, to: 2 })]);
      expect(await entriesBelow(cwd)).toEqual(after);
    }));
});

describe('documents that fail', { timeout: CLI_TIMEOUT_MS }, () => {
  it('go into quarantine with the reason and exit code 1; the others go on, and unknown ones stay', () =>
    inFolder(async (cwd) => {
      const storage = new FileStorage(path.join(cwd, 'memory'));
      await (await StateManager.open({ ...agentState, backend: storage })).close();
      await storage.close();
      const state = path.join(cwd, 'memory', 'state');
      await fs.writeFile(path.join(state, 'agent_state.bad.json'), '{"schema_version":0}');
      await fs.writeFile(path.join(state, 'unknown.json'), '{}');
      await fs.mkdir(path.join(cwd, 'rekindle'));
      await fs.writeFile(path.join(cwd, 'rekindle', 'agent_state.state.mjs'), OWN_AGENT_STATE);

      const dry = await runCli(['migrate', '--dry-run', '--definitions', 'rekindle'], { cwd });
      expect(dry).toMatchObject({ code: 1, stderr: '' });
      expect(dry.stdout).toContain('agent_state.bad: would fail. ');
      const made = await runCli(['migrate', '--json'], { cwd });
      expect(made).toMatchObject({ code: 1, stderr: '' });
      expect(documentsOf(made)).toEqual([
        expect.objectContaining({ name: 'agent_state', status: 'migrated', from: 1, to: 2 }),
        expect.objectContaining({
          name: 'agent_state.bad',
          status: 'quarantined',
          quarantine: 'quarantine/agent_state.bad.1.json',
          error: expect.objectContaining({ code: 'UNSUPPORTED_VERSION' }),
        }),
        expect.objectContaining({ name: 'unknown', status: 'unknown' }),
      ]);
      expect((await fs.readdir(path.join(state, 'quarantine'))).sort()).toEqual([
        'agent_state.bad.1.json',
        'agent_state.bad.1.reason.json',
      ]);
    }));

  it('say where they are, also when only the journal is left', () =>
    inFolder(async (cwd) => {
      const storage = new FileStorage(path.join(cwd, 'memory'));
      await (await StateManager.open({ ...agentState, backend: storage })).close();
      await storage.close();
      await fs.mkdir(path.join(cwd, 'rekindle'));
      const failing = OWN_AGENT_STATE.replace('...old, mood', '...old, surprise: 1, mood');
      await fs.writeFile(path.join(cwd, 'rekindle', 'agent_state.state.mjs'), failing);

      const first = await runCli(['migrate'], { cwd });
      expect(first).toMatchObject({ code: 1, stderr: '' });
      expect(first.stdout).toMatch(
        /^agent_state: failed\. The migration of agent_state from 1 to 2 failed: /,
      );
      expect(first.stdout).toContain(
        '  It was moved to state/quarantine/agent_state.1.json, with the reason next to it.\n',
      );
      const second = await runCli(['migrate'], { cwd });
      expect(second).toMatchObject({ code: 1, stderr: '' });
      expect(second.stdout).toContain('  Its journal still contains it; there is no file to move.\n');
    }));
});

/** Takes the place of the built-in one. */
const OWN_AGENT_STATE = `
export default {
  name: 'agent_state',
  schema: {
    type: 'object',
    required: ['schema_version', 'mood'],
    properties: { schema_version: { const: 2 }, mood: { type: 'string' }, surprise: { type: 'null' } },
  },
  migrations: [{ from: 1, migrate: (old) => ({ ...old, mood: 'calm' }) }],
};
`;
