/** Take-over of a journal whose owner did not release, and what that owner does when it wakes. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../../src/core/errors.js';
import { decodeLine } from '../../../src/storage/file/journal-line.js';
import type { FileSystem } from '../../../src/storage/file-system.js';
import type { ProcessIdentity } from '../../../src/storage/process-identity.js';
import { damageOf, type FileFixture, fileFixture, recordsOf, seqsOf, TTL_MS } from './file-fixture.js';
import { PausedFileSystem } from './paused-file-system.js';

/** The owner's life has passed without a heartbeat; another one takes over. */
async function takeOver(fixture: FileFixture, fileSystem?: FileSystem) {
  fixture.clock.advance(TTL_MS + 1);
  return fixture.owner(fileSystem ? { fileSystem } : {});
}

async function rejection(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  return isRekindleError(thrown) ? thrown.code : String(thrown);
}

describe('take-over', () => {
  it('seals the live file under its number and goes on in a new one that names the seal', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    for (const n of [1, 2]) await first.journal.append([{ n }]);
    const before = await fixture.text('traces.jsonl');
    const second = await takeOver(fixture);
    expect(second.lease.takenOver).toBe(true);
    await second.journal.append([{ n: 3 }]);
    expect(await fixture.names()).toEqual(['traces.000001-2.jsonl', 'traces.jsonl']);
    expect(await fixture.text('traces.000001-2.jsonl')).toBe(before);
    const header = (await fixture.text('traces.jsonl')).split('\n')[0]!;
    expect(decodeLine(Buffer.from(header))).toEqual({
      kind: 'header',
      header: { segment: 2, prevLength: before.length, prevSeq: 2, fence: second.lease.fence },
    });
  });

  it('seals also the file that an owner made who took over itself and was killed', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    await first.journal.append([{ n: 1 }]);
    const second = await takeOver(fixture);
    await second.journal.append([{ n: 2 }]);
    const third = await takeOver(fixture);
    await third.journal.append([{ n: 3 }]);
    expect(await fixture.names()).toEqual(['traces.000001-2.jsonl', 'traces.000002-3.jsonl', 'traces.jsonl']);
    expect(await recordsOf(third.journal)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('touches nothing before the first append', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    await first.journal.append([{ n: 1 }]);
    const before = await fixture.text('traces.jsonl');
    const second = await takeOver(fixture);
    await recordsOf(second.journal);
    expect(await fixture.names()).toEqual(['traces.jsonl']);
    expect(await fixture.text('traces.jsonl')).toBe(before);
  });

  it('of owners that were killed on this kernel goes on in the same file, however many they were', async () => {
    const fixture = await fileFixture();
    for (let pid = 1; pid <= 20; pid += 1) {
      const identity: ProcessIdentity = {
        owner: () => ({ pid, processStart: '1', host: 'here', nonce: `n${pid}` }),
        state: (owner) => (owner.pid === pid ? 'running' : 'gone'),
      };
      const owner = await fixture.owner({ identity });
      expect(owner.lease.takenOver).toBe(pid > 1);
      await owner.journal.append([{ n: pid }]);
      await fs.appendFile(fixture.file('traces.jsonl'), '{"n":'); // killed in the middle of the next one
    }
    const names = await fixture.names();
    expect(names.filter((name) => !name.startsWith('traces.torn-'))).toEqual(['traces.jsonl']);
    expect(await seqsOf(await fixture.reader())).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  it('of a released lease goes on in the same file', async () => {
    const fixture = await fileFixture();
    for (const n of [1, 2, 3]) {
      const owner = await fixture.owner();
      expect(owner.lease.takenOver).toBe(false);
      await owner.journal.append([{ n }]);
      await owner.journal.close();
      await owner.lease.release();
    }
    expect(await fixture.names()).toEqual(['traces.jsonl']);
    expect(await seqsOf(await fixture.reader())).toEqual([1, 2, 3]);
  });

  it('leaves a torn tail where it is: it lies behind the seal', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    await first.journal.append([{ n: 1 }]);
    await fs.appendFile(fixture.file('traces.jsonl'), '{"n":2,"te');
    const torn = await fixture.text('traces.jsonl');
    const second = await takeOver(fixture);
    expect(second.journal.openingDamage()).toMatchObject([{ reason: 'torn', bytes: 10 }]);
    expect((await second.journal.append([{ n: 2 }])).seq).toBe(2);
    expect(await fixture.text('traces.000001-2.jsonl')).toBe(torn);
    expect(await damageOf(second.journal)).toMatchObject([
      { reason: 'after-seal', place: 'traces.000001-2.jsonl', bytes: 10 },
    ]);
    expect(await recordsOf(second.journal)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('keeps a last record whose newline is missing', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    for (const n of [1, 2]) await first.journal.append([{ n }]);
    await fs.truncate(fixture.file('traces.jsonl'), (await fixture.text('traces.jsonl')).length - 1);
    const second = await takeOver(fixture);
    expect((await second.journal.append([{ n: 3 }])).seq).toBe(3);
    expect(await recordsOf(second.journal)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });
});

describe('an owner that was taken over', () => {
  it('acknowledges nothing more, and what it adds behind the seal is ignored and reported', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    for (const n of [1, 2]) await first.journal.append([{ n }]);
    const sealedAt = (await fixture.text('traces.jsonl')).length;
    const second = await takeOver(fixture);
    await second.journal.append([{ n: 3 }]);
    expect(await rejection(first.journal.append([{ zombie: true }]))).toBe('LEASE_LOST');
    const after = (await fixture.text('traces.000001-2.jsonl')).length - sealedAt;
    expect(after).toBeGreaterThan(0);
    expect(await recordsOf(second.journal)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await damageOf(second.journal)).toEqual([
      {
        kind: 'damage',
        reason: 'after-seal',
        place: 'traces.000001-2.jsonl',
        cursor: { segment: 1, offset: sealedAt },
        bytes: after,
      },
    ]);
  });

  it('writes nothing at all once it knows', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    await first.journal.append([{ n: 1 }]);
    const second = await takeOver(fixture);
    await second.journal.append([{ n: 2 }]);
    expect(await rejection(first.lease.check())).toBe('LEASE_LOST');
    const before = await fixture.text('traces.000001-2.jsonl');
    expect(await rejection(first.journal.append([{ zombie: true }]))).toBe('LEASE_LOST');
    expect(await fixture.text('traces.000001-2.jsonl')).toBe(before);
  });

  it('is refused when it opens a journal that a newer owner wrote', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    await first.journal.append([{ n: 1 }]);
    const second = await takeOver(fixture);
    await second.journal.append([{ n: 2 }]);
    const opened = fixture.storage().openJournal(['traces'], { lease: first.lease });
    expect(await rejection(opened)).toBe('LEASE_LOST');
  });

  it('takes nothing back that the new owner has read, when it was stopped between write and sync', async () => {
    const fixture = await fileFixture();
    const fileSystem = new PausedFileSystem();
    const first = await fixture.owner({ fileSystem });
    await first.journal.append([{ n: 1 }]);
    const pause = fileSystem.pauseBefore('datasync', /traces\.jsonl$/);
    const late = rejection(first.journal.append([{ n: 2, late: true }]));
    await pause.reached;
    const second = await takeOver(fixture);
    expect((await second.journal.append([{ n: 3 }])).seq).toBe(3);
    pause.goOn();
    expect(await late).toBe('LEASE_LOST');
    expect(await recordsOf(second.journal)).toEqual([{ n: 1 }, { n: 2, late: true }, { n: 3 }]);
  });

  it('acknowledges nothing when it was stopped before the check that follows the sync', async () => {
    const fixture = await fileFixture();
    const fileSystem = new PausedFileSystem();
    const first = await fixture.owner({ fileSystem });
    await first.journal.append([{ n: 1 }]);
    const pause = fileSystem.pauseBefore('write', /traces\.jsonl$/);
    const late = rejection(first.journal.append([{ zombie: true }]));
    await pause.reached;
    const second = await takeOver(fixture);
    expect((await second.journal.append([{ n: 2 }])).seq).toBe(2);
    pause.goOn();
    expect(await late).toBe('LEASE_LOST');
    expect(await recordsOf(second.journal)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('destroys nothing when it was stopped just before it would seal, and a third owner came', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    for (const n of [1, 2]) await first.journal.append([{ n }]);
    const fileSystem = new PausedFileSystem();
    const second = await takeOver(fixture, fileSystem);
    const pause = fileSystem.pauseBefore('rename', /traces\.000001-\d+\.jsonl$/);
    const late = rejection(second.journal.append([{ zombie: true }]));
    await pause.reached;
    const third = await takeOver(fixture);
    expect((await third.journal.append([{ n: 3 }])).seq).toBe(3);
    pause.goOn();
    expect(await late).toBe('LEASE_LOST');
    const reader = await fixture.reader();
    expect(await recordsOf(reader)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('destroys nothing when it was stopped in the middle of a rotation', async () => {
    const fixture = await fileFixture();
    const fileSystem = new PausedFileSystem();
    const first = await fixture.owner({ fileSystem, segmentBytesMax: 0 });
    await first.journal.append([{ n: 1 }]);
    const pause = fileSystem.pauseBefore('rename', /traces\.0+\d+-\d+\.jsonl$/);
    const late = rejection(first.journal.append([{ zombie: true }]));
    await pause.reached;
    const second = await takeOver(fixture);
    expect((await second.journal.append([{ n: 2 }])).seq).toBe(2);
    pause.goOn();
    expect(await late).toBe('LEASE_LOST');
    expect(await recordsOf(await fixture.reader())).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('destroys nothing when it was stopped just before it would set a torn header aside', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner({ segmentBytesMax: 0 });
    for (const n of [1, 2]) await first.journal.append([{ n }]);
    await fs.rename(fixture.file('traces.jsonl'), fixture.file('traces.000003.jsonl'));
    await fixture.put('traces.jsonl', '{"_segm');
    const fileSystem = new PausedFileSystem();
    const second = await takeOver(fixture, fileSystem);
    const pause = fileSystem.pauseBefore('rename', /traces\.\d{6}-\d+\.[0-9a-f]{8}\.jsonl$/);
    const late = rejection(second.journal.append([{ zombie: true }]));
    await pause.reached;
    const third = await takeOver(fixture);
    expect((await third.journal.append([{ n: 3 }])).seq).toBe(3);
    pause.goOn();
    expect(await late).toBe('LEASE_LOST');
    expect(await recordsOf(await fixture.reader())).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('destroys nothing when it was stopped just before it would cut a torn tail', async () => {
    const fixture = await fileFixture();
    const first = await fixture.owner();
    for (const n of [1, 2]) await first.journal.append([{ n }]);
    await first.journal.close();
    await first.lease.release();
    await fs.appendFile(fixture.file('traces.jsonl'), '{"torn');
    const fileSystem = new PausedFileSystem();
    const pause = fileSystem.pauseBefore('truncate', /traces\.jsonl$/);
    const opening = fixture.owner({ fileSystem });
    await pause.reached;
    const third = await takeOver(fixture);
    expect((await third.journal.append([{ n: 3 }])).seq).toBe(3);
    pause.goOn();
    const second = await opening;
    expect(await rejection(second.journal.append([{ zombie: true }]))).toBe('LEASE_LOST');
    expect(await recordsOf(await fixture.reader())).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });
});
