/** Files and folders as sources for importers. */
import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FileSource, openFileSource } from '../../src/cli/file-source.js';
import type { TranscriptSource } from '../../src/messages/importers/transcript.js';
import { inFolder } from './cli-fixture.js';

/** More than two of the pieces that a file is read in. */
const BIG = Buffer.from(Array.from({ length: 600_000 }, (_, index) => index % 251));

async function read(source: TranscriptSource): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source.chunks()) chunks.push(Buffer.from(chunk)); // a copy: the source uses its buffer again
  return Buffer.concat(chunks);
}

async function put(dir: string, name: string, content: string): Promise<string> {
  const file = path.join(dir, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

/** Opens, looks, closes. */
function withSource(make: (dir: string) => Promise<string>, look: (opened: FileSource) => Promise<void>) {
  return () =>
    inFolder(async (dir) => {
      const opened = await openFileSource(await make(dir));
      try {
        await look(opened);
      } finally {
        await opened.close();
      }
    });
}

async function bigFile(dir: string): Promise<string> {
  const file = path.join(dir, 'big.bin');
  await writeFile(file, BIG);
  return file;
}

async function folder(dir: string): Promise<string> {
  await put(dir, 'b.json', '{"b":1}');
  await put(dir, 'a/deep.json', '{"deep":1}');
  await put(dir, 'notes.txt', 'Buy milk.');
  await mkdir(path.join(dir, 'folder.json'));
  await symlink(path.join(dir, 'b.json'), path.join(dir, 'link.json'));
  return dir;
}

describe('a file as a source', () => {
  it(
    'gives its bytes in order, in pieces, as often as it is read',
    withSource(bigFile, async ({ source }) => {
      expect(source.size).toBe(BIG.length);
      expect((await read(source)).equals(BIG)).toBe(true);
      expect((await read(source)).equals(BIG)).toBe(true);
    }),
  );

  it(
    'gives any slice, and what there is of one that reaches beyond the end',
    withSource(bigFile, async ({ source }) => {
      expect(Buffer.from(await source.slice(299_990, 300_010))).toEqual(BIG.subarray(299_990, 300_010));
      expect(Buffer.from(await source.slice(BIG.length - 3, BIG.length + 50))).toEqual(BIG.subarray(-3));
      expect(await source.slice(BIG.length + 10, BIG.length + 20)).toHaveLength(0);
    }),
  );

  it('says how many bytes of it were read', () =>
    inFolder(async (dir) => {
      let told = 0;
      const opened = await openFileSource(await bigFile(dir), (bytes) => {
        told += bytes;
      });
      await read(opened.source);
      await opened.close();
      expect(told).toBe(BIG.length);
    }));

  it('ends where it ended when it was opened, though a tool still writes to it', () =>
    inFolder(async (dir) => {
      const file = await put(dir, 'live.jsonl', 'first\n');
      const opened = await openFileSource(file);
      await appendFile(file, 'second\n');
      expect((await read(opened.source)).toString()).toBe('first\n');
      await opened.close();
    }));

  it('is empty when the file is', () =>
    inFolder(async (dir) => {
      const opened = await openFileSource(await put(dir, 'empty.json', ''));
      expect(opened.source.size).toBe(0);
      expect(await read(opened.source)).toHaveLength(0);
      await opened.close();
    }));
});

describe('a folder as a source', () => {
  it(
    'has the plain JSON files below it, by name, and no links',
    withSource(folder, async ({ source }) => {
      expect(source.files?.map(({ name }) => name)).toEqual(['a/deep.json', 'b.json']);
      expect(source.size).toBe('{"b":1}{"deep":1}'.length);
    }),
  );

  it(
    'reads each file whole or in slices',
    withSource(folder, async ({ source }) => {
      const [deep, flat] = source.files!;
      expect((await read(deep!)).toString()).toBe('{"deep":1}');
      expect(Buffer.from(await flat!.slice(1, 4)).toString()).toBe('"b"');
    }),
  );
});

describe('what is no source', () => {
  it('is refused with its name: nothing there, or no plain file', async () => {
    await expect(openFileSource('/dev/null')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { argument: 'file', file: '/dev/null', problem: 'It is not a regular file.' },
    });
    await inFolder(async (dir) => {
      const file = path.join(dir, 'gone.json');
      await expect(openFileSource(file)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        details: { argument: 'file', file, problem: 'There is no such file or folder.' },
      });
    });
  });
});
