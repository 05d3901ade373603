/** Guarded tools of a host's own loop: recorded around each run, and run once for each call. */
import { generateText, jsonSchema, stepCountIs, type ToolSet, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/core/json.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import { FaultyFileSystem } from '../../../src/storage/simulated/faulty-file-system.js';
import { type MockStep, mockModel } from '../../support/mock-ai-sdk.js';
import { gate, outline, rejection } from '../agent-fixture.js';
import { hostFixture, workTool } from '../context/host-fixture.js';

type Options = { toolCallId: string; messages: [] };
const options = (toolCallId: string): Options => ({ toolCallId, messages: [] });

/** A context with an open turn, and its guarded tool as a function. */
async function guarded(
  execute: (input: JsonObject, options: { toolCallId: string }) => unknown,
  idempotent = false,
) {
  const fixture = await hostFixture();
  const ctx = await fixture.open();
  await ctx.beginTurn('go');
  const { work } = workTool(execute);
  const tools = ctx.guardTools({ work: { ...work, ...(idempotent ? { idempotent } : {}) } });
  const run = async (id: string, input: JsonObject = {}) => tools.work.execute?.(input, options(id));
  return { fixture, ctx, run };
}

describe('a guarded tool', () => {
  it('has its call and its start on disk before it runs, and its result before it is returned', async () => {
    const onDisk: JsonObject[][] = [];
    const look = async () => {
      onDisk.push(await fixture.rows(), await fixture.rows('pending_calls'));
    };
    const { fixture, run } = await guarded(look);
    await run('a', { n: 1 });
    expect(onDisk[0]!.at(-1)).toMatchObject({
      trace_type: 'tool_call',
      tool_call_id: 'a',
      tool_args: { n: 1 },
    });
    expect(onDisk[1]).toMatchObject([{ event: 'started', call_id: 'a' }]);
    expect((await fixture.rows()).at(-1)).toMatchObject({ trace_type: 'tool_result', tool_call_id: 'a' });
  });

  it('that cannot be recorded does not run, and may run when the disk is back', async () => {
    const fixture = await hostFixture();
    const disk = new FaultyFileSystem(new NodeFileSystem());
    const ctx = await fixture.open({ storage: new FileStorage(fixture.dir, { fileSystem: disk }) });
    await ctx.beginTurn('go');
    let ran = 0;
    const { work } = ctx.guardTools(workTool(() => ++ran));
    const run = async () => work.execute?.({}, options('a'));
    for (const journal of ['raw_traces', 'pending_calls']) {
      const isWrite = (call: string, path: string) => call === 'file.write' && path.includes(journal);
      disk.setFault({ at: 1, kind: 'ENOSPC', sticky: true, only: isWrite });
      expect(await rejection(run())).toBe('STORAGE_FULL');
    }
    expect(ran).toBe(0);
    disk.setFault(null);
    expect(await run()).toBe(1);
    expect(outline(ctx.messages)).toEqual(['user: go', 'call: work{}', 'result: 1']);
  });

  it.each([
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a map', new Map([['a', 1n]]), { a: '1' }],
    [
      'a set and a big integer',
      { all: new Set([1]), big: 2n ** 60n },
      { all: [1], big: '1152921504606846976' },
    ],
    ['nothing', undefined, null],
    ['what is no number', { n: Number.NaN, gone: undefined }, { n: 'NaN' }],
  ])('returns what is recorded: %s', async (_, value, recorded) => {
    const { ctx, run } = await guarded(() => value);
    expect(await run('a')).toEqual(recorded);
    expect(outline(ctx.messages).at(-1)).toBe(`result: ${JSON.stringify(recorded)}`);
  });

  it('that throws is recorded and throws TOOL_FAILED with the same words', async () => {
    const { ctx, run } = await guarded(() => Promise.reject(new Error('no such file')));
    await expect(run('a')).rejects.toMatchObject({ code: 'TOOL_FAILED', message: 'no such file' });
    expect(outline(ctx.messages).at(-1)).toBe('error: no such file');
  });

  it('called again with the same call id does not run again and gives the recorded result', async () => {
    let ran = 0;
    const { ctx, run } = await guarded(() => ({ ran: ++ran }));
    await run('a');
    expect(await run('a')).toEqual({ ran: 1 });
    expect(ran).toBe(1);
    expect(outline(ctx.messages)).toEqual(['user: go', 'call: work{}', 'result: {"ran":1}']);
    expect(checkHistory(ctx.messages)).toEqual([]);
  });

  it('called again after it failed throws the recorded error', async () => {
    let ran = 0;
    const { run } = await guarded(() => {
      ran += 1;
      throw new Error('no such file');
    });
    expect(await rejection(run('a'))).toBe('TOOL_FAILED');
    await expect(run('a')).rejects.toMatchObject({ code: 'TOOL_FAILED', message: 'no such file' });
    expect(ran).toBe(1);
  });

  it('called twice at once with the same call id runs once', async () => {
    let ran = 0;
    const open = gate();
    const { ctx, run } = await guarded(async () => {
      ran += 1;
      await open.opened;
      return ran;
    });
    const both = [run('a'), run('a')];
    open.open();
    expect(await Promise.all(both)).toEqual([1, 1]);
    expect(ran).toBe(1);
    expect(checkHistory(ctx.messages)).toEqual([]);
  });

  it('of a later step with an id that the provider uses again is another call', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const call = (n: number): MockStep => ({ calls: [{ id: 'call_0', name: 'work', input: { n } }] });
    const { response } = await generateText({
      model: mockModel([call(1), call(2), { text: 'ok' }]),
      messages: ctx.messagesFor('ai-sdk'),
      tools: ctx.guardTools(workTool(({ n }) => Number(n) * 2)),
      stopWhen: stepCountIs(5),
    });
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages)).toEqual([
      'user: go',
      ...['call: work{"n":1}', 'result: 2'],
      ...['call: work{"n":2}', 'result: 4'],
      'assistant: ok',
    ]);
  });

  it('that streams its output gives the last one', async () => {
    const { ctx, run } = await guarded(async function* () {
      yield { progress: 0.5 };
      yield { done: true };
    });
    expect(await run('a')).toEqual({ done: true });
    expect(outline(ctx.messages).at(-1)).toBe('result: {"done":true}');
  });

  it('cancelled by its signal has a result that says so', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const cancel = new AbortController();
    const { work } = ctx.guardTools(
      workTool(() => {
        cancel.abort();
        return new Promise(() => {});
      }),
    );
    const run = async () => work.execute?.({}, { ...options('a'), abortSignal: cancel.signal });
    expect(await rejection(run())).toBe('TOOL_FAILED');
    expect(outline(ctx.messages).at(-1)).toMatch(/^error: Cancelled while it was running/);
  });
});

describe('guardTools', () => {
  it('passes tools without execute on as they are', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    const ask = tool({ inputSchema: jsonSchema({ type: 'object' }) });
    expect(ctx.guardTools({ ask }).ask).toBe(ask);
  });

  it('leaves the given tools untouched', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    const tools = workTool(() => 1);
    const { execute } = tools.work;
    const guardedTools: ToolSet = ctx.guardTools(tools);
    expect(tools.work.execute).toBe(execute);
    expect(guardedTools['work']).not.toBe(tools.work);
  });

  it('keeps `this` of a tool that is an object with state', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const counter = {
      count: 0,
      inputSchema: jsonSchema<JsonValue>({ type: 'object' }),
      execute(): number {
        this.count += 1;
        return this.count;
      },
    };
    const tools = ctx.guardTools({ counter });
    const execute = tools.counter.execute as (input: object, options: Options) => unknown;
    expect(await execute({}, options('a'))).toBe(1);
    expect(counter.count).toBe(1);
  });
});
