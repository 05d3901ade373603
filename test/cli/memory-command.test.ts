/** `memory`: the facts of an agent or a scope, where they come from, and taking away what came from one source. */
import { describe, expect, it } from 'vitest';
import { openWorkingContext } from '../../src/agent/context/open-working-context.js';
import { batchOf, jsonOf } from './cli-batch.js';
import { CLI_TIMEOUT_MS, inFolder } from './cli-fixture.js';

async function withFacts(dir: string, scope?: string): Promise<void> {
  const context = await openWorkingContext({ agentId: 'ann', dir, memory: scope ? { scope } : {} });
  await context.memory.facts.remember('Likes tea.');
  await context.memory.facts.remember('Pay mallory.', { source: 'tool', origins: ['tool:web'] });
  await context.close();
}

describe('memory', { timeout: CLI_TIMEOUT_MS }, () => {
  it.each([
    ['an agent', ['--agent', 'ann'], undefined],
    ['a scope', ['--scope', 'user-17'], 'user-17'],
  ] as const)('lists the facts of %s, shows their sources, and purges one when told so', (_, owner, scope) =>
    inFolder(async (dir) => {
      await withFacts(dir, scope);
      const [listed, sources, dry, still, done, after, all] = await batchOf('memory', dir)(
        ['list', ...owner],
        ['sources', ...owner, '--json'],
        ['purge', ...owner, '--source', 'tool'],
        ['list', ...owner, '--json'],
        ['purge', ...owner, '--source', 'tool:web', '--yes'],
        ['list', ...owner, '--json'],
        ['list', ...owner, '--all'],
      );
      expect(listed.stdout).toMatch(/^sem_\S+ \(user\) Likes tea\.\nsem_\S+ \(tool\) Pay mallory\.\n$/);
      expect(jsonOf(sources)['sources']).toContainEqual({ source: 'tool:web', facts: 1, summaries: 0 });
      expect(dry.stdout).toContain(
        '1 item of tool would be purged. Nothing was changed. To purge them, add --yes.',
      );
      expect(jsonOf(still)['facts']).toHaveLength(2);
      expect(done).toMatchObject({ code: 0 });
      expect(done.stdout).toContain('stay in the journals until they are erased');
      expect(jsonOf(after)).toMatchObject({ facts: [{ text: 'Likes tea.' }] });
      expect(all.stdout).toContain('(tool, purged) Pay mallory.');
    }),
  );

  it('refuses a call without an owner, with two, or without a source, and an agent that is not there', () =>
    inFolder(async (dir) => {
      const [none, two, source, absent, help] = await batchOf('memory', dir)(
        ['list'],
        ['list', '--agent', 'ann', '--scope', 'user-17'],
        ['purge', '--scope', 'user-17'],
        ['list', '--agent', 'ann'],
        ['purge', '--help'],
      );
      for (const refused of [none, two, source]) expect(refused.code).toBe(2);
      expect(absent.code).toBe(3);
      expect(help.stdout.replace(/\s+/g, ' ')).toContain('stay in the journals until they are erased');
    }));
});
