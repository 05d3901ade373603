/** The messages of a thread, with requests that have to fit: the loop of an agent, with `fitMessages` before each model call. */
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type FitMessagesHook, fitMessages, RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import type { CountTokens } from '../../../src/core/text-tokens.js';
import { BUDGET, CALLS, commonStart, fileText, REQUEST, tokenCounter } from '../fit-kit.js';
import { TARGETS } from '../targets.js';
import { putValues, thread, valuesAt } from './saver-kit.js';

const budget = { inputBudgetTokens: BUDGET };

let count: CountTokens;
beforeAll(async () => {
  count = await tokenCounter();
});

function callOf(index: number, ids: readonly string[] = [`call_${index}`]): AIMessage {
  const tool_calls = ids.map((id) => ({
    type: 'tool_call' as const,
    id,
    name: 'read_file',
    args: { index },
  }));
  return new AIMessage({ id: `ai_${index}`, content: '', tool_calls });
}

function resultOf(index: number, id = `call_${index}`): ToolMessage {
  const fields = { name: 'read_file', tool_call_id: id, artifact: { of: 'the host' } };
  return new ToolMessage({ id: `result_${id}`, content: fileText(index), ...fields });
}

/** The thread of an agent after this many calls. */
function threadOf(calls: number): BaseMessage[] {
  const steps = Array.from({ length: calls }, (_, index) => [callOf(index), resultOf(index)]);
  return [
    new SystemMessage({ id: 'system', content: 'Be exact.' }),
    new HumanMessage({ id: 'request', content: REQUEST }),
    ...steps.flat(),
  ];
}

/** Each request that the model gets on the way to this thread. */
async function requestsOf(hook: FitMessagesHook, messages: readonly BaseMessage[]): Promise<BaseMessage[][]> {
  const requests: BaseMessage[][] = [];
  for (let end = 2; end <= messages.length; end += 2)
    requests.push((await hook({ messages: messages.slice(0, end) })).llmInputMessages);
  return requests;
}

function tokensOf(messages: readonly BaseMessage[]): number {
  const calls = (message: BaseMessage) => JSON.stringify((message as AIMessage).tool_calls ?? '');
  return messages.reduce((sum, message) => sum + count(message.text) + count(calls(message)), 0);
}

/** Calls without a result, and results without a call. */
function problemsOf(messages: readonly BaseMessage[]): string[] {
  const open = new Set<string>();
  const problems: string[] = [];
  for (const message of messages) {
    for (const { id } of (message as AIMessage).tool_calls ?? []) open.add(id!);
    if (message.getType() === 'tool' && !open.delete((message as ToolMessage).tool_call_id))
      problems.push(`a result without its call: ${message.id}`);
  }
  return [...problems, ...[...open].map((id) => `a call without a result: ${id}`)];
}

describe('fitMessages', () => {
  it('keeps each request of a long run within the budget, legal, and with the system message and the last request', async () => {
    const messages = threadOf(CALLS);
    const before = JSON.stringify(messages);
    const requests = await requestsOf(fitMessages({ budget }), messages);

    expect(requests).toHaveLength(CALLS + 1);
    expect(requests.filter((request) => tokensOf(request) > BUDGET)).toEqual([]);
    expect(requests.flatMap(problemsOf)).toEqual([]);
    expect(requests.filter((request) => request[0] !== messages[0])).toEqual([]);
    expect(requests.filter((request) => !request.includes(messages[1]!))).toEqual([]);
    expect(JSON.stringify(messages)).toBe(before);
  }, 60_000);

  it('changes the beginning of the requests seldom', async () => {
    const requests = await requestsOf(fitMessages({ budget }), threadOf(120));
    const changed = requests
      .slice(1)
      .filter((request, at) => commonStart(requests[at]!, request) < requests[at]!.length);
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.length).toBeLessThan(requests.length / 5);
  });

  it('returns the same messages if all fit', async () => {
    const messages = threadOf(5);
    const { llmInputMessages } = await fitMessages({ budget: { inputBudgetTokens: 200_000 } })({ messages });
    expect(llmInputMessages).toHaveLength(messages.length);
    expect(llmInputMessages.every((message, at) => message === messages[at])).toBe(true);
  });

  it('writes messages of the same classes: a shorter result keeps its other fields, and a summary has its mark', async () => {
    const { llmInputMessages } = await fitMessages({ budget })({ messages: threadOf(200) });
    const [, memory] = llmInputMessages;
    expect(memory).toBeInstanceOf(HumanMessage);
    expect(memory?.text).toContain('[MEMORY:EPISODIC]');
    expect(memory?.additional_kwargs).toEqual({ lc_source: 'summarization' });
    const cleared = llmInputMessages.find((message) => message.text.includes('was cleared to save room'));
    expect(cleared).toBeInstanceOf(ToolMessage);
    const index = Number(cleared!.id!.replace('result_call_', ''));
    expect(cleared).toMatchObject({
      name: 'read_file',
      tool_call_id: `call_${index}`,
      artifact: { of: 'the host' },
    });
    expect(cleared!.text).toContain(`(${fileText(index).length} characters)`);
    expect(cleared!.text).not.toContain('read_result');
    expect(cleared!.toDict().data.content).toBe(cleared!.text);
  });

  it('shares the room between the results of one step', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const messages = [new HumanMessage(REQUEST), callOf(7, ids), ...ids.map((id) => resultOf(7, id))];
    const { llmInputMessages } = await fitMessages({ budget })({ messages });
    expect(tokensOf(llmInputMessages)).toBeLessThan(BUDGET);
    expect(llmInputMessages).toHaveLength(messages.length);
    for (const result of llmInputMessages.slice(2))
      expect(result.text).toContain(`of ${fileText(7).length} characters are left out here`);
  });

  it('keeps the media of a result next to its shorter text', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } };
    const content = [{ type: 'text', text: fileText(7) }, image];
    const result = new ToolMessage({ content, name: 'read_file', tool_call_id: 'call_7' });
    const messages = [new HumanMessage(REQUEST), callOf(7), result];
    const { llmInputMessages } = await fitMessages({ budget })({ messages });
    expect(llmInputMessages[2]!.content).toEqual([
      { type: 'text', text: expect.stringContaining('left out here') },
      image,
    ]);
  });

  it('never removes a summary that LangChain wrote without a digest of it', async () => {
    const summary = new HumanMessage({
      content: 'The user prefers metric units. '.repeat(20),
      additional_kwargs: { lc_source: 'summarization' },
    });
    const [system, request, ...steps] = threadOf(200);
    const messages = [system!, summary, new AIMessage('I see.'), request!, ...steps];
    const { llmInputMessages } = await fitMessages({ budget })({ messages });
    expect(llmInputMessages.map(({ text }) => text).join('\n')).toContain('metric units');
  });

  it('counts the prompt and the tools', async () => {
    const messages = threadOf(4);
    const readFile = tool(() => '', {
      name: 'read_file',
      description: 'Reads. '.repeat(2_000),
      schema: z.object({ index: z.number() }),
    });
    const roomy = { inputBudgetTokens: Math.ceil(tokensOf(messages) * 1.5) };
    const same = await fitMessages({ budget: roomy })({ messages });
    expect(same.llmInputMessages).toEqual(messages);
    for (const along of [{ tools: [readFile] }, { prompt: 'Be exact. '.repeat(2_000) }])
      await expect(
        fitMessages({ budget: roomy, ...along })({ messages }).then(({ llmInputMessages }) =>
          tokensOf(llmInputMessages),
        ),
      ).resolves.toBeLessThan(tokensOf(messages));
  });

  it('rejects with CONTEXT_TOO_LARGE if the last request alone is too large', async () => {
    const messages = [...threadOf(2), new HumanMessage(fileText(7))];
    const details = { inputBudgetTokens: BUDGET };
    await expect(fitMessages({ budget })({ messages })).rejects.toMatchObject({
      code: 'CONTEXT_TOO_LARGE',
      details,
    });
  });

  it.each([0, -1, 1.5, Number.NaN])('is refused for a budget of %s tokens', (inputBudgetTokens) => {
    expect(() => fitMessages({ budget: { inputBudgetTokens } })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });
});

describe.each(TARGETS)('fitMessages over a thread in $name', ({ open }) => {
  it('makes the same request from a restored thread as in the live process', async () => {
    const target = await open();
    try {
      const messages = threadOf(200);
      await putValues(new RekindleSaver({ storage: target.storage }), thread('report'), { messages });
      const live = await requestsOf(fitMessages({ budget }), messages);

      const saver = new RekindleSaver({ storage: await target.reopen() });
      const values = (await valuesAt(saver, thread('report'))) as { messages: BaseMessage[] };
      expect(values.messages).toEqual(messages);
      const { llmInputMessages } = await fitMessages({ budget })(values);
      expect(llmInputMessages).toEqual(live.at(-1));
      expect(llmInputMessages.length).toBeLessThan(messages.length);
    } finally {
      await target.destroy();
    }
  }, 60_000);
});
