/** `rekindle audit`, and what other commands record. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runCliBatch } from './cli-batch.js';
import { CLI_TIMEOUT_MS, conversation, damage, inFolder } from './cli-fixture.js';

type Rows = readonly { readonly [field: string]: unknown }[];

describe('audit', { timeout: CLI_TIMEOUT_MS }, () => {
  it('lists what commands exported, erased and changed once it was started, and verifies it with a head', () =>
    inFolder(async (cwd) => {
      await conversation(path.join(cwd, 'memory'), 'ada', ['Hello.']);
      const at = ['-d', 'memory'];
      const results = await runCliBatch(
        [
          ['export', 'ada', '-f', 'openai-chat', '--json', ...at],
          ['audit', 'list', '--json', ...at],
          ['audit', 'start', ...at],
          ['export', 'ada', '-f', 'openai-chat', '--json', ...at],
          ['token', 'create', '--agent', 'ada', '--json', ...at],
          ['copy', '--from', 'memory', '--to', 'other'],
          ['erase', '--agent', 'ada', ...at],
          ['erase', '--agent', 'ada', '--yes', ...at],
          ['audit', 'list', '--json', ...at],
          ['audit', 'list', '--action', 'erase', '--since', '2020-01-01', '--json', ...at],
          ['audit', 'verify', '--json', ...at],
          ['verify', ...at],
        ],
        { cwd },
      );
      const [, none, started, , made, , , , listed, erased, verified, whole] = results;
      expect(jsonOf(none)['records']).toStrictEqual([]);
      expect(started.code).toBe(0);
      const rows = jsonOf(listed)['records'] as unknown as Rows;
      expect(rows.map(({ action, target, what }) => [action, target, what])).toStrictEqual([
        ['audit', 'store', 'audit start'],
        ['export', 'agent ada', 'export openai-chat'],
        ['token', `token ${String(jsonOf(made)['id'])}`, 'token create'],
        ['export', 'store', 'copy'],
        ['erase', 'agent ada', 'erase'],
      ]);
      expect(rows.every(({ actor, outcome }) => /^user ./.test(String(actor)) && outcome === 'allowed')).toBe(
        true,
      );
      expect(listed.stdout).not.toContain(String(jsonOf(made)['token']));
      expect((jsonOf(erased)['records'] as unknown as Rows).length).toBe(1);
      expect(jsonOf(verified)).toMatchObject({ ok: true, records: 5, head: { seq: 5 }, problem: null });
      expect(whole.stdout).toContain('audit/records: 5 records');

      const head = (jsonOf(verified)['head'] as { hash: string }).hash;
      const [kept, cut] = await runCliBatch(
        [
          ['audit', 'verify', '--head', head, ...at],
          ['audit', 'verify', '--head', head, '-d', 'other'],
        ],
        { cwd },
      );
      expect(kept).toMatchObject({ code: 0 });
      expect(kept.stdout).toBe(`The chain of 5 records is intact.\nHead: ${head} (record 5).\n`);
      expect(cut.code).toBe(1); // the copy was made before the last record
      expect(cut.stdout).toContain(
        'Record 5 and those after it are missing: the log does not contain the given head.',
      );

      await damage(path.join(cwd, 'memory', 'audit', 'records.jsonl'), 'agent ada');
      const [changed, wrong, since] = await runCliBatch(
        [
          ['audit', 'verify', ...at],
          ['audit', 'verify', '--head', 'x', ...at],
          ['audit', 'list', '--since', 'yesterday', ...at],
        ],
        { cwd },
      );
      expect(changed.code).toBe(1);
      expect(changed.stdout).toContain('Record 2 was changed.');
      expect([wrong.code, since.code]).toStrictEqual([2, 2]);
    }));
});
