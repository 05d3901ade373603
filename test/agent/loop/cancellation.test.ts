/** Cancelling a turn: what was said stays, every call has a result, and the context is legal for the next request. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { agentFixture, callsWork, gate, outline, tool } from '../agent-fixture.js';

const LONG = { text: 'word '.repeat(2_000), wordMs: 3 };

describe('a turn cancelled', () => {
  it('in mid-answer keeps what was said, marked as cut off', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    const agent = await fixture.started([LONG, { text: 'Fine.' }]);
    let heard = '';
    agent.events.on('text_delta', ({ delta }) => {
      heard += delta;
      if (heard.length === 15) cancel.abort();
    });
    const result = await agent.send('talk', { signal: cancel.signal });
    expect(result).toMatchObject({ status: 'aborted', text: 'word word word ' });
    expect(agent.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: 'word word word ',
      status: 'aborted',
    });
    expect((await agent.send('enough')).text).toBe('Fine.');
    expect(checkHistory(agent.messages)).toEqual([]);
  });

  it('before the model said anything leaves the input, and resume() answers it', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    const agent = await fixture.started([
      () => {
        cancel.abort();
        return { text: 'unheard' };
      },
      { text: 'Here.' },
    ]);
    expect(await agent.send('hi', { signal: cancel.signal })).toMatchObject({ status: 'aborted', text: '' });
    expect(outline(agent.messages)).toEqual(['user: hi']);
    expect((await agent.resume()).text).toBe('Here.');
  });

  it('before it began calls no model', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Now.' }]);
    const result = await agent.send('hi', { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ status: 'aborted', steps: 0 });
    expect((await agent.resume()).text).toBe('Now.'); // the script's first answer: it was not asked for before
  });

  it('while the model makes its calls drops the calls, and no tool runs', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    let ran = 0;
    const model = {
      origin: { provider: 'test' },
      async *stream() {
        yield { type: 'text', delta: 'Let me see.' } as const;
        yield { type: 'tool_call', call: { id: 'c1', name: 'work', arguments: {} } } as const;
        cancel.abort();
        yield { type: 'finish', reason: 'tool-calls' } as const;
      },
    };
    const agent = await fixture.started([], { model, tools: [tool({ execute: () => ++ran })] });
    await agent.send('go', { signal: cancel.signal });
    expect(ran).toBe(0);
    expect(outline(agent.messages)).toEqual(['user: go', 'assistant: Let me see.']);
  });

  it('while tools run gives every call a result: what ended, what was cut off, what never started', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    const work = tool({
      execute: async ({ n }) => {
        if (n === 1) return 'ended';
        cancel.abort();
        await new Promise(() => {}); // ignores the abort
      },
    });
    const agent = await fixture.started([callsWork({ n: 1 }, { n: 2 }, { n: 3 })], {
      tools: [work],
      parallelToolsMax: 1,
    });
    expect((await agent.send('go', { signal: cancel.signal })).status).toBe('aborted');
    expect(outline(agent.messages).slice(4)).toEqual([
      'result: "ended"',
      'error: Cancelled while it was running, so its outcome is unknown. Check its effects before you repeat it.',
      'error: Cancelled before it was started, so it had no effect.',
    ]);
    expect(checkHistory(agent.messages)).toEqual([]);
  });

  it('while tools run aborts their signal', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    let heard = false;
    const work = tool({
      execute: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            heard = true;
            reject(new Error('stopped in time'));
          });
          cancel.abort();
        }),
    });
    const agent = await fixture.started([callsWork()], { tools: [work] });
    await agent.send('go', { signal: cancel.signal });
    expect(heard).toBe(true);
  });

  it('does not disturb the turns that wait', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    const agent = await fixture.started([LONG, { text: 'Two it is.' }]);
    agent.events.on('text_delta', () => cancel.abort());
    const first = agent.send('one', { signal: cancel.signal });
    const second = agent.send('two');
    expect((await first).status).toBe('aborted');
    expect(await second).toMatchObject({ status: 'completed', text: 'Two it is.' });
  });

  it('is as it was in another process', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    const agent = await fixture.started([LONG]);
    agent.events.on('text_delta', () => cancel.abort());
    await agent.send('talk', { signal: cancel.signal });
    await agent.stop();
    const next = fixture.restored([]);
    await next.start();
    expect(next.messages).toEqual(agent.messages);
    expect(next.restoreReport).toMatchObject({ repairs: [], frontier: { kind: 'idle' } });
  });
});

describe('a call cancelled between its entry in the ledger and its start', () => {
  it('does not start', async () => {
    const fixture = await agentFixture();
    const cancel = new AbortController();
    let ran = 0;
    const work = tool({
      needsApproval: true,
      execute: () => ++ran,
    });
    const agent = await fixture.started([callsWork()], {
      tools: [work],
      approve: () => {
        // The decision and the start are written next: this is long before they are.
        setTimeout(() => cancel.abort(), 0);
        return true;
      },
    });
    const written = gate();
    const { ledger } = agent.memory;
    const started = ledger.started.bind(ledger);
    ledger.started = async (...args) => {
      await started(...args);
      if (!cancel.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
      written.open();
    };
    await agent.send('go', { signal: cancel.signal });
    await written.opened;
    expect(ran).toBe(0);
    expect(outline(agent.messages).at(-1)).toBe(
      'error: Cancelled before it was started, so it had no effect.',
    );
  });
});
