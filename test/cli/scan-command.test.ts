/** `rekindle scan`: what it finds, and that it never prints it. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runCliBatch } from './cli-batch.js';
import { CLI_TIMEOUT_MS, conversation, inFolder } from './cli-fixture.js';

const KEY = 'ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R';

describe('scan', { timeout: CLI_TIMEOUT_MS }, () => {
  it('names each place of a store with its kinds, never the value, and exits with 1', () =>
    inFolder(async (folder) => {
      const dir = path.join(folder, 'memory');
      await conversation(dir, 'ada', [`My key is ${KEY}.`, 'Write to ann@mail.example.org.']);
      const [found, personal] = await runCliBatch([
        ['scan', '-d', dir],
        ['scan', '-d', dir, '--personal', '--json'],
      ]);
      expect(found!.code).toBe(1);
      expect(found!.stdout).toMatch(/^agents\/ada\/raw_traces#\d+: github-token$/m);
      expect(found!.stdout).toContain('rekindle erase ID');
      expect(found!.stdout + personal!.stdout).not.toContain(KEY);
      const kinds = (jsonOf(personal!)['hits'] as { kinds: object }[]).flatMap((hit) =>
        Object.keys(hit.kinds),
      );
      expect(new Set(kinds)).toStrictEqual(new Set(['github-token', 'email']));
    }));

  it('finds nothing in a store that was redacted from its start', () =>
    inFolder(async (folder) => {
      const dir = `file:${path.join(folder, 'memory')}?redact=credentials,personal`;
      await conversation(dir, 'ada', [`My key is ${KEY}.`, 'Write to ann@mail.example.org.']);
      const [scanned] = await runCliBatch([['scan', '-d', path.join(folder, 'memory'), '--personal']]);
      expect(scanned).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing found in') });
    }));

  it('reads a transcript line by line', () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'session.jsonl');
      await fs.writeFile(file, `{"text":"hello"}\n{"password":"correct horse"}\n`);
      const [scanned] = await runCliBatch([['scan', file]]);
      expect(scanned!.code).toBe(1);
      expect(scanned!.stdout).toContain(`${file}:2: password`);
    }));
});
