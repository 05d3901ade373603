/** The contracts of the SDK's `SessionStore` that its conformance suite names, in our words. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RekindleSessionStore } from '../../../src/adapters/claude-agent/index.js';
import { EVERY_TARGET, type OpenedTarget } from '../targets.js';
import { AGENT_1, AGENT_2, entry, fold, MAIN, OpenStores } from './store-kit.js';

/** Milliseconds of 2001: a time in seconds would be smaller. */
const EARLIEST_MS = 1e12;
const { projectKey, sessionId } = MAIN;

describe.each(EVERY_TARGET)('the session store of the Claude Agent SDK in $name', ({ open }) => {
  const stores = new OpenStores();
  let target: OpenedTarget;
  let store: RekindleSessionStore;
  beforeEach(async () => {
    target = await open();
    store = stores.over(target.storage);
  });
  afterEach(async () => {
    await stores.closeAll();
    await target.destroy();
  });

  const one = (n: number) => [entry({ n })];
  const ids = async (of: string) => (await store.listSessions(of)).map((session) => session.sessionId).sort();

  it('loads the entries of an append, equal and in order', async () => {
    const entries = [entry({ uuid: 'b', n: 1 }), entry({ uuid: 'a', n: 2 })];
    await store.append(MAIN, entries);
    expect(await store.load(MAIN)).toEqual(entries);
  });

  it('loads null for a key that was never written', async () => {
    expect(await store.load(MAIN)).toBeNull();
    await store.append(MAIN, one(1));
    expect(await store.load(AGENT_1)).toBeNull();
  });

  it('keeps the order of several appends', async () => {
    await store.append(MAIN, [entry({ uuid: 'z' })]);
    await store.append(MAIN, [entry({ uuid: 'a' }), entry({ uuid: 'm' })]);
    await store.append(MAIN, [entry({ uuid: 'b' })]);
    expect((await store.load(MAIN))?.map(({ uuid }) => uuid)).toEqual(['z', 'a', 'm', 'b']);
  });

  it('changes nothing by an append of nothing', async () => {
    await store.append(MAIN, []);
    expect(await store.load(MAIN)).toBeNull();
    expect(await store.listSessions(projectKey)).toEqual([]);
    await store.append(MAIN, one(1));
    await store.append(MAIN, []);
    expect(await store.load(MAIN)).toEqual(one(1));
  });

  it('keeps the transcript of a subagent apart from the main one', async () => {
    await store.append(MAIN, one(1));
    await store.append(AGENT_1, one(2));
    expect(await store.load(MAIN)).toEqual(one(1));
    expect(await store.load(AGENT_1)).toEqual(one(2));
  });

  it('keeps projects apart', async () => {
    await store.append({ projectKey: 'A', sessionId }, one(1));
    await store.append({ projectKey: 'B', sessionId }, one(2));
    expect(await store.load({ projectKey: 'A', sessionId })).toEqual(one(1));
    expect(await store.load({ projectKey: 'B', sessionId })).toEqual(one(2));
    expect([await ids('A'), await ids('B')]).toEqual([[sessionId], [sessionId]]);
  });

  it('lists the sessions of a project with the time of their last append, in whole milliseconds', async () => {
    await store.append({ projectKey, sessionId: 'a' }, one(1));
    await store.append({ projectKey, sessionId: 'b' }, one(1));
    await store.append({ projectKey: 'other', sessionId: 'c' }, one(1));
    expect(await ids(projectKey)).toEqual(['a', 'b']);
    for (const { mtime } of await store.listSessions(projectKey)) {
      expect(Number.isSafeInteger(mtime)).toBe(true);
      expect(mtime).toBeGreaterThan(EARLIEST_MS);
    }
    expect(await store.listSessions('never written')).toEqual([]);
  });

  it('lists no subagents among the sessions', async () => {
    await store.append(MAIN, one(1));
    await store.append(AGENT_1, one(1));
    await store.append({ projectKey, sessionId: 'no main transcript', subpath: 'subagents/agent-1' }, one(1));
    expect(await ids(projectKey)).toEqual([sessionId]);
  });

  it('loads null after a deletion, and deletes nothing without error', async () => {
    await store.delete({ projectKey, sessionId: 'never written' });
    await store.append(MAIN, one(1));
    await store.delete(MAIN);
    expect(await store.load(MAIN)).toBeNull();
  });

  it('deletes the subagents with their session, and nothing else', async () => {
    const others = [
      { projectKey, sessionId: `${sessionId}2` },
      { projectKey: 'other', sessionId },
    ];
    for (const key of [MAIN, AGENT_1, AGENT_2, ...others]) await store.append(key, one(1));
    await store.delete(MAIN);
    for (const key of [MAIN, AGENT_1, AGENT_2]) expect(await store.load(key)).toBeNull();
    for (const key of others) expect(await store.load(key)).toEqual(one(1));
    expect(await store.listSubkeys(MAIN)).toEqual([]);
    expect(await ids(projectKey)).toEqual([`${sessionId}2`]);
  });

  it('deletes one subagent alone', async () => {
    for (const key of [MAIN, AGENT_1, AGENT_2]) await store.append(key, one(1));
    await store.delete(AGENT_1);
    expect(await store.load(AGENT_1)).toBeNull();
    for (const key of [MAIN, AGENT_2]) expect(await store.load(key)).toEqual(one(1));
    expect(await store.listSubkeys(MAIN)).toEqual([AGENT_2.subpath]);
  });

  it('lists the subpaths of one session', async () => {
    for (const key of [MAIN, AGENT_1, AGENT_2]) await store.append(key, one(1));
    await store.append({ projectKey, sessionId: 'other', subpath: 'subagents/agent-x' }, one(1));
    expect((await store.listSubkeys(MAIN)).sort()).toEqual([AGENT_1.subpath, AGENT_2.subpath]);
  });

  it('lists no main transcript among the subpaths', async () => {
    await store.append(MAIN, one(1));
    expect(await store.listSubkeys(MAIN)).toEqual([]);
    expect(await store.listSubkeys({ projectKey, sessionId: 'never written' })).toEqual([]);
  });

  it('lists summaries as the fold of the SDK makes them, with the time of the session', async () => {
    const folding = stores.over(target.storage, { foldSessionSummary: fold });
    await folding.append(MAIN, [entry({ customTitle: 'first', prompt: 'Hello' }), entry({ prompt: 'More' })]);
    await folding.append(MAIN, [entry({ customTitle: 'second' })]);
    await folding.append(AGENT_1, [entry({ customTitle: 'of a subagent' })]);
    await folding.append({ projectKey: 'other', sessionId }, one(1));
    const summaries = await folding.listSessionSummaries?.(projectKey);
    const [mtime] = (await folding.listSessions(projectKey)).map((one) => one.mtime);
    expect(summaries).toEqual([{ sessionId, mtime, data: { count: 3, title: 'second', prompt: 'Hello' } }]);
    expect(await folding.listSessionSummaries?.('never written')).toEqual([]);
    await folding.delete(MAIN);
    expect(await folding.listSessionSummaries?.(projectKey)).toEqual([]);
  });
});
