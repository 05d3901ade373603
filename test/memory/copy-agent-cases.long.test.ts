/** An agent that is copied is the same agent: it restores to the same context and goes on. */
import { describe, expect, it } from 'vitest';
import { copyAgent } from '../../src/memory/maintenance/copy-agent.js';
import { copyStorage } from '../../src/storage/copy-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { countCalls, failAt, faultyStorage } from '../../src/storage/testing/index.js';
import { stateOf } from '../storage/copy-kit.js';
import { describeCopiedFixtures, FIXTURE_NAMES, REFUSED } from './copy-agent-contract.js';
import { QUICK_FIXTURES } from './copy-agent-quick.js';
import { AGENT, contextText, openAgent, talk } from './memory-kit.js';

describeCopiedFixtures(QUICK_FIXTURES);

describe('the fixtures', () => {
  it('that are named here are there', () => {
    expect(
      [...QUICK_FIXTURES, ...Object.keys(REFUSED)].filter((name) => !FIXTURE_NAMES.includes(name)),
    ).toEqual([]);
  });
});

const openIn = (storage: StorageBackend, readOnly = false) =>
  openAgent({ storage: () => storage }, { storage, readOnly });

/** An agent that had a turn and was stopped. */
async function talked(question = 'Hello.'): Promise<MemoryStorage> {
  const storage = new MemoryStorage();
  const { memory, close } = await openIn(storage);
  await talk(memory, question, 'Hi.');
  await close();
  return storage;
}

async function contextIn(storage: StorageBackend): Promise<string> {
  const { memory, close } = await openIn(storage, true);
  const text = contextText(memory);
  await close();
  return text;
}

describe('a copy of an agent', () => {
  it('is refused with LEASE_HELD while the agent is open where it is copied from', async () => {
    const [source, target] = [await talked(), new MemoryStorage()];
    const { close } = await openIn(source);
    await expect(copyAgent(source, target, AGENT)).rejects.toMatchObject({ code: 'LEASE_HELD' });
    expect(await stateOf(target)).toStrictEqual({});
    await close();
    await copyAgent(source, target, AGENT);
  });

  it('is refused with LEASE_HELD while the agent is open where it is copied to, and lets go of the source', async () => {
    const source = await talked();
    const target = new MemoryStorage();
    await copyAgent(source, target, AGENT);
    const { close } = await openIn(target);
    const before = await stateOf(target);
    await expect(copyAgent(source, target, AGENT)).rejects.toMatchObject({ code: 'LEASE_HELD' });
    expect(await stateOf(target)).toStrictEqual(before);
    expect(await source.leases.inspect(['agents', AGENT])).toBeNull();
    await close();
  });

  it('lets nobody write the agent on either side meanwhile', async () => {
    const [source, target] = [await talked(), new MemoryStorage()];
    const tries: Promise<string>[] = [];
    const tryBoth = () => {
      for (const storage of [source, target])
        tries.push(
          openIn(storage).then(
            () => 'opened',
            ({ code }: { code: string }) => code,
          ),
        );
    };
    await copyAgent(source, target, AGENT, { onProgress: tryBoth });
    expect(new Set(await Promise.all(tries))).toStrictEqual(new Set(['LEASE_HELD']));
  });

  it('of an agent that is not there is refused with AGENT_NOT_FOUND, and leaves no lease', async () => {
    const [source, target] = [await talked(), new MemoryStorage()];
    await expect(copyAgent(source, target, 'nobody')).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect(await source.leases.inspect(['agents', 'nobody'])).toBeNull();
    expect(await stateOf(target)).toStrictEqual({});
  });

  it.each(['', '..', 'a/b'])(
    'of an agent with the impossible id %j is refused with INVALID_NAME',
    async (id) => {
      const copied = copyAgent(await talked(), new MemoryStorage(), id);
      await expect(copied).rejects.toMatchObject({ code: 'INVALID_NAME' });
    },
  );

  it('never writes over another agent of that id', async () => {
    const [source, target] = [await talked('Hello.'), await talked('Other.')];
    const before = await stateOf(target);
    const code = expect.stringMatching(/^(DOCUMENT|JOURNAL)_CONFLICT$/);
    await expect(copyAgent(source, target, AGENT)).rejects.toMatchObject({ code });
    expect(await stateOf(target)).toStrictEqual(before);
  });

  it('is refused where either one went on after an earlier copy by itself', async () => {
    const [source, target] = [await talked(), new MemoryStorage()];
    await copyAgent(source, target, AGENT);
    const { memory, close } = await openIn(target);
    await talk(memory, 'Only here.', 'Yes.');
    await close();
    const before = await stateOf(target);
    const code = expect.stringMatching(/^(DOCUMENT|JOURNAL)_CONFLICT$/);
    await expect(copyAgent(source, target, AGENT)).rejects.toMatchObject({ code });
    expect(await stateOf(target)).toStrictEqual(before);
  });

  it('of one agent leaves all others out', async () => {
    const [source, target] = [await talked(), new MemoryStorage()];
    await source.documents.write(['agents', 'other', 'notes.json'], {});
    await source.documents.write(['agents', `${AGENT}2`, 'notes.json'], {});
    await source.documents.write(['state', 'notes.json'], {});
    await copyAgent(source, target, AGENT);
    expect(await target.listNames([])).toStrictEqual(['agents']);
    expect(await target.listNames(['agents'])).toStrictEqual([AGENT]);
  });

  it('takes along what is kept below the agent, such as its durable state', async () => {
    const [source, target] = [await talked(), new MemoryStorage()];
    await source.documents.write(['agents', AGENT, 'state', 'plan.json'], { goal: 'x' });
    await copyAgent(source, target, AGENT);
    expect((await target.documents.read(['agents', AGENT, 'state', 'plan.json']))?.value).toStrictEqual({
      goal: 'x',
    });
  });

  it('that fails at any call leaves an agent that is whole or none, and ends whole when it is repeated', async () => {
    const source = await talked();
    const context = await contextIn(source);
    const counter = countCalls();
    await copyAgent(source, faultyStorage(new MemoryStorage(), counter.plan), AGENT);
    const wrong: string[] = [];
    for (const { number, operation } of counter.calls) {
      const target = new MemoryStorage();
      await copyAgent(source, faultyStorage(target, failAt(number)), AGENT).catch(() => {});
      const [lease] = await Promise.all([target.leases.inspect(['agents', AGENT])]);
      const part = await contextIn(target);
      const partly = part !== context && part !== (await contextIn(new MemoryStorage()));
      const lost = await openIn(target, true).then(async ({ report, close }) => {
        await close();
        return report.unknown.length + report.damage.length > 0;
      });
      if (lost || partly) wrong.push(`${number} ${operation}`);
      if (lease && operation !== 'lease.release') wrong.push(`${number} ${operation} keeps the lease`);
      if (!lease) await copyAgent(source, target, AGENT);
      if (!lease) expect(await contextIn(target)).toBe(context);
    }
    expect(wrong).toStrictEqual([]);
  });

  it('is part of a copy of the whole store', async () => {
    const [source, target] = [await talked(), new MemoryStorage()];
    await copyStorage(source, target);
    expect(await contextIn(target)).toBe(await contextIn(source));
  });
});
