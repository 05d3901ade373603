/** What an error of the file system is told as, and what it says to do. */
import { expect, it } from 'vitest';
import { storageError } from '../../../src/storage/file/storage-errors.js';

const thrown = (code: string) => Object.assign(new Error(`${code}: failed`), { code });

it.each(['EACCES', 'EPERM'])('%s says whose files they may be, and how to give them back', (errno) => {
  const error = storageError(thrown(errno), 'open raw_traces.jsonl');
  expect(error).toMatchObject({ code: 'STORAGE_FAILED', details: { doing: 'open raw_traces.jsonl', errno } });
  expect(error.advice).toContain('sudo chown -R USER FOLDER');
});

it('a read-only disk says to choose another folder', () => {
  expect(storageError(thrown('EROFS'), 'append').advice).toContain('mounted read-only');
});

it('another error says what its code says', () => {
  expect(storageError(thrown('EIO'), 'append').advice).toContain('details.errno');
});
