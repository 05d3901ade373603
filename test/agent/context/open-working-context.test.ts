/** A host's own context: opening it, what a crash leaves of a turn, giving a turn up, and what the host may not do. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { filesBelow, gate, outline, rejection } from '../agent-fixture.js';
import { callsWork, double, generate, hostFixture, workTool } from './host-fixture.js';

describe('openWorkingContext', () => {
  it('begins a new agent, and its prompt is what the list starts with', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open({ system: 'Be kind.' });
    expect(ctx.isNew).toBe(true);
    expect(ctx.messagesFor('ai-sdk')).toEqual([{ role: 'system', content: 'Be kind.' }]);
  });

  it('restores an agent that exists and says how', async () => {
    const fixture = await hostFixture();
    const first = await fixture.open({ system: 'Be kind.' });
    await first.beginTurn('hi');
    await first.endTurn((await generate(first, [{ text: 'Hello.' }])).response.messages);
    await first.close();
    const second = await fixture.open({ system: 'Be kind.' });
    expect(second.isNew).toBe(false);
    expect(second.report).toMatchObject({ source: 'cache', repairs: [] });
    expect(second.messages).toEqual(first.messages);
    expect(second.messagesFor('ai-sdk')).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'Hello.' },
    ]);
  });

  it('on a clean folder writes nothing but its lease', async () => {
    const fixture = await hostFixture();
    const first = await fixture.open();
    await first.beginTurn('hi');
    await first.endTurn((await generate(first, [{ text: 'Hello.' }])).response.messages);
    await first.close();
    const before = await filesBelow(fixture.dir);
    await (await fixture.open()).close();
    expect(await filesBelow(fixture.dir)).toEqual(before);
  });

  it('refuses an agent that is open already with LEASE_HELD', async () => {
    const fixture = await hostFixture();
    await fixture.open();
    expect(await rejection(fixture.open())).toBe('LEASE_HELD');
  });

  it('lets the next one in when it is closed, also by `await using`', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx[Symbol.asyncDispose]();
    expect((await fixture.open()).isNew).toBe(true); // nothing was said, so there is no agent yet
  });
});

describe('a crash', () => {
  it('in the middle of a guarded tool leaves a call of unknown outcome, and resumeTurn() goes on', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('pay');
    const started = gate();
    let ran = 0;
    const pay = workTool(() => {
      ran += 1;
      started.open();
      return new Promise(() => {}); // the process dies here
    });
    generate(ctx, [callsWork('pay-1', { euro: 5 })], pay).catch(() => {});
    await started.opened;

    const next = await fixture.openAfterCrash();
    expect(next.report).toMatchObject({
      interruptedCalls: [{ callId: 'pay-1', verdict: 'outcome_unknown' }],
      frontier: { kind: 'interrupted_tools' },
    });
    expect(next.resumeTurn()).toBe('turn_0001');
    const { response } = await generate(next, [{ text: 'I shall check.' }], pay);
    await next.endTurn(response.messages);
    expect(ran).toBe(1);
    expect(outline(next.messages)).toEqual([
      'user: pay',
      'call: work{"euro":5}',
      expect.stringMatching(/^error: .*outcome is unknown/),
      'assistant: I shall check.',
    ]);
    expect((await fixture.rows()).map((row) => row['turn_id'])).toEqual(Array(4).fill('turn_0001'));
  });

  it('after a guarded tool, before endTurn, keeps its result', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    await generate(ctx, [callsWork('a', { n: 2 }), { text: 'lost with the process' }]);

    const next = await fixture.openAfterCrash();
    expect(next.report).toMatchObject({ interruptedCalls: [], frontier: { kind: 'awaiting_assistant' } });
    next.resumeTurn();
    await next.endTurn((await generate(next, [{ text: 'Four.' }])).response.messages);
    expect(outline(next.messages)).toEqual([
      'user: go',
      'call: work{"n":2}',
      'result: {"twice":4}',
      'assistant: Four.',
    ]);
  });

  it('after endTurn loses nothing', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    await ctx.endTurn((await generate(ctx, [callsWork('a', { n: 2 }), { text: 'Four.' }])).response.messages);
    const next = await fixture.openAfterCrash();
    expect(next.messages).toEqual(ctx.messages);
    expect(next.report).toMatchObject({ source: 'cache', repairs: [], frontier: { kind: 'idle' } });
  });
});

describe('abandonTurn()', () => {
  it('gives an open call its result, keeps what is there, and lets the next turn begin', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    const started = gate();
    const work = workTool(() => {
      started.open();
      return new Promise(() => {});
    });
    generate(ctx, [callsWork('a', {})], work).catch(() => {});
    await started.opened;
    await ctx.abandonTurn();
    await ctx.beginTurn('something else');
    expect(outline(ctx.messages)).toEqual([
      'user: go',
      'call: work{}',
      expect.stringMatching(/^error: Cancelled by the host, so its outcome is unknown/),
      'user: something else',
    ]);
    expect(checkHistory(ctx.messages)).toEqual([]);
  });

  it('after a failed request lets the host resume or begin anew', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    expect(await rejection(generate(ctx, [{ fails: new Error('overloaded') }]))).toBe('Error: overloaded');
    await ctx.abandonTurn();
    expect(ctx.resumeTurn()).toBe('turn_0001');
    await ctx.endTurn((await generate(ctx, [{ text: 'Here.' }])).response.messages);
    expect(outline(ctx.messages)).toEqual(['user: go', 'assistant: Here.']);
  });
});

describe('AGENT_STATE', () => {
  it('tells that a turn is open already', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('one');
    expect(await rejection(ctx.beginTurn('two'))).toBe('AGENT_STATE');
    expect(await rejection((async () => ctx.resumeTurn())())).toBe('AGENT_STATE');
    expect(outline(ctx.messages)).toEqual(['user: one']);
  });

  it('tells that no turn is open', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    expect(await rejection(ctx.endTurn([]))).toBe('AGENT_STATE');
    expect(await rejection(ctx.step({ response: { messages: [] } }))).toBe('AGENT_STATE');
    const { execute } = ctx.guardTools(double).work;
    const run = async () => execute?.({}, { toolCallId: 'a', messages: [] });
    expect(await rejection(run())).toBe('AGENT_STATE');
  });

  it('tells that nothing was interrupted', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    expect(await rejection((async () => ctx.resumeTurn())())).toBe('AGENT_STATE');
  });
});
