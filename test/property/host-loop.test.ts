/** Random conversations through the host's loop, in every shape and every way of handing them over, are the repaired original. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HostMessage } from '../../src/agent/context/host-message.js';
import { openWorkingContext } from '../../src/agent/context/open-working-context.js';
import type { WorkingContext } from '../../src/agent/context/working-context.js';
import { readMessages } from '../../src/messages/importers/read-messages.js';
import { checkHistory, repairHistory } from '../../src/messages/legality/history.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { runParameters } from './seed.js';

interface Call {
  readonly id: string;
  readonly path: string;
  /** Null: nobody answers it. */
  readonly result: string | null;
}

interface Response {
  readonly text: string;
  readonly calls: readonly Call[];
}

interface Turn {
  readonly user: string;
  readonly responses: readonly Response[];
}

const SHAPES = ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk', 'rekindle'] as const;
type Shape = (typeof SHAPES)[number];
const HANDOVERS = ['at once', 'twice', 'growing steps', 'last steps', 'responses'] as const;

const call = fc.record({
  id: fc.constantFrom('x', 'y', '', 'call_0', 'call_1'),
  path: fc.nat(999).map(String),
  isAnswered: fc.oneof(
    { weight: 6, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
});
const response = fc
  .record({
    text: fc.constantFrom('', 'I read.', 'Again.'),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  })
  .map(
    ({ text, calls }): Response => ({
      text,
      calls: calls.map(({ id, path, isAnswered }) => ({
        id,
        path,
        result: isAnswered ? `content of ${path}` : null,
      })),
    }),
  );
const turn = fc
  .record({
    user: fc.constantFrom('go', 'and now?'),
    steps: fc.array(response, { maxLength: 3 }),
    answer: fc.constantFrom('Done.', 'ok'),
  })
  .map(({ user, steps, answer }): Turn => ({ user, responses: [...steps, { text: answer, calls: [] }] }));
const conversation = fc.record({
  shape: fc.constantFrom(...SHAPES),
  how: fc.constantFrom(...HANDOVERS),
  turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
});

/** A response and the results of its calls, as a list of the shape has them. */
function entriesOf(shape: Shape, { text, calls }: Response): HostMessage[] {
  const answered = calls.filter(({ result }) => result !== null);
  switch (shape) {
    case 'openai-chat': {
      const tool_calls = calls.map(({ id, path }) => ({
        id,
        type: 'function',
        function: { name: 'read', arguments: JSON.stringify({ path }) },
      }));
      return [
        {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(calls.length > 0 ? { tool_calls } : {}),
        },
        ...answered.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
      ] as HostMessage[];
    }
    case 'openai-responses':
      return [
        ...(text === ''
          ? []
          : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }]),
        ...calls.map(({ id, path }) => ({
          type: 'function_call',
          call_id: id,
          name: 'read',
          arguments: JSON.stringify({ path }),
        })),
        ...answered.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
      ] as HostMessage[];
    case 'anthropic': {
      const uses = calls.map(({ id, path }) => ({ type: 'tool_use', id, name: 'read', input: { path } }));
      const results = answered.map(({ id, result }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: result,
      }));
      return [
        { role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text', text }]), ...uses] },
        ...(results.length > 0 ? [{ role: 'user', content: results }] : []),
      ];
    }
    case 'ai-sdk': {
      const made = calls.map(({ id, path }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: 'read',
        input: { path },
      }));
      const results = answered.map(({ id, result }) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: 'read',
        output: { type: 'text', value: result },
      }));
      return [
        { role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text', text }]), ...made] },
        ...(results.length > 0 ? [{ role: 'tool', content: results }] : []),
      ];
    }
    case 'rekindle': {
      const toolCalls = calls.map(({ id, path }) => ({ id, name: 'read', arguments: { path } }));
      return [
        {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(calls.length > 0 ? { toolPayload: { toolCalls } } : {}),
        },
        ...answered.map(
          ({ id, result }): Message => ({
            role: 'tool',
            content: null,
            toolPayload: { toolCallId: id, toolName: 'read', toolResult: result, toolError: null },
          }),
        ),
      ];
    }
  }
}

async function handOver(
  ctx: WorkingContext,
  turn: Turn,
  shape: Shape,
  how: (typeof HANDOVERS)[number],
): Promise<void> {
  const steps = turn.responses.map((response) => entriesOf(shape, response));
  await ctx.beginTurn(turn.user);
  if (how === 'growing steps') {
    for (let count = 1; count <= steps.length; count += 1) await ctx.step(steps.slice(0, count).flat());
  } else if (how === 'last steps') {
    for (const step of steps) await ctx.step(step);
    return ctx.endTurn(steps.at(-1));
  } else if (how === 'responses') return record(ctx, turn);
  if (how === 'twice') await ctx.step(steps.flat());
  await ctx.endTurn(steps.flat());
}

/** The same turn as answers of a client, whose calls are run here. */
async function record(ctx: WorkingContext, turn: Turn): Promise<void> {
  for (const response of turn.responses) {
    const content = [
      ...(response.text === '' ? [] : [{ type: 'text', text: response.text }]),
      ...response.calls.map(({ id, path }) => ({ type: 'tool_use', id, name: 'read', input: { path } })),
    ];
    const answer = { type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn' };
    const { toolCalls } = await ctx.recordResponse('anthropic', answer);
    for (const [index, call] of toolCalls.entries()) {
      const { result } = response.calls[index]!;
      if (result !== null) await ctx.runTool(call, () => result);
    }
  }
  await ctx.endTurn();
}

/** What a list says: ids are told apart in one way or another, and what stands for a missing result is worded by its moment. */
function sketch(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => {
    const result = toolResultOf(message);
    if (result) return [message.synthetic ? 'no result' : `result ${JSON.stringify(result.toolResult)}`];
    const said = textOf(message) === '' ? [] : [`${message.role} ${textOf(message)}`];
    return [
      ...said,
      ...toolCallsOf(message).map((call) => `call ${call.name} ${JSON.stringify(call.arguments)}`),
    ];
  });
}

/** In a list the result of one of two calls under one id answers the first, whichever ran. */
function isHalfAnswered({ calls }: Response): boolean {
  return calls.some(
    ({ id, result }, index) => result === null && calls.some((other, at) => at !== index && other.id === id),
  );
}

/** A step that is given alone and calls the same as another one is that one, given again or with its results. */
function areDistinct(responses: readonly Response[]): boolean {
  const called = responses.map(({ text, calls }) => [text, calls.map(({ id, path }) => [id, path])]);
  return new Set(called.map((one) => JSON.stringify(one))).size === responses.length;
}

it("a conversation through the host's loop, reopened, is the repaired original", async () => {
  const property = fc.asyncProperty(conversation, async ({ shape, how, turns }) => {
    // Items of a response whose calls have no outputs cannot be told from those of the next one.
    const isAnswered = turns.every(({ responses }) =>
      responses.every(({ calls }) => calls.every(({ result }) => result !== null)),
    );
    fc.pre(shape !== 'openai-responses' || isAnswered);
    fc.pre(how !== 'responses' || !turns.some(({ responses }) => responses.some(isHalfAnswered)));
    fc.pre(how !== 'last steps' || turns.every(({ responses }) => areDistinct(responses)));
    const storage = new MemoryStorage();
    const ctx = await openWorkingContext({ agentId: 'a', storage });
    for (const one of turns) await handOver(ctx, one, shape, how);
    await ctx.beginTurn('the end'); // what waits is closed
    await ctx.endTurn([{ role: 'assistant', content: 'Bye.' }]);
    await ctx.close();
    const next = await openWorkingContext({ agentId: 'a', storage });
    const original = turns.flatMap(({ user, responses }) => [
      { role: 'user', content: user },
      ...responses.flatMap((one) => entriesOf(shape, one)),
    ]);
    const { messages } = repairHistory(readMessages(original).messages);
    expect(sketch(next.messages)).toEqual([...sketch(messages), 'user the end', 'assistant Bye.']);
    expect(checkHistory(next.messages)).toEqual([]);
    expect(next.report.repairs).toEqual([]);
    await next.close();
  });
  await fc.assert(property, runParameters('host loop', 100));
}, 3_600_000);
