import { describe, expect, it } from 'vitest';
import { withFile } from '../../../src/storage/file/file-io.js';
import type { OpenFile } from '../../../src/storage/file-system.js';

function fileThat(close: () => Promise<void>): OpenFile {
  return { close } as OpenFile;
}

const failing = (text: string) => () => Promise.reject(new Error(text));

describe('work with a file', () => {
  it('that fails is told as it failed, also where closing fails after it', async () => {
    const file = fileThat(failing('closing'));
    await expect(withFile(file, failing('the work'))).rejects.toThrow('the work');
  });

  it('that succeeds is told as failed where closing fails', async () => {
    await expect(withFile(fileThat(failing('closing')), async () => 1)).rejects.toThrow('closing');
  });
});
