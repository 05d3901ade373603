/** The order in which files and their names are made durable: a power cut between any two calls must leave what was acknowledged. */
import { describe, expect, it } from 'vitest';
import { fileFixture, recordsOf } from './file-fixture.js';
import { ProbeFileSystem } from './probe-file-system.js';

/** What was called since then, as `call name`, for the calls that change a disk. */
function callsOf(disk: ProbeFileSystem): string[] {
  return disk.calls
    .filter(
      ({ call }) => !call.startsWith('open:read') && !call.startsWith('open:update') && call !== 'close',
    )
    .map(({ call, name }) => `${call} ${name.replace(/-[0-9a-f]{8}$/, '-TAG')}`);
}

async function probed(options = {}) {
  const fixture = await fileFixture();
  const disk = new ProbeFileSystem();
  const root = fixture.root.split('/').at(-1)!;
  return { ...fixture, disk, root, store: fixture.storage({ fileSystem: disk, ...options }) };
}

describe('a new segment', () => {
  it('is made when the name of the sealed one is durable, and is durable with its header before it is written to', async () => {
    const { disk, store, root } = await probed({ segmentBytesMax: 10 });
    const journal = await store.openJournal(['traces']);
    await journal.append([{ n: 1 }]);
    disk.calls.length = 0;
    await journal.append([{ n: 2 }]);
    const calls = callsOf(disk);
    const sealed = calls.findIndex((call) => call.startsWith('rename traces.000001-'));
    expect(calls.slice(0, sealed)).toContain('datasync traces.jsonl');
    expect(calls.slice(sealed + 1)).toEqual([
      `syncFolder ${root}`,
      'open:create traces.jsonl',
      'write traces.jsonl',
      'datasync traces.jsonl',
      `syncFolder ${root}`,
      'write traces.jsonl',
      'datasync traces.jsonl',
    ]);
  });
});

describe('a file that goes on', () => {
  /** A journal with one record, of an owner that released it, opened again. */
  async function continued() {
    const { disk, store, names } = await probed();
    const first = await store.openJournal(['traces']);
    await first.append([{ n: 1 }]);
    await first.close();
    const journal = await store.openJournal(['traces']);
    disk.calls.length = 0;
    return { disk, journal, names };
  }

  it('is synced once before its first new record, because its last owner may not have synced it', async () => {
    const { disk, journal } = await continued();
    await journal.append([{ n: 2 }]);
    await journal.append([{ n: 3 }]);
    const calls = callsOf(disk).filter((call) => /^(datasync|write) traces\.jsonl/.test(call));
    expect(calls).toEqual([
      'datasync traces.jsonl',
      'write traces.jsonl',
      'datasync traces.jsonl',
      'write traces.jsonl',
      'datasync traces.jsonl',
    ]);
  });

  it('is sealed by a copy if that sync fails, because a second sync may report success wrongly', async () => {
    const { disk, journal, names } = await continued();
    disk.failNext('datasync', 'EIO');
    await expect(journal.append([{ n: 2 }])).rejects.toMatchObject({ details: { errno: 'EIO' } });
    disk.calls.length = 0;
    await journal.append([{ n: 3 }]);
    const calls = callsOf(disk);
    const sealed = calls.findIndex((call) => call.startsWith('rename traces.jsonl'));
    const copied = calls.findIndex((call) => /^datasync .*(tmp|part)/.test(call));
    expect(calls.slice(0, sealed)).not.toContain('datasync traces.jsonl');
    expect(copied).toBeGreaterThanOrEqual(0);
    expect(copied).toBeLessThan(sealed);
    expect(await recordsOf(journal)).toEqual([{ n: 1 }, { n: 3 }]);
    expect((await names()).some((name) => name.startsWith('traces.000001-'))).toBe(true);
  });
});

describe('a torn tail', () => {
  it('is cut off durably, after its bytes are durable elsewhere', async () => {
    const { disk, store, root, put, text } = await probed();
    const first = await store.openJournal(['traces']);
    await first.append([{ n: 1 }]);
    await first.close();
    await put('traces.jsonl', `${await text('traces.jsonl')}{"n":2,"_s`);
    disk.calls.length = 0;
    await store.openJournal(['traces']);
    const calls = callsOf(disk);
    const start = calls.findIndex((call) => call.startsWith('open:create traces.torn-'));
    const kept = calls[start]!.replace('open:create ', '');
    expect(calls.slice(start + 1)).toEqual([
      `write ${kept}`,
      `datasync ${kept}`,
      `syncFolder ${root}`,
      'truncate traces.jsonl',
      'datasync traces.jsonl',
    ]);
  });
});

describe('a record whose sync failed', () => {
  it('is cut off durably before the next one is written, and does not come back', async () => {
    const { disk, store } = await probed();
    const journal = await store.openJournal(['traces']);
    await journal.append([{ n: 1 }]);
    disk.failNext('datasync', 'EIO');
    await expect(journal.append([{ n: 2, text: 'much longer than the next one' }])).rejects.toMatchObject({
      code: 'JOURNAL_OUTCOME_UNKNOWN',
    });
    disk.calls.length = 0;
    await journal.append([{ n: 3 }]);
    expect(callsOf(disk)).toEqual([
      'truncate traces.jsonl',
      'datasync traces.jsonl',
      'write traces.jsonl',
      'datasync traces.jsonl',
    ]);
    expect(await recordsOf(journal)).toEqual([{ n: 1 }, { n: 3 }]);
  });
});

describe('an acknowledged record that a failed sync took away', () => {
  it('is told before anything is written after it', async () => {
    const { disk, store, put, text } = await probed();
    const journal = await store.openJournal(['traces']);
    await journal.append([{ n: 1 }]);
    const whole = await text('traces.jsonl');
    disk.failNext('datasync', 'EIO');
    await expect(journal.append([{ n: 2 }])).rejects.toMatchObject({ code: 'JOURNAL_OUTCOME_UNKNOWN' });
    await put('traces.jsonl', '\0'.repeat(whole.length)); // a page that never came to the disk, read again from there
    await expect(journal.append([{ n: 3 }])).rejects.toMatchObject({ code: 'JOURNAL_DAMAGED' });
  });
});

describe('an archived segment', () => {
  it('has its new name durably before it loses the old one', async () => {
    const { disk, store, root } = await probed();
    const journal = await store.openJournal(['traces']);
    await journal.append([{ n: 1 }]);
    disk.calls.length = 0;
    await journal.archiveBefore(2);
    const calls = callsOf(disk);
    const linked = calls.findIndex((call) => call.startsWith('link traces.000001-'));
    expect(calls.slice(linked + 1)).toEqual([
      'syncFolder traces.archive',
      expect.stringMatching(/^unlink traces\.000001-/),
      `syncFolder ${root}`,
    ]);
  });
});

describe('a document', () => {
  it('is durable before it has its name, and its name when the write resolves', async () => {
    const { disk, store, root } = await probed();
    disk.calls.length = 0;
    await store.documents.write(['note'], { n: 1 });
    const calls = callsOf(disk);
    const renamed = calls.findIndex((call) => call.startsWith('rename note'));
    expect(calls[renamed - 1]).toMatch(/^datasync \.tmp-/);
    expect(calls.slice(renamed + 1)).toContain(`syncFolder ${root}`);
  });

  it('that is deleted, or moved aside, is gone for good when that resolves', async () => {
    const { disk, store, root } = await probed();
    for (const name of ['one', 'two']) await store.documents.write([name], { n: 1 });
    disk.calls.length = 0;
    await store.documents.delete(['one']);
    await store.documents.setAside(['two'], 'old');
    expect(callsOf(disk)).toEqual([
      'unlink one',
      `syncFolder ${root}`,
      expect.stringMatching(/^rename two\.old-/),
      `syncFolder ${root}`,
    ]);
  });
});

describe('a folder', () => {
  it('has its name durably before anything in it is acknowledged', async () => {
    const { disk, store, root } = await probed();
    disk.calls.length = 0;
    await store.documents.write(['deep', 'note'], { n: 1 });
    const { digest } = await store.blobs(['artifacts']).put(Buffer.from('x'));
    const calls = callsOf(disk);
    for (const [folder, parent] of [
      ['deep', root],
      ['artifacts', root],
      [digest.slice(0, 2), 'artifacts'],
    ])
      expect(calls[calls.indexOf(`makeFolder ${folder}`) + 1]).toBe(`syncFolder ${parent}`);
  });
});
