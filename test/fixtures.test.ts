/** Each folder in `fixtures/memory` is a test: what its `expected.json` says, dry and for real, and again. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../fixtures/making/all.js';
import { checkFixtures } from './fixture-checks.js';

const folder = fileURLToPath(new URL('../fixtures/memory', import.meta.url));

await checkFixtures(folder);

describe('the fixtures', () => {
  it('are all there, and say what their makers say', async () => {
    for (const { name, expected } of FIXTURES) {
      const text = await fs.readFile(path.join(folder, name, 'expected.json'), 'utf8');
      expect(JSON.parse(text)).toStrictEqual(JSON.parse(JSON.stringify(expected)));
    }
  });
});
