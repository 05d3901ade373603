/** Commands on a store with tenants: with `?tenant=` they have that tenant alone; without, each walks what its page says. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../src/agent/model/scripted-model.js';
import { TokenBook } from '../../src/server/access/token-book.js';
import { writeMarker } from '../../src/storage/erasure/erasure-marker.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { jsonOf, runCliBatch } from './cli-batch.js';
import { CLI_TIMEOUT_MS, conversation, damage, inFolder } from './cli-fixture.js';

const KEY = 'ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R';

/** An agent of no tenant and one of the tenant `acme`, both with the id `ada`, and a token of the tenant. */
async function withTenants(run: (cwd: string, dir: string) => Promise<void>): Promise<void> {
  await inFolder(async (cwd) => {
    const dir = path.join(cwd, 'memory');
    await conversation(dir, 'ada', ['Of no tenant.']);
    const storage = openStorage(`file:${dir}?tenant=acme`);
    const model = new ScriptedModel([{ text: 'Yes.' }]);
    const agent = createAgent({ agentId: 'ada', storage, systemPrompt: 'You are brief.', model });
    await agent.start();
    await agent.send(`Of acme: ${KEY}`);
    await agent.stop();
    await new TokenBook(storage).create({ agents: ['ada'], roots: [], session: null, mayWrite: false });
    await storage.close();
    await run(cwd, dir);
  });
}

describe('a store with tenants', { timeout: CLI_TIMEOUT_MS }, () => {
  it('has what belongs to a tenant behind its address, in every command', () =>
    withTenants(async (cwd) => {
      const acme = ['-d', 'file:memory?tenant=acme'];
      const [agents, tokens, none, searched, gone, wrong] = await runCliBatch(
        [
          ['list', '--json', ...acme],
          ['token', 'list', '--json', ...acme],
          ['token', 'list', '--json', '-d', 'memory'],
          ['erase', '--verify', 'Of no tenant', ...acme],
          ['erase', '--agent', 'ada', '--yes', '-d', 'file:memory?tenant=other'],
          ['list', '-d', 'file:memory?tenant=../acme'],
        ],
        { cwd },
      );
      expect((jsonOf(agents)['agents'] as unknown[]).length).toBe(1);
      expect((jsonOf(tokens)['tokens'] as unknown[]).length).toBe(1);
      expect(jsonOf(none)['tokens']).toStrictEqual([]);
      expect(searched).toMatchObject({ code: 0 });
      expect(gone).toMatchObject({ code: 3 });
      expect(wrong.code).toBe(2);
      expect(wrong.stderr).toContain('(INVALID_NAME)');
    }));

  it('is verified with its tenants, and the advice names the tenant', () =>
    withTenants(async (cwd, dir) => {
      await damage(path.join(dir, 'tenants', 'acme', 'agents', 'ada', 'raw_traces.jsonl'), 'Of acme');
      const [shown, json] = await runCliBatch(
        [
          ['verify', '-d', 'memory'],
          ['verify', '-d', 'memory', '--json'],
        ],
        { cwd },
      );
      expect(shown.code).toBe(1);
      expect(shown.stdout).toMatch(/ok +ada[\s\S]*Tenant acme:\nDAMAGED ada/);
      expect(shown.stdout).toContain("rekindle repair --dir 'file:memory?tenant=acme' ada");
      expect(jsonOf(json)).toMatchObject({
        ok: false,
        agents: [{ agentId: 'ada', ok: true }],
        tenants: [{ tenant: 'acme', agents: [{ agentId: 'ada', ok: false }], shared: [] }],
      });
      const [repaired, again] = await runCliBatch(
        [
          ['repair', '--dir', 'file:memory?tenant=acme', 'ada'],
          ['verify', '-d', 'memory'],
        ],
        { cwd },
      );
      expect([repaired.code, again.code]).toStrictEqual([0, 0]);
    }));

  it('is scanned with its tenants, and a tenant alone', () =>
    withTenants(async (cwd) => {
      const [all, one] = await runCliBatch(
        [
          ['scan', '-d', 'memory', '--json'],
          ['scan', '-d', 'file:memory?tenant=acme', '--json'],
        ],
        { cwd },
      );
      const places = (of: typeof all) =>
        (jsonOf(of)['hits'] as { place: string }[]).map(({ place }) => place);
      expect(places(all)[0]).toMatch(/^tenants\/acme\/agents\/ada\//);
      expect(places(one)[0]).toMatch(/^agents\/ada\//);
    }));

  it('is checked by doctor with the tokens and erasures of its tenants, which erase --resume finishes', () =>
    withTenants(async (cwd, dir) => {
      const storage = openStorage(`file:${dir}?tenant=acme`);
      await writeMarker(storage, { target: { agent: 'gone' }, trees: [['agents', 'gone']], places: [] });
      await storage.close();
      const [shown, json, resumed, after] = await runCliBatch(
        [
          ['doctor', '-d', 'memory'],
          ['doctor', '-d', 'memory', '--json'],
          ['erase', '--resume', '-d', 'memory'],
          ['doctor', '-d', 'memory', '--json'],
        ],
        { cwd },
      );
      expect(shown.code).toBe(1);
      expect(shown.stdout).toContain('Tenant acme: Unfinished erasures: agent gone.');
      expect(shown.stdout).toContain("rekindle erase --resume (with --dir 'file:memory?tenant=acme')");
      expect(jsonOf(json)['findings']).toContainEqual(
        expect.objectContaining({ tenant: 'acme', check: 'tokens', level: 'warning' }),
      );
      expect(resumed).toMatchObject({ code: 0 });
      expect(jsonOf(after)['problems']).toBe(0);
    }));

  it('is copied with its tenants, but without the tokens of any', () =>
    withTenants(async (cwd) => {
      const [copied, again, agents, tokens] = await runCliBatch(
        [
          ['copy', '--from', 'memory', '--to', 'sqlite:store.db'],
          ['copy', '--from', 'memory', '--to', 'sqlite:store.db', '--json'],
          ['list', '-d', 'sqlite:store.db?tenant=acme', '--json'],
          ['token', 'list', '-d', 'sqlite:store.db?tenant=acme', '--json'],
        ],
        { cwd },
      );
      expect(copied).toMatchObject({ code: 0, stderr: '' });
      expect(copied.stdout).toMatch(/^ada: .*\nTenant acme:\nada: .*\nCopied to /);
      expect(jsonOf(again)).toMatchObject({
        agents: [{ agentId: 'ada' }],
        tenants: [{ tenant: 'acme', agents: [{ agentId: 'ada', skipped: 2 }] }],
      });
      expect((jsonOf(agents)['agents'] as unknown[]).length).toBe(1);
      expect(jsonOf(tokens)['tokens']).toStrictEqual([]);
    }));

  it('can be copied into one of its tenants, and again', () =>
    withTenants(async (cwd, dir) => {
      await fs.rm(path.join(dir, 'tenants'), { recursive: true });
      const copy = ['copy', '--from', 'memory', '--to', 'file:memory?tenant=new'];
      const [first, again, agents] = await runCliBatch(
        [copy, copy, ['list', '-d', 'file:memory?tenant=new', '--json']],
        { cwd },
      );
      expect([first.code, again.code]).toStrictEqual([0, 0]);
      expect((jsonOf(agents)['agents'] as unknown[]).length).toBe(1);
      expect((await fs.readdir(path.join(dir, 'tenants', 'new'))).sort()).toStrictEqual(['agents']);
    }));
});
