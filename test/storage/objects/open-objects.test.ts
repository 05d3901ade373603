import fs from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  LocalObjects,
  openObjects,
  S3Objects,
  UcVolumesObjects,
} from '../../../src/storage/objects/index.js';
import { tempFolder } from '../file/file-fixture.js';

const DATABRICKS = { DATABRICKS_HOST: 'https://example.com', DATABRICKS_TOKEN: 'dapi-secret' };

describe('openObjects', () => {
  it.each([
    ['a path', (folder: string) => folder],
    ['a relative path', (folder: string) => path.relative(process.cwd(), folder)],
    ['file: and a path', (folder: string) => `file:${folder}`],
    ['file: and a relative path', (folder: string) => `file:${path.relative(process.cwd(), folder)}`],
    ['a file URL', (folder: string) => pathToFileURL(folder).href],
  ])('opens a folder given as %s', async (_, address) => {
    const folder = path.join(await tempFolder(), 'with space');
    await openObjects(address(folder)).put(['a'], Buffer.from('x'));
    expect(await fs.readFile(path.join(folder, 'a'), 'utf8')).toBe('x');
  });

  it.each(['C:\\objects', 'c:/objects', './a', 'a/b', '/a'])('takes %s for a path', (address) => {
    expect(openObjects(address)).toBeInstanceOf(LocalObjects);
  });

  it.each([
    's3://bucket',
    's3://bucket/',
    's3://bucket/a/b?region=eu-central-1',
    'S3://bucket?endpoint=http%3A%2F%2F127.0.0.1%3A9000&path_style=true',
  ])('takes %s for a bucket', (address) => {
    expect(openObjects(address, {})).toBeInstanceOf(S3Objects);
  });

  it.each(['uc:/Volumes/main/agents/state', 'uc:/Volumes/main/agents/state/a/b/'])(
    'takes %s for a volume',
    (address) => {
      expect(openObjects(address, DATABRICKS)).toBeInstanceOf(UcVolumesObjects);
    },
  );

  it.each([
    '',
    'https://user:password@example.com/x',
    'gs://bucket/x',
    'file:',
    'file://host/x',
    's3:bucket',
    's3://',
    's3://key:password@bucket/x',
    's3://bucket/x?password=y',
    's3://bucket?path_style=maybe',
    'uc:/Volumes/main/agents',
    'uc://Volumes/main/agents/state',
    'uc:/Volumes/main/agents/state?token=password',
  ])('refuses %j with INVALID_ARGUMENT, says what is possible, and repeats no password', (address) => {
    let thrown: unknown;
    try {
      openObjects(address, DATABRICKS);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'INVALID_ARGUMENT' });
    for (const possible of ['file:./folder', 's3://bucket', 'uc:/Volumes/'])
      expect(String(thrown)).toContain(possible);
    expect(JSON.stringify(thrown)).not.toContain('user:password');
    expect(JSON.stringify(thrown)).not.toContain('key:password');
  });

  it.each(['DATABRICKS_HOST', 'DATABRICKS_TOKEN'])('says so when %s is missing', (variable) => {
    const env = { ...DATABRICKS, [variable]: undefined };
    expect(() => openObjects('uc:/Volumes/main/agents/state', env)).toThrow(variable);
  });

  it('does not tell a bad prefix as a place of its own', () => {
    const invalid = expect.objectContaining({ code: 'INVALID_ARGUMENT' });
    expect(() => openObjects('s3://bucket/a/../b', {})).toThrow(invalid);
    expect(() => openObjects('uc:/Volumes/main/agents/state/../x', DATABRICKS)).toThrow(invalid);
  });
});
