/** `docs/legality.md` names every rule and every code, and none that does not exist. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { REPAIR_CODES, RULE_IDS } from '../src/messages/legality/repairs.js';
import { RULES_TEXT } from '../src/messages/legality/rule-texts.js';
import { REQUEST_RULES } from '../src/messages/projections/checks/request-rules.js';
import { NOTE_CODES } from '../src/messages/projections/projection.js';

const page = readFileSync(new URL('../docs/legality.md', import.meta.url), 'utf8');

/** The rows of the table under a heading: their cells. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(`${heading}\n`)[1]?.split(/\n#{2,3} /)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(1).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const codesIn = (cell: string) => [...cell.matchAll(/`([a-z][a-z-]+-[a-z-]+)`/g)].map(([, code]) => code!);

describe('docs/legality.md', () => {
  it('has a row for each rule, with who refuses it', () => {
    const rows = rowsUnder('## Rules of the list').map(([rule, , refusedBy]) => [rule, refusedBy]);
    expect(rows).toStrictEqual(RULE_IDS.map((rule) => [rule, RULES_TEXT[rule].enforcedBy]));
  });

  it('says for each repair code what it does', () => {
    const codes = rowsUnder('## Rules of the list').flatMap(([, , , repair]) => codesIn(repair ?? ''));
    expect([...new Set(codes)].sort()).toStrictEqual([...REPAIR_CODES].sort());
  });

  it('has a row for each note of a projection', () => {
    expect(rowsUnder('### Notes').map(([code]) => code)).toStrictEqual(
      NOTE_CODES.map((code) => `\`${code}\``),
    );
  });

  it('has a row for each rule of a request, as the code has it', () => {
    expect(rowsUnder('## Rules of a request').map(([rule, text]) => [rule, text])).toStrictEqual(
      Object.entries(REQUEST_RULES).map(([rule, text]) => [`\`${rule}\``, text]),
    );
  });
});
