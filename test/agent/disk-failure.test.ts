/** A disk that fails in a turn: the turn rejects with a typed error, and the agent goes on when the disk is back. */
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agent/agent.js';
import { ScriptedModel, type ScriptStep } from '../../src/agent/model/scripted-model.js';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonValue } from '../../src/core/json.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../../src/storage/file/node-file-system.js';
import { type Fault, FaultyFileSystem } from '../../src/storage/simulated/faulty-file-system.js';
import { agentFixture, callsWork, outline, rejection, tool } from './agent-fixture.js';

type Journal = 'raw_traces' | 'pending_calls';

/** An agent on a disk that can fail. Its tool counts its runs. */
async function onFaultyDisk(
  script: readonly ScriptStep[],
  execute: () => JsonValue = () => 'done',
  idempotent = false,
) {
  const fixture = await agentFixture();
  const disk = new FaultyFileSystem(new NodeFileSystem());
  const storage = new FileStorage(fixture.dir, { fileSystem: disk });
  const model = new ScriptedModel(script);
  let ran = 0;
  const work = tool({
    idempotent,
    execute: () => {
      ran += 1;
      return execute();
    },
  });
  const agent = await fixture.started([], { storage, model, tools: [work] });
  /** From now on every write to this journal fails. */
  const fill = (journal: Journal, kind: Fault['kind'] = 'ENOSPC') =>
    disk.setFault({
      at: 1,
      kind,
      sticky: true,
      only: (call, path) => call === 'file.write' && path.includes(journal),
    });
  return { fixture, agent, disk, fill, mend: () => disk.setFault(null), model, ran: () => ran };
}

/** Another process restores exactly what this one has. */
async function assertRestoresTo(agent: Agent, fixture: Awaited<ReturnType<typeof agentFixture>>) {
  expect(checkHistory(agent.messages)).toEqual([]);
  const expected = agent.messages;
  await agent.stop();
  const next = fixture.restored([]);
  await next.start();
  expect(next.messages).toEqual(expected);
  await next.stop();
}

describe('a disk that is full', () => {
  it('when the input is to be written: the model is not called, and the next message works', async () => {
    const { fixture, agent, fill, mend, model } = await onFaultyDisk([{ text: 'Hello.' }]);
    fill('raw_traces');
    expect(await rejection(agent.send('lost'))).toBe('STORAGE_FULL');
    expect(model.requests).toHaveLength(0);
    expect(agent.status).toBe('idle');
    expect(agent.messages).toEqual([]);
    mend();
    expect((await agent.send('hi')).text).toBe('Hello.');
    expect(outline(agent.messages)).toEqual(['user: hi', 'assistant: Hello.']);
    await assertRestoresTo(agent, fixture);
  });

  it('when the calls are to be written: no tool runs, and resume() asks again', async () => {
    const full = () => {
      fill('raw_traces');
      return { calls: [{ name: 'work', arguments: {} }] };
    };
    const { fixture, agent, fill, mend, ran } = await onFaultyDisk([full, callsWork(), { text: 'ok' }]);
    expect(await rejection(agent.send('go'))).toBe('STORAGE_FULL');
    expect(ran()).toBe(0);
    mend();
    expect((await agent.resume()).text).toBe('ok');
    expect(ran()).toBe(1);
    await assertRestoresTo(agent, fixture);
  });

  it('when the start is to be written: the tool does not run, and resume() runs it', async () => {
    const { fixture, agent, fill, mend, ran } = await onFaultyDisk([callsWork(), { text: 'ok' }]);
    fill('pending_calls');
    expect(await rejection(agent.send('go'))).toBe('STORAGE_FULL');
    expect(ran()).toBe(0);
    mend();
    expect((await agent.resume()).text).toBe('ok');
    expect(ran()).toBe(1);
    await assertRestoresTo(agent, fixture);
  });

  it('when the start is to be written: another message may follow, and the call is closed before it', async () => {
    const { fixture, agent, fill, mend, ran } = await onFaultyDisk([callsWork(), { text: 'ok' }]);
    fill('pending_calls');
    expect(await rejection(agent.send('go'))).toBe('STORAGE_FULL');
    mend();
    await agent.send('leave it');
    expect(ran()).toBe(0);
    expect(outline(agent.messages)).toEqual([
      'user: go',
      'call: work{}',
      expect.stringMatching(/^error: .*before this call was started, so it had no effect/),
      'user: leave it',
      'assistant: ok',
    ]);
    await assertRestoresTo(agent, fixture);
  });

  it('when the result is to be written: the tool does not run again, and the model is told', async () => {
    const execute = () => {
      fill('raw_traces');
      return 'paid';
    };
    const { fixture, agent, fill, mend, ran } = await onFaultyDisk([callsWork(), { text: 'ok' }], execute);
    expect(await rejection(agent.send('pay'))).toBe('STORAGE_FULL');
    mend();
    expect((await agent.resume()).text).toBe('ok');
    expect(ran()).toBe(1);
    expect(outline(agent.messages)[2]).toMatch(/^error: The call .* its end was not recorded/);
    await assertRestoresTo(agent, fixture);
  });

  it('when the result is to be written: an idempotent tool runs again', async () => {
    const execute = () => {
      if (ran() === 1) fill('raw_traces');
      return 'read';
    };
    const script = [callsWork(), { text: 'ok' }];
    const { fixture, agent, fill, mend, ran } = await onFaultyDisk(script, execute, true);
    expect(await rejection(agent.send('read'))).toBe('STORAGE_FULL');
    mend();
    expect((await agent.resume()).text).toBe('ok');
    expect(ran()).toBe(2);
    expect(outline(agent.messages)[2]).toBe('result: "read"');
    await assertRestoresTo(agent, fixture);
  });

  it('when the answer is to be written: resume() asks again', async () => {
    const full = () => {
      fill('raw_traces');
      return { text: 'lost' };
    };
    const { fixture, agent, fill, mend } = await onFaultyDisk([full, { text: 'kept' }]);
    expect(await rejection(agent.send('hi'))).toBe('STORAGE_FULL');
    mend();
    expect((await agent.resume()).text).toBe('kept');
    expect(outline(agent.messages)).toEqual(['user: hi', 'assistant: kept']);
    await assertRestoresTo(agent, fixture);
  });

  it('for the cache alone is no failure of the turn', async () => {
    const { fixture, agent, disk, mend } = await onFaultyDisk([{ text: 'Hello.' }]);
    const failures: string[] = [];
    agent.memory.events.on('snapshot_failed', ({ error }) => failures.push(error.code));
    disk.setFault({ at: 1, kind: 'ENOSPC', sticky: true, only: (_, path) => path.includes('snapshot') });
    expect((await agent.send('hi')).text).toBe('Hello.');
    expect(failures).toEqual(['STORAGE_FULL']);
    mend();
    await assertRestoresTo(agent, fixture);
  });
});

describe('a sync that fails', () => {
  it('rejects with JOURNAL_OUTCOME_UNKNOWN, and the agent goes on', async () => {
    const { fixture, agent, disk, mend } = await onFaultyDisk([{ text: 'Hello.' }]);
    disk.setFault({ at: 1, kind: 'EIO', only: (call) => call === 'file.datasync' });
    expect(await rejection(agent.send('lost'))).toBe('JOURNAL_OUTCOME_UNKNOWN');
    mend();
    expect((await agent.send('hi')).text).toBe('Hello.');
    expect(outline(agent.messages)).toEqual(['user: hi', 'assistant: Hello.']);
    await assertRestoresTo(agent, fixture);
  });
});

describe('a failure of any one call to the disk', () => {
  const script = [callsWork({ n: 1 }, { n: 2 }), { text: 'ok' }, { text: 'ok' }, { text: 'ok' }];

  /** A turn with two calls in which the k-th call to the disk fails; then the disk is mended and the agent goes on. */
  async function failAt(k: number): Promise<boolean> {
    const { fixture, agent, disk, mend, ran } = await onFaultyDisk(script);
    disk.setFault({ at: k, kind: 'EIO' });
    const thrown: unknown = await agent.send('go').then(
      () => null,
      (error: unknown) => error,
    );
    const injected = disk.injected > 0;
    mend();
    if (thrown !== null) expect(isRekindleError(thrown), String(thrown)).toBe(true);
    expect(agent.status).toBe('idle');
    if (agent.memory.frontier.kind === 'idle') await agent.send('and now?');
    else await agent.resume();
    expect(ran()).toBeLessThanOrEqual(2);
    await assertRestoresTo(agent, fixture);
    return injected;
  }

  it('leaves an agent that goes on, runs no tool twice, and restores exactly', async () => {
    let k = 1;
    while (await failAt(k)) k += 1;
    expect(k).toBeGreaterThan(15);
  });
});
