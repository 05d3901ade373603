import {
  type AgentInputItem,
  isSessionHistoryRewriteAwareSession,
  isSessionHistoryTransactionAwareSession,
  MemorySession,
  type SessionHistoryTransaction,
} from '@openai/agents-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RekindleSession } from '../../../src/adapters/openai-agents/index.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { type OpenedTarget, TARGETS } from '../targets.js';

const opened: RekindleSession[] = [];

function sessionOf(storage: StorageBackend, sessionId = 'chat-1'): RekindleSession {
  const session = new RekindleSession({ sessionId, storage });
  opened.push(session);
  return session;
}

async function closeAll(): Promise<void> {
  for (const session of opened.splice(0)) await session.close();
}

function user(text: string): AgentInputItem {
  return { type: 'message', role: 'user', content: text };
}

function call(callId: string, args = '{}'): Extract<AgentInputItem, { type: 'function_call' }> {
  return { type: 'function_call', callId, name: 'look', arguments: args, status: 'completed' };
}

const [one, two, three] = ['one', 'two', 'three'].map(user) as [
  AgentInputItem,
  AgentInputItem,
  AgentInputItem,
];

describe.each(TARGETS)('a session of the Agents SDK in $name', ({ open }) => {
  let target: OpenedTarget;
  let session: RekindleSession;
  beforeEach(async () => {
    target = await open();
    session = sessionOf(target.storage);
  });
  afterEach(async () => {
    await closeAll();
    await target.destroy();
  });

  async function nextProcess(): Promise<RekindleSession> {
    await closeAll();
    return sessionOf(await target.reopen());
  }

  const texts = async (of = session) =>
    (await of.getItems()).map((item) => (item as { content: unknown }).content);

  function transact(
    operationId: string,
    transaction: SessionHistoryTransaction,
    of = session,
  ): Promise<void> {
    return of.applyHistoryTransaction({ operationId, transaction });
  }

  it('is empty at first, and knows its id', async () => {
    expect(await session.getSessionId()).toBe('chat-1');
    expect(await session.getItems()).toEqual([]);
    expect(await session.popItem()).toBeUndefined();
  });

  it('offers the optional changes of the history to the runner', () => {
    expect(isSessionHistoryRewriteAwareSession(session)).toBe(true);
    expect(isSessionHistoryTransactionAwareSession(session)).toBe(true);
  });

  it('keeps everything over a restart', async () => {
    const items = [
      one,
      call('c1'),
      { ...two, providerData: { bytes: Uint8Array.from([1, 2]), deep: { a: [null] } } },
    ];
    await session.addItems(items);
    await session.addItems([three]);
    session = await nextProcess();
    expect(await session.getItems()).toEqual([...items, three]);
  });

  it('gives the newest items up to a limit, the oldest of them first', async () => {
    await session.addItems([one, two, three]);
    expect(await session.getItems(2)).toEqual([two, three]);
    expect(await session.getItems(5)).toEqual([one, two, three]);
    expect(await session.getItems(0)).toEqual([]);
    expect(await session.getItems(-1)).toEqual([]);
    await expect(session.getItems(Number.NaN)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('gives copies', async () => {
    const mine = { ...one } as { content: string };
    await session.addItems([mine as unknown as AgentInputItem]);
    mine.content = 'changed by me';
    ((await session.getItems())[0] as { content: string }).content = 'changed by a reader';
    expect(await texts()).toEqual(['one']);
  });

  it('takes the newest item away', async () => {
    await session.addItems([one, two]);
    expect(await session.popItem()).toEqual(two);
    session = await nextProcess();
    expect(await session.popItem()).toEqual(one);
    expect(await session.popItem()).toBeUndefined();
  });

  it('begins anew when it is cleared', async () => {
    await session.addItems([one]);
    await session.clearSession();
    await session.addItems([two]);
    session = await nextProcess();
    expect(await texts()).toEqual(['two']);
  });

  it('is seen by another one over the same storage, which loses no change', async () => {
    const other = sessionOf(target.storage);
    const add = (of: RekindleSession, name: string) => of.addItems([user(`${name}-1`), user(`${name}-2`)]);
    await Promise.all([add(session, 'a'), add(other, 'b'), add(session, 'c'), add(other, 'd')]);
    const seen = (await texts()) as string[];
    expect(await texts(other)).toEqual(seen);
    expect([...seen].sort()).toEqual(['a-1', 'a-2', 'b-1', 'b-2', 'c-1', 'c-2', 'd-1', 'd-2']);
    for (const name of ['a', 'b', 'c', 'd'])
      expect(seen.indexOf(`${name}-2`)).toBe(seen.indexOf(`${name}-1`) + 1);
    const popped = await Promise.all([session.popItem(), other.popItem()]);
    expect(popped.map((item) => (item as { content: string }).content).sort()).toEqual(seen.slice(-2).sort());
  });

  it('replaces the history by its compaction', async () => {
    await session.addItems([one, two]);
    await session.replaceHistoryWithCompaction([three]);
    session = await nextProcess();
    expect(await texts()).toEqual(['three']);
  });

  it('rewrites calls as the session of the SDK does', async () => {
    const items = [call('a'), call('b'), call('a', '{"again":1}'), one, call('b')];
    const mutations = [
      { type: 'replace_function_call' as const, callId: 'a', replacement: call('a', '{"new":1}') },
      { type: 'replace_function_call' as const, callId: 'b', replacement: call('c') },
      { type: 'replace_function_call' as const, callId: 'not there', replacement: call('d') },
    ];
    const reference = new MemorySession({ initialItems: items });
    await reference.applyHistoryMutations({ mutations });
    await session.addItems(items);
    await session.applyHistoryMutations({ mutations });
    session = await nextProcess();
    expect(await session.getItems()).toEqual(await reference.getItems());
  });

  it('appends by a transaction once, also after a restart', async () => {
    await transact('op-1', { type: 'append_items', items: [one, two] });
    await transact('op-1', { type: 'append_items', items: [one, two] });
    session = await nextProcess();
    await transact('op-1', { type: 'append_items', items: [{ ...one }, { ...two }] });
    expect(await texts()).toEqual(['one', 'two']);
  });

  it('appends once when two ask at the same time', async () => {
    const other = sessionOf(target.storage);
    const items = [one];
    await Promise.all([
      transact('op-1', { type: 'append_items', items }),
      transact('op-1', { type: 'append_items', items }, other),
    ]);
    expect(await texts(other)).toEqual(['one']);
  });

  it('replaces a suffix by a transaction once', async () => {
    await session.addItems([one, two]);
    const replace = { type: 'replace_suffix' as const, expectedSuffix: [two], replacement: [three, two] };
    await transact('op-1', replace);
    await transact('op-1', replace);
    session = await nextProcess();
    await transact('op-1', replace);
    expect(await texts()).toEqual(['one', 'three', 'two']);
  });

  it('refuses a suffix that is not there, and changes nothing', async () => {
    await session.addItems([one, two]);
    for (const expectedSuffix of [[one], [three, one, two], [{ ...two, id: 'x' } as AgentInputItem]]) {
      const refused = transact('op-1', { type: 'replace_suffix', expectedSuffix, replacement: [three] });
      await expect(refused).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' });
    }
    expect(await texts()).toEqual(['one', 'two']);
    // The id was not taken by what was refused.
    await transact('op-1', { type: 'replace_suffix', expectedSuffix: [two], replacement: [] });
    expect(await texts()).toEqual(['one']);
  });

  it('refuses an operation id with another transaction, and changes nothing', async () => {
    await transact('op-1', { type: 'append_items', items: [one] });
    const others: SessionHistoryTransaction[] = [
      { type: 'append_items', items: [two] },
      { type: 'replace_suffix', expectedSuffix: [], replacement: [one] },
    ];
    for (const other of others)
      await expect(transact('op-1', other)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await texts()).toEqual(['one']);
  });

  it('forgets applied transactions when it is cleared, and not when it is compacted', async () => {
    const append = { type: 'append_items' as const, items: [one] };
    await transact('op-1', append);
    await session.replaceHistoryWithCompaction([three]);
    await transact('op-1', append);
    expect(await texts()).toEqual(['three']);
    await session.clearSession();
    await transact('op-1', append);
    expect(await texts()).toEqual(['one']);
  });

  it('refuses what cannot be stored, whole', async () => {
    const bad = { ...two, providerData: { at: new Date(0) } } as AgentInputItem;
    const code = { code: 'INVALID_ARGUMENT' };
    await expect(session.addItems([one, bad])).rejects.toMatchObject(code);
    await expect(session.replaceHistoryWithCompaction([bad])).rejects.toMatchObject(code);
    await expect(transact('op-1', { type: 'append_items', items: [one, bad] })).rejects.toMatchObject(code);
    await expect(transact(' ', { type: 'append_items', items: [one] })).rejects.toMatchObject(code);
    const unknown = { type: 'prepend' } as unknown as SessionHistoryTransaction;
    await expect(transact('op-1', unknown)).rejects.toMatchObject(code);
    expect(await session.getItems()).toEqual([]);
  });

  it('keeps sessions apart, whatever their ids are', async () => {
    const ids = [
      'a',
      'A',
      'a/b',
      'a\\b',
      '../a',
      '..',
      '~a',
      'é',
      'e\u0301',
      '\ud800',
      '\ud801',
      'n\0',
      'x'.repeat(500),
    ];
    for (const id of ids) await sessionOf(target.storage, id).addItems([user(id.toWellFormed())]);
    await closeAll();
    const storage = await target.reopen();
    for (const id of ids) {
      const again = sessionOf(storage, id);
      expect(await again.getSessionId()).toBe(id);
      expect(await texts(again)).toEqual([id.toWellFormed()]);
    }
    expect(() => sessionOf(storage, '')).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });

  it('refuses calls once it is closed, and leaves the storage open', async () => {
    await session.addItems([one]);
    await session.close();
    await expect(session.getItems()).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
    await expect(session.addItems([two])).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
    expect(await texts(sessionOf(target.storage))).toEqual(['one']);
  });
});
