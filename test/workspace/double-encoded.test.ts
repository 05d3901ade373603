/** Files of other tools that hold one JSON string which itself holds JSON: where the shared corpus is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { Workspace } from '../../src/workspace/workspace.js';

const folder = fileURLToPath(new URL('../../../shared/corpus/letta-af', import.meta.url));
const files = existsSync(folder) ? readdirSync(folder).sort() : [];
if (files.length === 0) console.log(`double-encoded: skipped, there is no ${folder}`);

describe('a value out of a file of another tool', () => {
  it.skipIf(files.length === 0).each(files.length === 0 ? ['nothing'] : files)(
    '%s is read as what it means, and told',
    async (file) => {
      const value: unknown = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
      const workspace = new Workspace(new MemoryStorage());
      const { notes } = await workspace.write('file', value);
      const twice = typeof value === 'string';
      expect(notes).toEqual(twice ? ['decoded'] : []);
      expect((await workspace.read('file'))?.value).toEqual(twice ? JSON.parse(value) : value);
    },
  );
});
