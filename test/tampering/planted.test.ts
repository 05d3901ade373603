/** A harness that misses a bug is no evidence: it is shown libraries with one, and must find it. */
import { describe, expect, it } from 'vitest';
import { runParameters } from '../property/seed.js';
import {
  CONTENT_NOT_CHECKED,
  NO_MAC_CHECK,
  NUMBER_NOT_BOUND,
  type Patch,
  runPlanted,
  SEQUENCE_NOT_IN_MAC,
  TAG_NOT_CHECKED,
} from './planted-library.js';

const { seed, numRuns } = runParameters('planted in the encryption', 4_000);
const options = ['--seed', String(seed), '--count', String(numRuns), '--stop-early', '--sealed-only'];

describe('the harness finds a library', () => {
  it.concurrent.each<[string, readonly Patch[], readonly string[], string]>([
    ['that does not check the codes of records', [NO_MAC_CHECK], [], 'field'],
    ['whose codes do not tell where a record stands', [SEQUENCE_NOT_IN_MAC], [], 'renumbered'],
    [
      'whose data may stand for another number',
      [NO_MAC_CHECK, NUMBER_NOT_BOUND],
      ['--contents-only'],
      'number is',
    ],
    [
      'that does not check what it opened',
      [NO_MAC_CHECK, TAG_NOT_CHECKED, CONTENT_NOT_CHECKED],
      ['--contents-only'],
      'data changed',
    ],
  ])('%s', { timeout: 60_000 }, async (_, patches, more, found) => {
    const { exitCode, output } = await runPlanted(patches, [...options, ...more]);
    expect(output).toContain(found);
    expect(exitCode).toBe(1);
  });

  it.concurrent('that does not check contents against their digest', { timeout: 60_000 }, async () => {
    const { exitCode, output } = await runPlanted(
      [CONTENT_NOT_CHECKED],
      [...options.slice(0, -1), '--kind', 'data changed, its name and record made to fit'],
    );
    expect(output).toContain('gives');
    expect(exitCode).toBe(1);
  });
});

describe('without codes of records', () => {
  it('contents of an encrypted session are exact or refused all the same', { timeout: 60_000 }, async () => {
    const without = ['--seed', String(seed), '--count', '600', '--sealed-only', '--contents-only'];
    const { output, exitCode } = await runPlanted([NO_MAC_CHECK], without);
    expect(output.split('\n').filter((line) => line.startsWith('VIOLATION'))).toEqual([]);
    expect(exitCode).toBe(0);
  });
});
