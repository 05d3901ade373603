import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import type { ToolCallEntry } from '../../../src/workspace/tool-calls/tool-call-record.js';
import { fileShop, SHOPS, type Shop } from '../workspace-kit.js';

const DAY = 86_400_000;
/** 2023-11-14, late in the evening. */
const START = 1_700_000_000_000;
const LARGE = 5_000;

function call(init: Partial<ToolCallEntry> = {}): ToolCallEntry {
  return {
    callId: 'c',
    tool: 'search',
    agent: 'ada',
    turnId: 'turn_0001',
    input: {},
    output: null,
    error: null,
    startedMs: START,
    durationMs: 1,
    ...init,
  };
}

function calls(count: number, init: (n: number) => Partial<ToolCallEntry> = () => ({})): ToolCallEntry[] {
  return Array.from({ length: count }, (_, n) => call({ callId: `c${n + 1}`, ...init(n + 1) }));
}

const idsOf = (found: readonly { readonly callId: string }[]) => found.map(({ callId }) => callId);
const recordAll = (log: ToolCallLog, entries: readonly ToolCallEntry[]) =>
  Promise.all(entries.map((entry) => log.record(entry)));
const folderOf = (shop: Shop) => path.join(shop.root, 'workspace/tool_calls');

/** The rows that each commit had, from now on. */
function commitsOf(backend: StorageBackend): number[] {
  const commits: number[] = [];
  const open = backend.openJournal.bind(backend);
  backend.openJournal = async (name, options) => {
    const journal = await open<never>(name, options);
    const append = journal.append.bind(journal);
    journal.append = (rows, how) => {
      commits.push(rows.length);
      return append(rows, how);
    };
    return journal;
  };
  return commits;
}

describe.each(SHOPS)('a tool-call log over $name', ({ make }) => {
  it('gives back all that a call was', async () => {
    const { backend } = await make();
    const log = new ToolCallLog(backend);
    await log.record(call({ input: { q: 'é' }, output: [1, null], durationMs: 12.34, session: 's1' }));
    await log.record(call({ callId: 'bad', error: 'no', durationMs: 0 }));
    expect(await new ToolCallLog(backend).recent()).toEqual([
      expect.objectContaining({ callId: 'bad', status: 'error', error: 'no', output: null, session: null }),
      {
        callId: 'c',
        tool: 'search',
        agent: 'ada',
        turnId: 'turn_0001',
        session: 's1',
        startedAt: new Date(START).toISOString(),
        durationMs: 12.3,
        input: { q: 'é' },
        output: [1, null],
        error: null,
        status: 'ok',
        inputRef: null,
        outputRef: null,
      },
    ]);
    await log.close();
  });

  it('takes a failure without words for a failure', async () => {
    const log = new ToolCallLog((await make()).backend);
    await log.record(call({ error: '' }));
    expect(await log.recent()).toMatchObject([{ status: 'error', error: '' }]);
  });

  it('stores large values by reference, equal ones once', async () => {
    const { backend } = await make();
    const log = new ToolCallLog(backend);
    const text = 'x'.repeat(LARGE);
    await log.record(call({ input: { text }, output: { text } }));
    const [found] = await log.recent();
    expect(found).toMatchObject({ input: null, output: null, inputRef: found?.outputRef });
    expect(JSON.parse((await log.value(found!.inputRef!)) ?? '')).toEqual({ text });
    const stored = [];
    for await (const blob of backend.blobs(['workspace', 'tool_calls', 'values']).list()) stored.push(blob);
    expect(stored).toHaveLength(1);
  });

  it.each(['sha256:00', 'sha256:../../x', '', `sha256:${'0'.repeat(64)}`])(
    'has no value for %j',
    async (ref) => {
      expect(await new ToolCallLog((await make()).backend).value(ref)).toBeNull();
    },
  );

  it('finds by tool, agent, session, status and time, all at once', async () => {
    const log = new ToolCallLog((await make()).backend);
    const entries = calls(4, (n) => ({ startedMs: START + n }));
    await recordAll(log, [
      ...entries,
      call({ callId: 'tool', tool: 'read' }),
      call({ callId: 'agent', agent: 'eve' }),
      call({ callId: 'session', session: 's1' }),
      call({ callId: 'failed', error: 'no' }),
    ]);
    expect(idsOf(await log.search({ tool: 'read' }))).toEqual(['tool']);
    expect(idsOf(await log.search({ agent: 'eve' }))).toEqual(['agent']);
    expect(idsOf(await log.search({ session: 's1' }))).toEqual(['session']);
    expect(idsOf(await log.search({ status: 'error' }))).toEqual(['failed']);
    expect(idsOf(await log.search({ fromMs: START + 2, toMs: START + 3 }))).toEqual(['c3', 'c2']);
    expect(
      idsOf(await log.search({ agent: 'ada', status: 'ok', tool: 'search', fromMs: START + 4 })),
    ).toEqual(['c4']);
    expect(await log.search({ agent: '' })).toEqual([]);
    expect(idsOf(await log.recent(9, 'read'))).toEqual(['tool']);
  });

  it.each([Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER, 8.64e15])(
    'finds everything up to a time as late as %d',
    async (toMs) => {
      const log = new ToolCallLog((await make()).backend);
      await log.record(call());
      expect(await log.search({ fromMs: -toMs, toMs })).toHaveLength(1);
      expect(await log.search({ fromMs: toMs })).toEqual([]);
    },
  );

  it('finds text in input, output and error, in any letter case', async () => {
    const log = new ToolCallLog((await make()).backend);
    await recordAll(log, [
      call({ callId: 'in', input: { q: 'Needle' } }),
      call({ callId: 'out', output: ['a NEEDLE b'] }),
      call({ callId: 'error', error: 'no needle' }),
      call({ callId: 'none', input: { q: 'hay' } }),
    ]);
    expect(idsOf(await log.search({ text: 'nEEdle' }))).toEqual(['error', 'out', 'in']);
  });

  it.each([
    ['quotes', 'say "hi"'],
    ['a path', 'C:\\new\\table'],
    ['two lines', 'one\ntwo'],
  ])('finds text with %s, wherever it was stored', async (_, text) => {
    const log = new ToolCallLog((await make()).backend);
    await recordAll(log, [
      call({ callId: 'here', input: { text: `a ${text} b` } }),
      call({ callId: 'by reference', output: `${'x'.repeat(LARGE)} ${text}` }),
      call({ callId: 'error', error: text }),
    ]);
    expect(idsOf(await log.search({ text }))).toEqual(['error', 'by reference', 'here']);
  });

  it('gives the newest first, and no more than asked for', async () => {
    const log = new ToolCallLog((await make()).backend);
    await recordAll(
      log,
      calls(25, (n) => ({ startedMs: START + (n > 20 ? DAY : 0) })),
    );
    expect(idsOf(await log.search({ limit: 6 }))).toEqual(['c25', 'c24', 'c23', 'c22', 'c21', 'c20']);
    expect(await log.search()).toHaveLength(10);
    expect(await log.search({ limit: 0 })).toEqual([]);
    expect(await log.search({ limit: -1 })).toEqual([]);
    expect(await log.search({ limit: 99 })).toHaveLength(25);
  });

  it('keeps calls by the day of UTC', async () => {
    const { backend } = await make();
    const log = new ToolCallLog(backend);
    const midnight = Date.UTC(2023, 10, 15);
    await recordAll(log, [call({ startedMs: midnight - 1 }), call({ startedMs: midnight })]);
    const names = await backend.listNames(['workspace', 'tool_calls']);
    expect(names.map((name) => name.slice(0, 10))).toEqual(['2023-11-14', '2023-11-15']);
  });

  it('writes calls that come together in one commit', async () => {
    const { backend } = await make();
    const commits = commitsOf(backend);
    await recordAll(new ToolCallLog(backend), calls(50));
    expect(commits).toEqual([50]);
  });

  it('begins a second chunk after 1,000 calls, however they come', async () => {
    const { backend } = await make();
    const log = new ToolCallLog(backend);
    await recordAll(log, calls(999));
    await recordAll(
      log,
      calls(1_100, (n) => ({ callId: `d${n}` })),
    );
    const commits = commitsOf(backend);
    await new ToolCallLog(backend).record(call({ callId: 'last' }));
    expect(commits).toEqual([1]);
    const names = (await backend.listNames(['workspace', 'tool_calls'])).map((name) => name.split('.')[0]);
    expect(names.sort()).toEqual(['2023-11-14', '2023-11-14-2', '2023-11-14-3']);
    const found = idsOf(await log.search({ limit: 3_000 }));
    expect(found.slice(0, 2)).toEqual(['last', 'd1100']);
    expect(new Set(found).size).toBe(2_100);
  });

  it('goes on in the tenth chunk, not in the ninth', async () => {
    const { backend } = await make();
    for (const [number, rows] of [
      [9, 1_000],
      [10, 1],
    ] as const) {
      const journal = await backend.openJournal(['workspace', 'tool_calls', `2023-11-14-${number}`]);
      await journal.append(Array.from({ length: rows }, () => ({ row: number })));
      await journal.close();
    }
    const commits = commitsOf(backend);
    const log = new ToolCallLog(backend);
    await log.record(call());
    expect(commits).toEqual([1]);
    expect(await log.prune({ callsMax: 2 })).toMatchObject({ callsRemoved: 1_000, callsKept: 2 });
    await log.close();
  });

  it('takes what a call was when it was recorded', async () => {
    const log = new ToolCallLog((await make()).backend);
    const input = { list: [1] };
    const recorded = log.record(call({ input }));
    input.list.push(2);
    await recorded;
    expect(await log.recent()).toMatchObject([{ input: { list: [1] } }]);
  });

  it.each([
    ['an input that is none', { input: undefined as unknown as JsonValue }],
    ['an input that is not JSON', { input: 1n as unknown as JsonValue }],
    ['a time that is none', { startedMs: Number.NaN }],
    ['a time beyond the calendar', { startedMs: 8.64e15 }],
    ['a duration that is none', { durationMs: Number.NaN }],
  ])('refuses %s, and that alone', async (_, init) => {
    const log = new ToolCallLog((await make()).backend);
    const [good, bad] = await Promise.allSettled([log.record(call()), log.record(call(init))]);
    expect(good.status).toBe('fulfilled');
    expect(bad).toMatchObject({ reason: { code: 'INVALID_ARGUMENT' } });
    expect(await log.recent()).toHaveLength(1);
  });

  it('keeps hostile names as they are', async () => {
    const log = new ToolCallLog((await make()).backend);
    for (const name of ['__proto__', '../x', '', '🙂']) {
      await log.record(
        call({ agent: name, tool: name, session: name, input: JSON.parse('{"__proto__":1}') }),
      );
      const [found] = await log.search({ agent: name, tool: name, session: name });
      expect(JSON.stringify(found?.input)).toBe('{"__proto__":1}');
    }
  });

  it('writes what waits before it closes, and refuses what comes later', async () => {
    const { backend } = await make();
    const log = new ToolCallLog(backend);
    const recorded = log.record(call());
    await log.close();
    await recorded;
    await expect(log.record(call())).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
    await log.close();
    expect(await log.recent()).toHaveLength(1);
  });

  it('loses no call of two logs', async () => {
    const shop = await make();
    const other = shop.root === '' ? shop.backend : new FileStorage(shop.root);
    const logs = [new ToolCallLog(shop.backend), new ToolCallLog(other)];
    const rounds = logs.map(async (log, who) => {
      for (let n = 1; n <= 6; n += 1) {
        await recordAll(
          log,
          [1, 2, 3].map((part) => call({ callId: `${who} ${n} ${part}` })),
        );
        if (n % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
      }
    });
    await Promise.all(rounds);
    expect(new Set(idsOf(await logs[0]!.search({ limit: 99 }))).size).toBe(36);
    for (const log of logs) await log.close();
  });
});

describe('a log whose right to write is lost in the middle', () => {
  it('writes again, and loses no call of either', async () => {
    const shop = await fileShop();
    const [log, other] = [new ToolCallLog(shop.backend), new ToolCallLog(new FileStorage(shop.root))];
    const values = shop.backend.blobs(['workspace', 'tool_calls', 'values']);
    let lost = false;
    shop.backend.blobs = () => ({
      ...values,
      put: async (bytes) => {
        if (!lost) {
          lost = true;
          await takeOver(shop);
          await other.record(call({ callId: 'theirs' }));
        }
        return values.put(bytes);
      },
    });
    await log.record(call({ callId: 'mine', input: 'x'.repeat(LARGE), startedMs: START + 1 }));
    expect(lost).toBe(true);
    expect(new Set(idsOf(await other.recent()))).toEqual(new Set(['mine', 'theirs']));
    await log.close();
    await other.close();
  });
});

/** As if this process had been suspended past its time. */
async function takeOver(shop: Shop): Promise<void> {
  const storage = new FileStorage(shop.root);
  const lease = await storage.leases.acquire(['workspace', 'tool_calls.lease'], { force: true });
  await lease.release();
  await storage.close();
}

describe('a damaged log', () => {
  it.each([
    ['not JSON', 'garbage'],
    ['another shape', '{"call_id":1}'],
    ['another log', '[]'],
    ['a changed byte', null],
  ])('is read around a line that is %s', async (_, line) => {
    const shop = await fileShop();
    const log = new ToolCallLog(shop.backend);
    await recordAll(log, calls(3));
    await log.close();
    const file = path.join(folderOf(shop), '2023-11-14.jsonl');
    const lines = (await fs.readFile(file, 'utf8')).split('\n');
    lines[1] = line ?? lines[1]!.replace('"c2"', '"cX"');
    await fs.writeFile(file, lines.join('\n'));
    const next = new ToolCallLog(shop.backend);
    expect(idsOf(await next.search())).toEqual(['c3', 'c1']);
    await next.record(call({ callId: 'new' }));
    expect(idsOf(await next.search())).toEqual(['new', 'c3', 'c1']);
    await next.close();
  });

  it('is searched around a value that is damaged', async () => {
    const shop = await fileShop();
    const log = new ToolCallLog(shop.backend);
    await recordAll(log, [
      call({ callId: 'a', input: 'needle' }),
      call({ callId: 'b', input: 'x'.repeat(LARGE) }),
    ]);
    const { inputRef } = (await log.recent(1))[0]!;
    const digest = inputRef!.slice('sha256:'.length);
    await fs.writeFile(path.join(folderOf(shop), 'values', digest.slice(0, 2), digest), 'needle');
    expect(idsOf(await log.search({ text: 'needle' }))).toEqual(['a']);
    await expect(log.value(inputRef!)).rejects.toMatchObject({ code: 'BLOB_DAMAGED' });
    await log.close();
  });

  it('is found when its writer stopped while it sealed it', async () => {
    const shop = await fileShop();
    const log = new ToolCallLog(shop.backend);
    await log.record(call());
    await log.close();
    const file = (name: string) => path.join(folderOf(shop), name);
    await fs.rename(file('2023-11-14.jsonl'), file('2023-11-14.000001-1.jsonl'));
    expect(await log.recent()).toHaveLength(1);
  });

  it('leaves files alone that are none of its own', async () => {
    const shop = await fileShop();
    const log = new ToolCallLog(shop.backend);
    await log.record(call());
    await log.close();
    for (const name of ['notes.md', '2023-11-14.bak', '2023-11-14-x.jsonl'])
      await fs.writeFile(path.join(folderOf(shop), name), 'mine');
    const next = new ToolCallLog(shop.backend);
    expect(await next.recent()).toHaveLength(1);
    await next.prune({ callsMax: 0 });
    expect((await fs.readdir(folderOf(shop))).sort()).toEqual([
      '2023-11-14-x.jsonl',
      '2023-11-14.bak',
      'notes.md',
    ]);
    await next.close();
  });
});
