import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { ObjectsStorage } from '../../src/storage/objects/index.js';
import { isStorageUrl, openStorage } from '../../src/storage/open-storage.js';
import { PostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.js';

describe('an address of a store', () => {
  it.each([
    ['memory', FileStorage, path.resolve('memory')],
    ['./a b', FileStorage, path.resolve('a b')],
    ['file:memory', FileStorage, path.resolve('memory')],
    ['file:///var/agents', FileStorage, '/var/agents'],
    ['sqlite:agents.db', SqliteStorage, `sqlite:${path.resolve('agents.db')}`],
    ['sqlite:./a%20b.db', SqliteStorage, `sqlite:${path.resolve('a b.db')}`],
    ['sqlite:/var/agents.db', SqliteStorage, 'sqlite:/var/agents.db'],
    ['sqlite:///var/agents.db', SqliteStorage, 'sqlite:/var/agents.db'],
    ['SQLITE:agents.db', SqliteStorage, `sqlite:${path.resolve('agents.db')}`],
    ['memory:', MemoryStorage, 'memory:'],
    ['s3://bucket/prefix?region=eu-central-1', ObjectsStorage, 's3://bucket/prefix'],
    ['s3://bucket?leases=postgres%3A%2F%2Fme%3Asecret%40x%2Fy', ObjectsStorage, 's3://bucket'],
    ['objects:./a%20b', ObjectsStorage, `objects:${path.resolve('a b')}`],
    [
      'postgres://me:secret@db.example:5433/agents',
      PostgresStorage,
      'postgres://me@db.example:5433/agents (schema rekindle)',
    ],
    [
      'postgresql://db.example/agents?schema=mine&connections=3',
      PostgresStorage,
      'postgres://db.example/agents (schema mine)',
    ],
  ])('%s is a store at a place that can be shown', (address, kind, place) => {
    const storage = openStorage(address);
    expect(storage).toBeInstanceOf(kind);
    expect(storage.place).toBe(place);
  });

  it.each([
    ['mysql://x/y'],
    ['sqlite:'],
    ['file:'],
    ['sqlite:a.db?schema=x'],
    ['s3://'],
    ['s3://bucket?writers=two'],
    ['s3://bucket?leases=memory%3A'],
    ['s3://bucket?unknown=x'],
    ['objects:'],
    ['objects:./a?region=x'],
    ['uc:/Volumes/main'],
    ['postgres://x/y?schema=Bad-Name'],
    ['postgres://x/y?connections=many'],
    ['sqlite:a.db?objects=ftp%3A%2F%2Fx'],
  ])('%s is refused with INVALID_ARGUMENT, and nothing is made', (address) => {
    expect(() => openStorage(address)).toThrowError(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });

  it('never shows a password', () => {
    expect(() => openStorage('postgres://me:secret@x/y?schema=Bad')).toThrowError(
      expect.not.stringContaining('secret'),
    );
  });

  it('keeps what is the driver’s own in the URL, and not what is ours', () => {
    expect(openStorage('postgres://x/y?sslmode=require&schema=a&notify=false').place).toContain('(schema a)');
  });

  it('of a drive of Windows is a folder', () => {
    expect(isStorageUrl('C:\\agents')).toBe(false);
    expect(isStorageUrl('d:/agents')).toBe(false);
  });
});
