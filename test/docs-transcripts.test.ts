/** `docs/transcripts.md` has a row for each format, and for none that does not exist. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXPORTERS } from '../src/messages/exporters/exporters.js';
import { IMPORTERS } from '../src/messages/importers/importers.js';

const page = readFileSync(new URL('../docs/transcripts.md', import.meta.url), 'utf8');
const [read = '', written = ''] = page.split('## Written');
const formatsIn = (text: string) =>
  [...text.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, format]) => format).sort();

describe('docs/transcripts.md', () => {
  it('has a row for each format that is read', () => {
    expect(formatsIn(read)).toStrictEqual(IMPORTERS.map(({ format }) => format).sort());
  });

  it('has a row for each format that is written', () => {
    expect(formatsIn(written)).toStrictEqual(EXPORTERS.map(({ format }) => format).sort());
  });
});
