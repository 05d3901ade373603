/** The host's loop over the real packages of the AI SDK: each version hands over its messages in another way. */
import { describe, expect, it } from 'vitest';
import type { WorkingContext } from '../../../src/agent/context/working-context.js';
import { decideApproval, waitingApprovals } from '../../../src/memory/approvals/waiting-approvals.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { SDK_VERSIONS, type SdkAnswer, type SdkVersion } from '../../support/ai-sdk-versions.js';
import { outline } from '../agent-fixture.js';
import { hostFixture } from './host-fixture.js';

const call = (id: string, n: number, text?: string): SdkAnswer => ({
  calls: [{ id, name: 'work', input: { n } }],
  ...(text === undefined ? {} : { text }),
});

describe.each(SDK_VERSIONS)('the AI SDK $version', (version) => {
  const { sdk } = version;

  function work(ran: number[] = []) {
    return {
      work: sdk.tool({
        inputSchema: sdk.jsonSchema<{ n: number }>({ type: 'object' }),
        execute: ({ n }) => {
          ran.push(n);
          return { twice: n * 2 };
        },
      }),
    };
  }

  function requestOf(ctx: WorkingContext, answers: readonly SdkAnswer[], tools = work()) {
    return {
      model: version.model(answers).model,
      messages: ctx.messagesFor('ai-sdk') as never[],
      tools: ctx.guardTools(tools),
      stopWhen: sdk.stepCountIs(5),
      maxRetries: 0,
    };
  }

  async function opened() {
    const fixture = await hostFixture();
    const ctx = await fixture.open();
    await ctx.beginTurn('go');
    return { fixture, ctx };
  }

  const TWO_STEPS = [call('a', 2, 'A moment.'), { text: 'Four.' }];
  const RECORDED = [
    'user: go',
    'assistant: A moment.',
    'call: work{"n":2}',
    'result: {"twice":4}',
    'assistant: Four.',
  ];

  it('stays within the budget over a long turn with prepareStep, and each step is recorded once', async () => {
    const fixture = await hostFixture();
    const compaction = { inputBudgetTokens: 3_000 };
    const ctx = await fixture.open({ memory: { compaction } });
    await ctx.beginTurn('go');
    const sizes: number[] = [];
    const tools = {
      work: sdk.tool({
        inputSchema: sdk.jsonSchema<{ n: number }>({ type: 'object' }),
        execute: ({ n }: { n: number }) => `result ${n}: ${'word '.repeat(150)}`,
      }),
    };
    const answers = Array.from({ length: 30 }, (_, n) => call(`c${n}`, n, `Step ${n}.`));
    const { response } = await sdk.generateText({
      ...requestOf(ctx, [...answers, { text: 'Done.' }], tools as never),
      stopWhen: sdk.stepCountIs(40),
      prepareStep: async (step: never) => {
        const prepared = await ctx.prepareStep(step);
        sizes.push(JSON.stringify(prepared.messages).length);
        return prepared as never;
      },
    } as never);
    await ctx.endTurn(response.messages);
    expect(sizes).toHaveLength(31);
    expect(Math.max(...sizes)).toBeLessThan(3_000 * 5); // characters of plain words, about five a token
    const rows = await fixture.rows();
    const said = rows.filter(({ trace_type: type }) => type === 'assistant').map(({ content }) => content);
    expect(said).toEqual([...answers.map((_, n) => `Step ${n}.`), 'Done.']);
    expect(rows.filter(({ trace_type: type }) => type === 'tool_result')).toHaveLength(30);
    expect(checkHistory(ctx.messages)).toEqual([]);
    const shown = outline(ctx.messages);
    await ctx.close();
    expect(outline((await fixture.open({ memory: { compaction } })).messages)).toEqual(shown);
  });

  it('lets the model read a result that was stored apart', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open({ memory: { compaction: { inputBudgetTokens: 3_000 } } });
    await ctx.beginTurn('go');
    const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n + 1}`).join('\n');
    const tools = {
      work: sdk.tool({
        inputSchema: sdk.jsonSchema<{ n: number }>({ type: 'object' }),
        execute: () => lines,
      }),
      read_result: ctx.readResult,
    };
    await sdk.generateText({
      ...requestOf(ctx, [call('a', 1), { text: 'I have it.' }], tools as never),
      onStepFinish: ctx.step,
    });
    const ref = /"ref\W+([0-9a-f]+)/.exec(outline(ctx.messages).join(' '))?.[1];
    const reads: SdkAnswer = {
      calls: [{ id: 'b', name: 'read_result', input: { ref: ref!, line: 1_500, lines: 1 } }],
    };
    const { response } = await sdk.generateText({
      ...requestOf(ctx, [reads, { text: 'Read.' }], tools as never),
      prepareStep: ctx.prepareStep as never,
    } as never);
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages).join(' ')).toContain('"text":"line 1500"');
    await ctx.close();
  });

  it('generates over a tool, and endTurn with the response keeps the final answer', async () => {
    const { fixture, ctx } = await opened();
    const { response } = await sdk.generateText({ ...requestOf(ctx, TWO_STEPS), onStepFinish: ctx.step });
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages)).toEqual(RECORDED);
    await ctx.close();
    expect(outline((await fixture.open()).messages)).toEqual(RECORDED);
  });

  it('keeps the final answer without onStepFinish, too', async () => {
    const { ctx } = await opened();
    const { response } = await sdk.generateText(requestOf(ctx, TWO_STEPS));
    await ctx.endTurn(response.messages);
    expect(outline(ctx.messages).slice(-3)).toEqual(RECORDED.slice(-3));
    expect(checkHistory(ctx.messages)).toEqual([]);
  });

  it('streams over a tool with the steps told as they end', async () => {
    const { ctx } = await opened();
    const result = sdk.streamText({ ...requestOf(ctx, TWO_STEPS), onStepFinish: ctx.step });
    expect(await result.text).toBe('Four.');
    await ctx.endTurn((await result.response).messages);
    expect(outline(ctx.messages)).toEqual(RECORDED);
  });

  it('is recorded by recordResponse, generated and streamed', async () => {
    for (const ask of [sdk.generateText, sdk.streamText]) {
      const { ctx } = await opened();
      const answer = await ctx.recordResponse('ai-sdk', await ask(requestOf(ctx, TWO_STEPS)));
      expect(answer).toMatchObject({ text: 'Four.', toolCalls: [] });
      await ctx.endTurn();
      expect(outline(ctx.messages)).toEqual(RECORDED);
    }
  });

  it('that uses a call id again has each call with its own result', async () => {
    const { ctx } = await opened();
    const ran: number[] = [];
    const answers = [
      call('call_0', 1, 'One.'),
      call('call_0', 1, 'Again.'),
      call('call_0', 3),
      { text: 'Done.' },
    ];
    const { response } = await sdk.generateText({
      ...requestOf(ctx, answers, work(ran)),
      onStepFinish: ctx.step,
    });
    await ctx.endTurn(response.messages);
    expect(ran).toEqual([1, 1, 3]);
    expect(outline(ctx.messages).slice(1)).toEqual([
      ...['assistant: One.', 'call: work{"n":1}', 'result: {"twice":2}'],
      ...['assistant: Again.', 'call: work{"n":1}', 'result: {"twice":2}'],
      ...['call: work{"n":3}', 'result: {"twice":6}'],
      'assistant: Done.',
    ]);
  });

  it('with two calls of one response under one id runs and records both', async () => {
    const { ctx } = await opened();
    const ran: number[] = [];
    const calls = [1, 2].map((n) => ({ id: 'x', name: 'work', input: { n } }));
    const { response } = await sdk.generateText({
      ...requestOf(ctx, [{ calls }, { text: 'Done.' }], work(ran)),
      onStepFinish: ctx.step,
    });
    await ctx.endTurn(response.messages);
    expect(checkHistory(ctx.messages)).toEqual([]);
    expect(outline(ctx.messages).at(-1)).toBe('assistant: Done.');
    expect(new Set(ran).size).toBe(ran.length); // some versions hand one of the two to both runs
  });

  it('aborted in the middle of a stream keeps what was shown, and whole steps before it', async () => {
    const { fixture, ctx } = await opened();
    const cancel = new AbortController();
    const answers = [call('a', 2, 'A moment.'), { text: 'Four, and then', hangs: true }];
    const result = sdk.streamText({
      ...requestOf(ctx, answers),
      abortSignal: cancel.signal,
      onError: () => {},
    });
    let shown = '';
    const onChunk = (part: unknown) => {
      const { type, text } = part as { type: string; text?: string };
      if (type === 'text-delta') shown += text;
      if (shown.endsWith('then')) cancel.abort();
    };
    const answer = await ctx.recordResponse('ai-sdk', result, { onChunk }).catch(() => null);
    if (answer) expect(answer).toMatchObject({ text: 'Four, and then', message: { status: 'aborted' } });
    await ctx.endTurn();
    const kept = [...RECORDED.slice(0, -1), 'assistant: Four, and then'];
    expect(outline(ctx.messages)).toEqual(kept);
    const next = await fixture.openAfterCrash();
    expect(outline(next.messages)).toEqual(kept);
  });

  it('shows the model what is recorded where a tool has toModelOutput', async () => {
    const { ctx } = await opened();
    const toModelOutput = (given: { output: { secret: string } } & { secret: string }) => ({
      type: 'text' as const,
      value: `shown ${(version.version === 5 ? given : given.output).secret.length}`,
    });
    const tools = { work: { ...work().work, execute: async () => ({ secret: 'abc' }), toModelOutput } };
    const scripted = version.model([call('a', 1), { text: 'ok' }]);
    const request = { ...requestOf(ctx, [], tools as never), model: scripted.model, onStepFinish: ctx.step };
    await ctx.endTurn((await sdk.generateText(request)).response.messages);
    expect(outline(ctx.messages)[2]).toBe('result: "shown 3"');
    expect(JSON.stringify(scripted.prompts[1])).toContain('shown 3');
    expect(JSON.stringify(scripted.prompts[1])).not.toContain('abc');
  });

  it('is told that a tool of the client waits, and goes on when its result comes after a restart', async () => {
    const { fixture, ctx } = await opened();
    const ask = sdk.tool({ inputSchema: sdk.jsonSchema({ type: 'object' }) } as never);
    const answers = [{ calls: [{ id: 'a', name: 'ask', input: {} }] }];
    const { response } = await sdk.generateText(requestOf(ctx, answers, { ask } as never));
    await ctx.endTurn(response.messages);
    expect(JSON.stringify(ctx.messagesFor('ai-sdk').at(-1))).toContain(
      'waits for its result from the client',
    );

    const next = await fixture.openAfterCrash();
    expect(next.report.interruptedCalls).toMatchObject([{ callId: 'a', waitsFor: 'client', leftOpen: true }]);
    expect(JSON.stringify(next.messagesFor('ai-sdk').at(-1))).toContain(
      'waits for its result from the client',
    );
    next.resumeTurn();
    const output = { type: 'text', value: 'blue' };
    await next.step([
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'ask', output }] },
    ]);
    const second = await sdk.generateText(requestOf(next, [{ text: 'Blue it is.' }], { ask } as never));
    await next.endTurn(second.response.messages);
    expect(outline(next.messages)).toEqual([
      'user: go',
      'call: ask{}',
      'result: "blue"',
      'assistant: Blue it is.',
    ]);
  });
});

describe.each(SDK_VERSIONS.filter(({ version }) => version > 5))(
  'an approval of the AI SDK $version',
  ({ sdk, model }: SdkVersion) => {
    function request(
      ctx: WorkingContext,
      answers: readonly SdkAnswer[],
      ran: number[],
      more: readonly object[] = [],
    ) {
      const work = sdk.tool({
        inputSchema: sdk.jsonSchema<{ n: number }>({ type: 'object' }),
        needsApproval: true,
        execute: ({ n }) => {
          ran.push(n);
          return n * 2;
        },
      });
      return {
        model: model(answers).model,
        messages: [...ctx.messagesFor('ai-sdk'), ...more] as never[],
        tools: ctx.guardTools({ work }),
        maxRetries: 0,
        stopWhen: sdk.stepCountIs(5),
      };
    }

    async function asked() {
      const fixture = await hostFixture();
      const ctx = await fixture.open();
      await ctx.beginTurn('go');
      const { response } = await sdk.generateText(request(ctx, [call('a', 2, 'May I?')], []));
      await ctx.endTurn(response.messages);
      const content = ctx.messagesFor('ai-sdk').at(-1)?.content as { type: string; approvalId: string }[];
      const { approvalId } = content.find(({ type }) => type === 'tool-approval-request')!;
      return { fixture, ctx, approvalId };
    }

    const answerOf = (approvalId: string, approved: boolean) => ({
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved, reason: 'because' }],
    });
    const ASKED = ['user: go', 'assistant: May I?', 'call: work{"n":2}'];

    it('is given to the SDK by the host after a crash, and the tool runs once', async () => {
      const { fixture, approvalId } = await asked();
      const ctx = await fixture.openAfterCrash();
      expect(ctx.report).toMatchObject({
        interruptedCalls: [{ callId: 'a', waitsFor: 'approval', leftOpen: true }],
        repairs: [],
      });
      ctx.resumeTurn();
      const ran: number[] = [];
      const more = [answerOf(approvalId, true)];
      const { response } = await sdk.generateText({
        ...request(ctx, [{ text: 'Done.' }], ran, more),
        onStepFinish: ctx.step,
      });
      await ctx.endTurn(response.messages);
      expect(ran).toEqual([2]);
      expect(outline(ctx.messages)).toEqual([...ASKED, 'result: 4', 'assistant: Done.']);
    });

    it('is recorded with ctx.step, survives another restart, and is acted on', async () => {
      const { ctx: first, fixture, approvalId } = await asked();
      first.resumeTurn();
      await first.step([answerOf(approvalId, true)]);
      await first.close();
      const ctx = await fixture.open();
      ctx.resumeTurn();
      const ran: number[] = [];
      const { response } = await sdk.generateText(request(ctx, [{ text: 'Done.' }], ran));
      await ctx.endTurn(response.messages);
      expect(ran).toEqual([2]);
      expect(outline(ctx.messages)).toEqual([...ASKED, 'result: 4', 'assistant: Done.']);
    });

    it.each([
      [true, [2], 'result: 4'],
      [false, [], 'error: because'],
    ])(
      'is decided in the inbox (%s), and the host takes the decision after a crash',
      async (approved, runs, result) => {
        const { fixture, ctx: first } = await asked();
        const { backend } = first.memory.store;
        const [waiting] = await waitingApprovals(backend);
        const { agentId, callId } = waiting!;
        await decideApproval(backend, { agentId, callId, approved, by: 'clerk', reason: 'because' });
        const ctx = await fixture.openAfterCrash();
        ctx.resumeTurn();
        expect([await ctx.takeDecisions(), await ctx.takeDecisions()]).toEqual([1, 0]);
        expect(await waitingApprovals(backend)).toEqual([]);
        const ran: number[] = [];
        const { response } = await sdk.generateText(request(ctx, [{ text: 'Done.' }], ran));
        await ctx.endTurn(response.messages);
        expect(ran).toEqual(runs);
        expect(outline(ctx.messages)).toEqual([...ASKED, result, 'assistant: Done.']);
      },
    );

    it('that is refused is told to the model, and the tool does not run', async () => {
      const { fixture, approvalId } = await asked();
      const ctx = await fixture.openAfterCrash();
      ctx.resumeTurn();
      await ctx.step([answerOf(approvalId, false)]);
      const ran: number[] = [];
      const { response } = await sdk.generateText(request(ctx, [{ text: 'Pity.' }], ran));
      await ctx.endTurn(response.messages);
      expect(ran).toEqual([]);
      expect(outline(ctx.messages)).toEqual([...ASKED, 'error: because', 'assistant: Pity.']);
    });

    it('that nobody gave is closed when the conversation goes on, as what it is', async () => {
      const { ctx } = await asked();
      await ctx.beginTurn('never mind');
      expect(outline(ctx.messages)[3]).toMatch(/waited for approval. It was not approved and had no effect/);
    });

    it('is shown to other providers as a call that waits', async () => {
      const { ctx } = await asked();
      const text = JSON.stringify(ctx.requestFor('openai-chat').request);
      expect(text).toContain('waits for a person to approve it');
      expect(text).not.toContain('process stopped');
    });

    it('of something that nobody asked for is refused before anything is written', async () => {
      const { fixture, ctx } = await asked();
      ctx.resumeTurn();
      const before = await fixture.rows();
      await expect(ctx.step([answerOf('other', true)])).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
      expect(await fixture.rows()).toEqual(before);
    });
  },
);
