/** Records that somebody without the key writes, with numbers and checksums that fit. */
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeRecord } from '../../../src/checkpoints/session/checkpoint-record.js';
import { isJsonObject, type JsonObject } from '../../../src/core/json.js';
import { encodeHeader, LOST_MARK } from '../../../src/storage/file/journal-line.js';
import { encodeLineEnd, encodeRecord } from '../../../src/storage/record-encoding.js';
import { environmentKeys, errorOf, K1, serviceIn, sessionFolder, temporaryFolder } from './encryption-kit.js';

const masterKeys = environmentKeys(K1);
const at = '2026-01-01T00:00:00.000Z';

/** Nothing in common: each stands for itself. */
const contextOf = (step: number) => ({ step, text: `context ${step}` });

async function store(enabled = true, step = 1) {
  const root = await temporaryFolder();
  const open = () => serviceIn(root, { masterKeys, config: { encryption: { enabled } } });
  const service = open();
  for (const n of [step, 2]) await service.save({ sessionId: 's', context: contextOf(n) });
  await service.delete('s@1');
  await service.save({ sessionId: 's', context: contextOf(3) });
  const { heads } = await service.verify();
  await service.close();
  const file = path.join(sessionFolder(root, 's'), 'checkpoints.jsonl');
  const edit = async (change: (lines: string[]) => string[]) => {
    const lines = (await fs.readFile(file, 'utf8')).trimEnd().split('\n');
    await fs.writeFile(file, `${change(lines).join('\n')}\n`);
  };
  return { root, open, heads, edit };
}

function line(record: JsonObject, seq: number): string {
  const encoded = encodeRecord(record);
  return `${encoded.body.toString('utf8')}${encodeLineEnd(encoded, seq).text.trimEnd()}`;
}

function recordOf(text: string): JsonObject {
  const { _seq: _, _crc: __, ...record } = JSON.parse(text) as JsonObject;
  return record;
}

describe('in an encrypted session verify tells', () => {
  it.each([0, 1, 2])('that record %i was replaced by the mark that a repair leaves', async (index) => {
    const { open, heads, edit } = await store();
    await edit((lines) => lines.with(index, LOST_MARK));
    expect((await open().verify({ heads })).ok).toBe(false);
  });

  it.each<JsonObject>([
    { type: 'mark', at, contextKey: 'forged', stored: 0 },
    { type: 'remove', at, numbers: [1], why: 'deleted', stored: 0 },
  ])('that its first record was replaced by one without a code: $type', async (record) => {
    const { open, heads, edit } = await store();
    await edit((lines) => lines.with(0, line(record, 1)));
    expect((await open().verify({ heads })).ok).toBe(false);
  });

  it('that its beginning was taken away behind the header of a later file', async () => {
    const { open, heads, edit } = await store();
    const header = encodeHeader({ segment: 1, prevLength: 0, prevSeq: 1, fence: 1 });
    await edit((lines) => [header.toString('utf8').trimEnd(), ...lines.slice(1)]);
    expect((await open().verify({ heads })).ok).toBe(false);
  });
});

describe('in an encrypted session', () => {
  it('a save without a code in place of the first one gives nobody the context that it names', async () => {
    const { root, open, edit } = await store();
    const other = await store(false, 99);
    const from = sessionFolder(other.root, 's');
    const [first] = (await fs.readFile(path.join(from, 'checkpoints.jsonl'), 'utf8')).split('\n');
    await edit((lines) => lines.with(0, first!));
    await fs.cp(path.join(from, 'packs'), path.join(sessionFolder(root, 's'), 'packs'), { recursive: true });
    await edit((lines) => lines.with(2, LOST_MARK));
    const loaded = await open()
      .load({ checkpointId: 's@1' })
      .catch(() => null);
    expect(loaded).toBeNull();
  });

  it('a forged mark says nothing of a checkpoint that is loaded', async () => {
    const { open, edit } = await store();
    const mark = { type: 'mark', at, number: 4, stored: 0 };
    await edit((lines) => {
      const { key } = recordOf(lines[3]!);
      return [...lines, line({ ...mark, key: key!, mac: 'forged' }, 5)];
    });
    const { metadata } = await open().load({ checkpointId: 's@4' });
    expect(metadata.critical).toBe(false);
  });
});

describe('a checkpoint whose record is refused', () => {
  it('because it was changed is told to be damaged, not to be missing; the others load', async () => {
    const { open, edit } = await store();
    await edit((lines) => lines.with(3, line({ ...recordOf(lines[3]!), name: 'forged' }, 4)));
    expect((await errorOf(open().load({ checkpointId: 's@4' }))).code).toBe('CHECKPOINT_DAMAGED');
    expect((await open().load({ checkpointId: 's@2' })).context).toEqual(contextOf(2));
    expect((await open().verify()).problems.map(({ code }) => code)).toEqual(['CHECKPOINT_DAMAGED']);
  });

  it('because it was put at another place is told to be damaged', async () => {
    const { open, edit } = await store();
    await edit((lines) => [...lines, line(recordOf(lines[3]!), 5)]);
    expect((await errorOf(open().load({ checkpointId: 's@5' }))).code).toBe('CHECKPOINT_DAMAGED');
    expect((await open().load({ checkpointId: 's@4' })).context).toEqual(contextOf(3));
    expect((await open().verify()).ok).toBe(false);
  });

  it('because its number is not that of its place is told to be damaged, also in a plain session', async () => {
    const { open, edit } = await store(false);
    await edit((lines) => [...lines, line({ ...recordOf(lines[3]!), number: 9 }, 5)]);
    expect((await errorOf(open().load({ checkpointId: 's@5' }))).code).toBe('CHECKPOINT_DAMAGED');
    expect((await errorOf(open().load({ checkpointId: 's@9' }))).code).toBe('CHECKPOINT_NOT_FOUND');
    expect((await open().verify()).ok).toBe(false);
  });

  it('because it is of no known kind is told to be damaged, also in a plain session', async () => {
    const { open, edit } = await store(false);
    await edit((lines) => [...lines, line({ type: 'of a newer kind', at, stored: 0 }, 5)]);
    expect((await errorOf(open().load({ checkpointId: 's@5' }))).code).toBe('CHECKPOINT_DAMAGED');
    expect((await open().load({ checkpointId: 's@4' })).context).toEqual(contextOf(3));
  });

  it('because nobody has its key is told to be damaged; the others load', async () => {
    const { open, edit } = await store();
    const forged = (text: string) => ({ ...recordOf(text), number: 5, key: 'nobody', mac: 'x' });
    await edit((lines) => [...lines, line(forged(lines[3]!), 5)]);
    expect((await errorOf(open().load({ checkpointId: 's@5' }))).code).toBe('CHECKPOINT_DAMAGED');
    expect((await open().load({ checkpointId: 's@4' })).context).toEqual(contextOf(3));
    expect((await open().verify()).problems.map(({ code }) => code)).toEqual(['CHECKPOINT_DAMAGED']);
  });
});

describe('plain records in the place of all that were sealed', () => {
  async function replaced() {
    const [{ root, open, heads }, other] = [await store(), await store(false, 99)];
    const [from, to] = [sessionFolder(other.root, 's'), sessionFolder(root, 's')];
    await fs.copyFile(path.join(from, 'checkpoints.jsonl'), path.join(to, 'checkpoints.jsonl'));
    await fs.cp(path.join(from, 'packs'), path.join(to, 'packs'), { recursive: true });
    return { open, heads };
  }

  it('are refused, also when no sealed one is left, and verify tells of each', async () => {
    const { open, heads } = await replaced();
    await errorOf(open().load({ sessionId: 's' }));
    for (const checkpointId of ['s@2', 's@4']) await errorOf(open().load({ checkpointId }));
    const { problems } = await open().verify();
    expect(problems.map(({ code }) => code)).toEqual(Array(4).fill('CHECKPOINT_DAMAGED'));
    expect((await open().verify({ heads })).problems).toHaveLength(5);
  });

  it('are told to be damaged, not to be missing', async () => {
    const { open } = await replaced();
    for (const checkpointId of ['s@2', 's@4'])
      expect((await errorOf(open().load({ checkpointId }))).code).toBe('CHECKPOINT_DAMAGED');
  });
});

describe('a record with an absurd number', () => {
  it.each([2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER])(
    'of bytes of the context is refused: %i',
    async (bytes) => {
      const { open, edit } = await store(false);
      await edit((lines) => {
        const record = recordOf(lines[3]!);
        const context = { ...(isJsonObject(record['context']) ? record['context'] : {}), bytes };
        return lines.with(3, line({ ...record, context }, 4));
      });
      expect((await errorOf(open().load({ checkpointId: 's@4' }))).code).toBe('CHECKPOINT_DAMAGED');
      expect((await open().verify()).problems.map(({ code }) => code)).toEqual(['UNSUPPORTED_VERSION']);
    },
  );

  it('of checkpoints that it uses is none that counts, before anybody counts to it', () => {
    const digest = createHash('sha256').digest('hex');
    const record = {
      type: 'save',
      number: 2,
      at,
      context: { bytes: 2, hash: digest },
      pack: { digest, bytes: 40, raw: 40, compression: 'none' },
      stored: 40,
    };
    expect(decodeRecord({ ...record, uses: [[1, 1]] })).not.toBeNull();
    for (const uses of [[[1, 2 ** 40]], [[1, 2]], [[2, 2]], [[3, 1]]])
      expect(decodeRecord({ ...record, uses })).toBeNull();
  });
});
