/** A harness that misses a bug is no evidence: it is shown libraries with one, and must find it; without that one it finds nothing. */
import { describe, expect, it } from 'vitest';
import { runParameters } from '../property/seed.js';
import {
  BASE_NOT_CHECKED,
  BEGINNING_NOT_BOUND,
  CONTENT_NOT_CHECKED,
  CONTENT_OF_ANY_NUMBER,
  CONTENT_OF_ANY_SESSION,
  GAPS_NOT_TOLD,
  HEADS_OF_LAST_RECORD,
  NO_MAC_CHECK,
  NUMBER_NOT_BOUND,
  NUMBER_OF_ANY_PLACE,
  type Patch,
  PLAIN_AFTER_SEALED,
  RECORDS_NOT_CHECKED,
  runPlanted,
  SEQUENCE_NOT_IN_MAC,
  TAG_NOT_CHECKED,
  UNKNOWN_KEY_COUNTS,
} from './planted-library.js';

const { seed, numRuns } = runParameters('planted in the encryption', 2_000);

interface Plant {
  readonly bug: string;
  /** Layers that cover for the one with the bug. */
  readonly without: readonly Patch[];
  readonly patch: Patch;
  readonly options: readonly string[];
}

const sealedOnly = '--sealed-only';
const contentsOnly = '--contents-only';
const FITTED = 'data changed, its name and record made to fit';

const PLANTS: readonly Plant[] = [
  {
    bug: 'that does not check the codes of records',
    without: [],
    patch: NO_MAC_CHECK,
    options: [sealedOnly, '--kind', 'field changed'],
  },
  {
    bug: 'whose codes do not tell where a record stands',
    without: [],
    patch: SEQUENCE_NOT_IN_MAC,
    options: [sealedOnly, '--kind', 'lines swapped, renumbered'],
  },
  {
    bug: 'whose data may stand for another number',
    without: [NO_MAC_CHECK, CONTENT_OF_ANY_NUMBER],
    patch: NUMBER_NOT_BOUND,
    options: [sealedOnly, contentsOnly, '--kind', 'contents exchanged'],
  },
  {
    bug: 'that does not check what it opened',
    without: [NO_MAC_CHECK, CONTENT_NOT_CHECKED],
    patch: TAG_NOT_CHECKED,
    options: [sealedOnly, contentsOnly, '--kind', FITTED],
  },
  {
    bug: 'that does not check contents against their digest',
    without: [],
    patch: CONTENT_NOT_CHECKED,
    options: ['--kind', FITTED],
  },
  {
    bug: 'whose contents may be those of another number',
    without: [],
    patch: CONTENT_OF_ANY_NUMBER,
    options: ['--kind', 'contents exchanged'],
  },
  {
    bug: 'whose contents may be those of another session',
    without: [],
    patch: CONTENT_OF_ANY_SESSION,
    options: ['--kind', 'line of another session in place'],
  },
  {
    bug: 'whose numbers do not tell where a record stands',
    without: [CONTENT_OF_ANY_NUMBER],
    patch: NUMBER_OF_ANY_PLACE,
    options: ['--kind', 'numbers exchanged'],
  },
  {
    bug: 'that believes records of a key that nobody has',
    without: [],
    patch: UNKNOWN_KEY_COUNTS,
    options: [sealedOnly, '--kind', 'field changed, under a key that nobody has'],
  },
  {
    bug: 'that believes plain records where all are sealed',
    without: [],
    patch: PLAIN_AFTER_SEALED,
    options: ['--kind', 'plain records in place of sealed ones'],
  },
  {
    bug: 'whose keys do not tell from where on all are sealed',
    without: [],
    patch: BEGINNING_NOT_BOUND,
    options: ['--kind', 'plain records in place of sealed ones, and keys.json permits them'],
  },
  {
    bug: 'that does not tell which records are missing',
    without: [],
    patch: GAPS_NOT_TOLD,
    options: [sealedOnly, '--kind', 'line replaced by the mark of a loss'],
  },
  {
    bug: 'whose heads tell of the last record only',
    without: [],
    patch: HEADS_OF_LAST_RECORD,
    options: ['--kind', 'field changed'],
  },
];

describe('the harness finds a library', () => {
  const run = (patches: readonly Patch[], count: number, options: readonly string[]) =>
    runPlanted(patches, ['--seed', String(seed), '--count', String(count), '--stop-early', ...options]);

  it.each(PLANTS)('$bug', { timeout: 120_000 }, async ({ without, patch, options }) => {
    const sound = await run(without, 200, options);
    expect(sound.output).toContain('tampering: ok');
    const planted = await run([...without, patch], numRuns, options);
    expect(planted.output).toContain('VIOLATION --seed');
    expect(planted.exitCode).toBe(1);
  });

  it.each([
    ['whose saves build on data that was not read again', BASE_NOT_CHECKED],
    ['whose saves build on records that were not read again', RECORDS_NOT_CHECKED],
  ])('%s, when bits flip under it', { timeout: 120_000 }, async (_, patch) => {
    const sound = await run([], 10, ['--bit-rot']);
    expect(sound.output).toContain('tampering: ok');
    const planted = await run([patch], 100, ['--bit-rot']);
    expect(planted.output).toContain('VIOLATION --seed');
  });

  it('without codes of records only by what is said of contents', { timeout: 120_000 }, async () => {
    const { output } = await run([NO_MAC_CHECK], 600, [sealedOnly, contentsOnly]);
    expect(output).toContain('tampering: ok');
  });
});
