/** The audit log: its chain, several writers, and what `verifyAudit` notices. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import { crc32, crcHex } from '../../../src/core/crc32.js';
import type { JsonObject } from '../../../src/core/json.js';
import { AuditLog, hasAuditLog } from '../../../src/storage/audit/audit-log.js';
import { type AuditEntry, type AuditRecord, nextRecord } from '../../../src/storage/audit/audit-record.js';
import { auditRecords, verifyAudit } from '../../../src/storage/audit/verify-audit.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { ForwardingJournal } from '../../../src/storage/forwarding-journal.js';
import { ForwardingStorage } from '../../../src/storage/forwarding-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { Journal, JournalOptions, Name, StorageBackend } from '../../../src/storage/ports.js';
import { withRedaction } from '../../../src/storage/redacted-storage.js';
import { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { withTenant } from '../../../src/storage/tenants/tenant-storage.js';
import { collect } from '../../../src/storage/testing/conformance-kit.js';

const ENTRY: AuditEntry = {
  ...{ actor: 'token 4f6e0a1b2c3d', action: 'read', target: 'agent desk', what: 'GET /agents/{id}' },
  outcome: 'allowed',
};
const ZEROS = '0'.repeat(64);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rekindle-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function recorded(backend: StorageBackend, count: number, actor = 'owner'): Promise<void> {
  const log = new AuditLog(backend);
  for (let n = 1; n <= count; n += 1) await log.record({ ...ENTRY, actor, target: `agent a${n}` });
  await log.close();
}

/** Counts the appends, and fails them while `fails` is set. */
class Watched extends ForwardingStorage {
  appends = 0;
  fails = false;

  override async openJournal<R extends JsonObject>(
    name: Name,
    options?: JournalOptions,
  ): Promise<Journal<R>> {
    const journal = await this.inner.openJournal<R>(name, options);
    const watched = this;
    return new (class extends ForwardingJournal<R> {
      override append(...given: Parameters<Journal<R>['append']>) {
        watched.appends += 1;
        if (watched.fails) return Promise.reject(new Error('the disk is gone'));
        return super.append(...given);
      }
    })(journal);
  }
}

describe('an audit log', () => {
  it('holds each action with its time, chained by SHA-256 over canonical JSON', async () => {
    const storage = new MemoryStorage();
    const log = new AuditLog(storage, { clock: new ManualClock(1_000) });
    await log.record(ENTRY);
    await log.record({ ...ENTRY, outcome: 'refused' });
    await log.close();
    const [first, second] = await collect(auditRecords(storage));
    const at = '1970-01-01T00:00:01.000Z';
    expect(first).toStrictEqual({
      ...ENTRY,
      seq: 1,
      at,
      prev: ZEROS,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(second).toMatchObject({ seq: 2, outcome: 'refused', prev: first!.hash });
    const { hash, ...rest } = second!;
    const sorted = JSON.stringify(
      Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))),
    );
    expect(createHash('sha256').update(sorted).digest('hex')).toBe(hash);
    expect(await verifyAudit(storage)).toStrictEqual({
      ...{ ok: true, records: 2, head: { seq: 2, hash }, problem: null },
    });
  });

  it('does not exist before its first record, and looking makes none', async () => {
    const storage = new FileStorage(join(folder, 'none'));
    expect(await hasAuditLog(storage)).toBe(false);
    expect(await verifyAudit(storage)).toStrictEqual({ ok: true, records: 0, head: null, problem: null });
    expect(await storage.listNames([])).toStrictEqual([]);
    await recorded(storage, 1);
    expect(await hasAuditLog(storage)).toBe(true);
    await storage.close();
  });

  it('writes what is recorded at the same time in few commits', async () => {
    const storage = new Watched(new MemoryStorage());
    const log = new AuditLog(storage);
    await Promise.all(Array.from({ length: 200 }, (_, n) => log.record({ ...ENTRY, target: `agent a${n}` })));
    await log.close();
    expect(storage.appends).toBeLessThan(5);
    expect((await collect(auditRecords(storage))).map(({ target }) => target)).toStrictEqual(
      Array.from({ length: 200 }, (_, n) => `agent a${n}`),
    );
    expect(await verifyAudit(storage)).toMatchObject({ ok: true, records: 200 });
  });

  it('is one chain of several processes', async () => {
    const storages = [1, 2, 3].map(() => new FileStorage(folder, { durability: 'relaxed' }));
    await Promise.all(storages.map((storage, n) => recorded(storage, 15, `user ${n}`)));
    const actors = (await collect(auditRecords(storages[0]!))).map(({ actor }) => actor);
    for (const n of [0, 1, 2]) expect(actors.filter((actor) => actor === `user ${n}`).length).toBe(15);
    expect(await verifyAudit(storages[0]!)).toMatchObject({ ok: true, records: 45 });
    for (const storage of storages) await storage.close();
  });

  it('rejects what it could not write, and continues afterwards', async () => {
    const storage = new Watched(new MemoryStorage());
    const log = new AuditLog(storage);
    await log.record(ENTRY);
    storage.fails = true;
    await expect(log.record(ENTRY)).rejects.toThrow('the disk is gone');
    storage.fails = false;
    await log.record(ENTRY);
    await log.close();
    expect(await verifyAudit(storage)).toMatchObject({ ok: true, records: 2 });
  });

  it('cuts long names, and keeps a chain whatever the names are', async () => {
    const storage = new MemoryStorage();
    const log = new AuditLog(storage);
    for (const target of ['x'.repeat(5_000), '\ud800', '\u0000\u202e', '😀'.repeat(200), '{"seq":1}', ''])
      await log.record({ ...ENTRY, target });
    await log.close();
    const targets = (await collect(auditRecords(storage))).map(({ target }) => target);
    expect(targets[0]).toBe(`${'x'.repeat(299)}…`);
    expect(targets.every((target) => target.length <= 300)).toBe(true);
    expect(await verifyAudit(storage)).toMatchObject({ ok: true, records: 6 });
  });

  it('stays intact in a store that redacts', async () => {
    const storage = withRedaction(new MemoryStorage(), { personal: true });
    const log = new AuditLog(storage);
    await log.record({ ...ENTRY, target: 'agent ann.lee@mail.example.org' });
    await log.record({ ...ENTRY, target: 'agent ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R' });
    await log.close();
    const targets = (await collect(auditRecords(storage))).map(({ target }) => target);
    expect(targets).toStrictEqual(['agent [redacted:email]', 'agent [redacted:github-token]']);
    expect(await verifyAudit(storage)).toMatchObject({ ok: true, records: 2 });
  });

  it('is one for each tenant', async () => {
    const storage = new MemoryStorage();
    await recorded(withTenant(storage, 'acme'), 3);
    expect(await hasAuditLog(storage)).toBe(false);
    expect(await hasAuditLog(withTenant(storage, 'other'))).toBe(false);
    expect(await verifyAudit(withTenant(storage, 'acme'))).toMatchObject({ ok: true, records: 3 });
  });
});

/** A line of the file as the store writes it: with a valid checksum. */
function lineOf(record: object, seq: number): string {
  const body = `${JSON.stringify(record).slice(0, -1)},"_seq":${seq}`;
  return `${body},"_crc":"${crcHex(crc32(body))}"}`;
}

function recordIn(line: string): AuditRecord {
  const { _seq, _crc, ...record } = JSON.parse(line) as AuditRecord & JsonObject;
  return record as unknown as AuditRecord;
}

type Tampering = (lines: string[], random: SeededRandom) => void;

const FIELDS: Readonly<Record<string, unknown>> = {
  ...{ actor: 'user eve', action: 'write', target: 'agent other', what: 'GET /', outcome: 'refused' },
  ...{ at: '2020-01-01T00:00:00.000Z', prev: 'ab'.repeat(32), hash: 'cd'.repeat(32), seq: 99 },
};

/** `REKINDLE_RUNS=1000` tries more. */
const CHANGES = Number(process.env['REKINDLE_RUNS'] ?? 200);
const SEED = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
/** Changes by somebody who knows the format. Every one leaves other content than before. */
const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  'a field, with a new checksum': (lines, random) => {
    const at = random.below(lines.length);
    const field = Object.keys(FIELDS)[random.below(9)]!;
    lines[at] = lineOf({ ...recordIn(lines[at]!), [field]: FIELDS[field] }, at + 1);
  },
  'a field, with a new hash and checksum': (lines, random) => {
    const at = random.below(lines.length);
    const { seq, prev, at: time } = recordIn(lines[at]!);
    const entry = { ...recordIn(lines[at]!), actor: 'user eve' };
    lines[at] = lineOf(nextRecord(entry, { seq: seq - 1, hash: prev }, time), at + 1);
  },
  'a field that is new': (lines, random) => {
    const at = random.below(lines.length);
    lines[at] = lineOf({ ...recordIn(lines[at]!), note: 'x' }, at + 1);
  },
  'a line without its checksum': (lines, random) => {
    const at = random.below(lines.length);
    lines[at] = JSON.stringify(recordIn(lines[at]!));
  },
  'a removed line': (lines, random) => void lines.splice(random.below(lines.length), 1),
  'a removed line, and the rest numbered again': (lines, random) => {
    lines.splice(random.below(lines.length), 1);
    for (const [at, line] of lines.entries()) lines[at] = lineOf(recordIn(line), at + 1);
  },
  'two lines swapped, with new numbers': (lines, random) => {
    const at = random.below(lines.length - 1);
    const [a, b] = [recordIn(lines[at]!), recordIn(lines[at + 1]!)];
    lines.splice(at, 2, lineOf(b, at + 1), lineOf(a, at + 2));
  },
  'a line twice': (lines, random) => {
    const at = random.below(lines.length);
    lines.splice(at, 0, lines[at]!);
  },
  'an inserted record, and the rest numbered again': (lines, random) => {
    const at = random.below(lines.length);
    const { seq, prev, at: time } = recordIn(lines[at]!);
    lines.splice(
      at,
      0,
      lineOf(nextRecord({ ...ENTRY, actor: 'user eve' }, { seq: seq - 1, hash: prev }, time), 1),
    );
    for (const [place, line] of lines.entries()) lines[place] = lineOf(recordIn(line), place + 1);
  },
  'a cut end': (lines, random) => void lines.splice(1 + random.below(lines.length - 1)),
  'a byte': (lines, random) => {
    const at = random.below(lines.length);
    const place = random.below(lines[at]!.length);
    const other = lines[at]![place] === 'x' ? 'y' : 'x';
    lines[at] = lines[at]!.slice(0, place) + other + lines[at]!.slice(place + 1);
  },
};

describe('verifyAudit', () => {
  it(`notices ${CHANGES} random changes of stored lines`, { timeout: 120_000 }, async () => {
    console.log(`audit: REKINDLE_SEED=${SEED}`);
    const storage = new FileStorage(folder, { durability: 'relaxed' });
    await recorded(storage, 12);
    const { head } = await verifyAudit(storage);
    await storage.close();
    const file = join(folder, 'audit', 'records.jsonl');
    const original = readFileSync(file, 'utf8');
    const random = new SeededRandom(SEED);
    const kinds = Object.entries(TAMPERINGS);
    const missed: string[] = [];
    for (let n = 0; n < CHANGES; n += 1) {
      const lines = original.trimEnd().split('\n');
      const [kind, tamper] = kinds[n % kinds.length]!;
      tamper(lines, random);
      writeFileSync(file, `${lines.join('\n')}\n`);
      const reader = new FileStorage(folder);
      const found = await verifyAudit(reader, { head: head!.hash });
      await reader.close();
      if (found.ok) missed.push(`${n}: ${kind}`);
    }
    expect(missed).toStrictEqual([]);
    writeFileSync(file, original);
    const reader = new FileStorage(folder);
    expect(await verifyAudit(reader, { head: head!.hash })).toMatchObject({ ok: true, records: 12 });
    await reader.close();
  });

  async function verifiedAfter(change: (lines: string[]) => void, head?: string) {
    const file = join(folder, 'audit', 'records.jsonl');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    change(lines);
    writeFileSync(file, `${lines.join('\n')}\n`);
    const reader = new FileStorage(folder);
    const found = await verifyAudit(reader, head === undefined ? {} : { head });
    await reader.close();
    return found;
  }

  async function five(): Promise<AuditRecord[]> {
    const storage = new FileStorage(folder, { durability: 'relaxed' });
    await recorded(storage, 5);
    const records = await collect(auditRecords(storage));
    await storage.close();
    return records;
  }

  it('reports the first record that was changed, and the head before it', async () => {
    const records = await five();
    const found = await verifiedAfter((lines) => {
      for (const at of [2, 3]) lines[at] = lines[at]!.replace('agent a', 'agent b');
    });
    expect(found).toMatchObject({ ok: false, problem: { seq: 3, reason: 'changed' } });
    expect(found.head).toStrictEqual({ seq: 2, hash: records[1]!.hash });
  });

  it('reports a removed record, and one that was inserted', async () => {
    await five();
    const gone = await verifiedAfter((lines) => {
      lines.splice(2, 1);
      for (const [at, line] of lines.entries()) lines[at] = lineOf(recordIn(line), at + 1);
    });
    expect(gone.problem).toStrictEqual({ seq: 3, reason: 'removed' });
    rmSync(join(folder, 'audit'), { recursive: true });
    await five();
    const twice = await verifiedAfter((lines) => {
      lines.splice(2, 0, lines[1]!);
      for (const [at, line] of lines.entries()) lines[at] = lineOf(recordIn(line), at + 1);
    });
    expect(twice.problem).toStrictEqual({ seq: 3, reason: 'inserted' });
  });

  it('notices a cut end only by a head that was kept', async () => {
    const records = await five();
    const head = records[4]!.hash;
    expect(await verifiedAfter((lines) => void lines.splice(3), records[1]!.hash)).toMatchObject({
      ok: true,
      records: 3,
    });
    expect((await verifiedAfter(() => {}, head)).problem).toStrictEqual({ seq: 4, reason: 'cut' });
    expect(await verifiedAfter(() => {})).toMatchObject({ ok: true, records: 3 });
    rmSync(join(folder, 'audit'), { recursive: true });
    const empty = new FileStorage(folder);
    expect((await verifyAudit(empty, { head })).problem).toStrictEqual({ seq: 1, reason: 'cut' });
    await empty.close();
  });

  it('notices a chain that was computed again only by a head that was kept', async () => {
    const records = await five();
    const forge = (lines: string[]) => {
      let head = { seq: 0, hash: ZEROS };
      for (const [at, line] of lines.entries()) {
        const record = nextRecord({ ...recordIn(line), actor: 'user eve' }, head, recordIn(line).at);
        head = record;
        lines[at] = lineOf(record, at + 1);
      }
    };
    expect(await verifiedAfter(forge)).toMatchObject({ ok: true });
    expect(await verifiedAfter(() => {}, records[4]!.hash)).toMatchObject({
      ok: false,
      problem: { seq: 6, reason: 'cut' },
    });
  });

  it('refuses a head that is not a hash', async () => {
    await expect(verifyAudit(new MemoryStorage(), { head: 'abc' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });
});
