/** Random input as hosts and models give it on a bad day, and a memory that takes it in. */
import fc from 'fast-check';
import { isRekindleError } from '../../src/core/errors.js';
import { formatTurnId } from '../../src/core/ids.js';
import type { AssistantResponse, ToolResultInput, UserInput } from '../../src/memory/memory-input.js';
import type { MemoryManager } from '../../src/memory/memory-manager.js';
import type { ContentPart, ReasoningItem, ToolCallSpec } from '../../src/messages/message.js';
import { faultyHistory } from '../messages/legality/histories.js';

export type OddStep =
  | { readonly do: 'turn' }
  | { readonly do: 'save' }
  | { readonly do: 'user'; readonly input: UserInput }
  | { readonly do: 'answer'; readonly response: AssistantResponse }
  | {
      readonly do: 'intents';
      readonly calls: readonly ToolCallSpec[];
      readonly messageId: string | undefined;
    }
  | { readonly do: 'results'; readonly results: readonly ToolResultInput[] }
  | { readonly do: 'reset'; readonly seed: number };

const HALF = 'half \ud83d';
const said = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('hello', 'go on', 'ok') },
  { weight: 2, arbitrary: fc.constantFrom('', ' ', '\u200b\n', HALF, '\ude00', '\u0000') },
);
/** Few, so that they come again. */
const messageId = fc.constantFrom('m1', 'm2', 'm3', 'm\ud83d', 'm\ude00', '');
const callId = fc.constantFrom('a', 'b', 'c|d', 'c', 'e\ud83d', 'e\ude00', '__proto__');
const toolName = fc.constantFrom('read', 'write', '', HALF, 'not_the_tool');

const reasoningItem: fc.Arbitrary<ReasoningItem> = fc.constantFrom<ReasoningItem>(
  { text: 'so', signature: 'c2ln' },
  { text: '', signature: 'c2ln' },
  { text: null, signature: 'c2ln' },
  { text: ' \u200b' },
  { text: null, encrypted: 'ZW5j', id: 'rs_1' },
  { text: HALF, signature: 'c2ln' },
  { text: '', redacted: true, encrypted: 'cmVk' },
);
const image: ContentPart = { type: 'media', media: { kind: 'image', ref: 'https://example.com/a.png' } };
const parts: fc.Arbitrary<ContentPart[]> = fc.array(
  fc.oneof(
    said.map((text): ContentPart => ({ type: 'text', text })),
    reasoningItem.map((reasoning): ContentPart => ({ type: 'reasoning', reasoning })),
    fc.constant(image),
  ),
  { maxLength: 3 },
);

const given = fc.constantFrom<ToolCallSpec['arguments']>(
  {},
  { q: 1, [`k${HALF}`]: HALF },
  null,
  '',
  '{}',
  '{"cut": "o',
  '{"id": 9007199254740993}',
  '"{\\"twice\\": 1}"',
  HALF,
  [],
  [1],
  0,
);
const call: fc.Arbitrary<ToolCallSpec> = fc.record(
  {
    id: callId,
    name: fc.constantFrom('read', 'write', HALF),
    arguments: given,
    argumentsText: fc.constantFrom('{"cut": "o', '{"n": 1}', HALF),
  },
  { requiredKeys: ['id', 'name', 'arguments'], noNullPrototype: true },
);
const calls = fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id });

function cycle(): object {
  const list: unknown[] = [HALF];
  list.push(list);
  return { list };
}

const output = fc.oneof(
  said,
  fc.constantFrom<unknown>(
    undefined,
    null,
    0,
    false,
    [],
    1n,
    Number.NaN,
    new Map([[1, HALF]]),
    () => 1,
    cycle(),
  ),
  fc.constant({ [`k${HALF}`]: 1, 'khalf \ude00': 2, __proto__: 3 }),
);
const result: fc.Arbitrary<ToolResultInput> = fc.record(
  {
    callId,
    toolName,
    result: output,
    error: fc.oneof(fc.constant(null), said),
    parts,
    synthetic: fc.boolean(),
    turnId: fc.constantFrom('turn_0001', 'turn_0002', 'turn_0009'),
  },
  { requiredKeys: ['callId', 'toolName'], noNullPrototype: true },
);

const user: fc.Arbitrary<UserInput> = fc.record(
  {
    text: said,
    media: fc.constantFrom(
      [],
      [{ kind: 'image' as const, data: 'https://example.com/a.png' }],
      [{ kind: 'image' as const, data: Buffer.from('x'), name: HALF }],
    ),
    parts,
    messageId,
  },
  { requiredKeys: [], noNullPrototype: true },
);
const response: fc.Arbitrary<AssistantResponse> = fc.record(
  {
    content: fc.oneof(fc.constant(null), said),
    reasoningContent: said,
    reasoning: fc.array(reasoningItem, { maxLength: 2 }),
    parts,
    toolCalls: calls,
    messageId,
    status: fc.constantFrom('aborted' as const, 'failed' as const),
    final: fc.boolean(),
  },
  { requiredKeys: ['content'], noNullPrototype: true },
);

const step: fc.Arbitrary<OddStep> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<OddStep>({ do: 'turn' }) },
  { weight: 1, arbitrary: fc.constant<OddStep>({ do: 'save' }) },
  { weight: 4, arbitrary: user.map((input): OddStep => ({ do: 'user', input })) },
  { weight: 6, arbitrary: response.map((given): OddStep => ({ do: 'answer', response: given })) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('intents' as const),
      calls,
      messageId: fc.option(messageId, { nil: undefined }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc
      .array(result, { minLength: 1, maxLength: 3 })
      .map((results): OddStep => ({ do: 'results', results })),
  },
  { weight: 1, arbitrary: fc.nat().map((seed): OddStep => ({ do: 'reset', seed })) },
);

export const oddConversation: fc.Arbitrary<OddStep[]> = fc.array(step, {
  minLength: 1,
  maxLength: 14,
  size: 'max',
});

/** What memory refuses before it writes anything is no fault of the list. */
export async function take(memory: MemoryManager, odd: OddStep): Promise<void> {
  try {
    await give(memory, odd);
  } catch (thrown) {
    if (!isRekindleError(thrown, 'MESSAGE_INVALID')) throw thrown;
  }
}

async function give(memory: MemoryManager, odd: OddStep): Promise<void> {
  const turnId = formatTurnId(Math.max(memory.lastTurn, 1));
  switch (odd.do) {
    case 'turn':
      memory.startTurn();
      return;
    case 'save':
      await memory.persistWorkingContextSnapshot();
      return;
    case 'user':
      return memory.ingestUserMessage(odd.input, turnId);
    case 'answer':
      return memory.ingestAssistantResponse(odd.response, turnId);
    case 'intents':
      return memory.ingestToolIntents(odd.calls, turnId, odd.messageId);
    case 'results':
      await memory.ingestToolResults(odd.results, turnId);
      return;
    case 'reset':
      // Drawn here: its endless streams cannot be copied as a part of a step.
      return memory.resetWorkingContextSnapshot(fc.sample(faultyHistory, { seed: odd.seed, numRuns: 1 })[0]!);
  }
}
