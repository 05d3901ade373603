import { describe, expect, it } from 'vitest';
import {
  CompactionPolicy,
  type CompactionPolicyOptions,
} from '../../../src/memory/compaction/compaction-policy.js';
import { Compactor } from '../../../src/memory/compaction/compactor.js';
import type { CompactionResult, Summarizer } from '../../../src/memory/compaction/summarizer.js';
import type { MemoryBundle } from '../../../src/memory/models/memory-items.js';
import type { Message } from '../../../src/messages/message.js';
import { assistant, calls, result, user } from '../../messages/arbitraries.js';
import { byteCounter, sketch } from '../memory-kit.js';

const system: Message = { role: 'system', content: 'Be kind.' };
const long = (text: string) => `${text} ${'and so on '.repeat(40)}`;

interface Given {
  readonly policy?: CompactionPolicyOptions;
  readonly summarize?: Summarizer['summarize'];
  readonly known?: MemoryBundle;
}

function compactor({ policy = {}, summarize, known }: Given = {}): Compactor {
  return new Compactor({
    policy: new CompactionPolicy({ rawTailTurns: 1, ...policy }),
    summarizer: {
      summarize: summarize ?? (async () => ({ episodicSummary: 'They talked.', semanticFacts: [] })),
    },
    retriever: { retrieve: async () => known ?? { episodic: [], semantic: [] } },
    counter: byteCounter,
  });
}

function turn(id: number, ...messages: Message[]): Message[] {
  return messages.map((message) => ({ ...message, turnId: `turn_${id}` }));
}

function plan(messages: readonly Message[], given?: Given) {
  let ids = 0;
  return compactor(given).plan({ messages, ts: 5, newId: (prefix) => `${prefix}_${++ids}` });
}

const TALK = [
  system,
  ...turn(1, user(long('one')), assistant(long('1'))),
  ...turn(2, user(long('two')), calls('a'), result('a', long('x')), assistant('2')),
  ...turn(3, user('three'), assistant('3')),
];

describe('a plan', () => {
  it('puts a memory message in place of the older turns and keeps the last ones as they are', async () => {
    const made = await plan(TALK);
    expect(sketch(made!.messages)).toStrictEqual([
      'memory: [MEMORY:EPISODIC]\n1) "They talked."',
      'user: three',
      'assistant: 3',
    ]);
    expect(made!.messages.slice(1)).toStrictEqual(TALK.slice(-2));
    expect(made!.messages[0]).toStrictEqual({ role: 'user', kind: 'memory', content: expect.any(String) });
  });

  it('names what it took away, and how large the list was and is', async () => {
    const made = (await plan(TALK))!;
    expect(made.episodic).toStrictEqual({
      id: 'ep_1',
      ts: 5,
      turnIds: ['turn_1', 'turn_2'],
      summary: 'They talked.',
      salience: 0,
      origins: ['user', 'agent', 'tool:tool_a'],
    });
    expect(made.turnIds).toStrictEqual(['turn_1', 'turn_2']);
    expect(made.tokensAfter).toBeLessThan(made.tokensBefore);
    expect(made.tokensBefore).toBe(await byteCounter.countMessages(TALK.slice(1)));
  });

  it('gives the summarizer whole turns, without the system message and without older memory', async () => {
    let seen: readonly Message[] = [];
    const summarize: Summarizer['summarize'] = async (turns) => {
      seen = turns;
      return { episodicSummary: 's', semanticFacts: [] };
    };
    const memory: Message = { role: 'user', kind: 'memory', content: 'older' };
    await plan([system, memory, ...TALK.slice(1)], { summarize });
    expect(seen).toStrictEqual(TALK.slice(1, 7));
  });

  it('makes one memory message of the known items and the new ones', async () => {
    const known: MemoryBundle = {
      episodic: [{ id: 'ep_0', ts: 1, turnIds: [], summary: 'Before.', salience: 0 }],
      semantic: [{ id: 'sem_0', ts: 1, fact: 'Likes tea.', salience: 0 }],
    };
    const facts = [
      { fact: 'Likes tea.' },
      { fact: 'Lives in Oslo.', category: 'durable_fact' },
      { fact: ' ' },
    ];
    const summarize = async () => ({ episodicSummary: 'Now.', semanticFacts: facts });
    const made = (await plan(TALK, { known, summarize }))!;
    expect(made.messages[0]!.content).toBe(
      '[MEMORY:EPISODIC]\n1) Before.\n2) "Now."\n\n[MEMORY:SEMANTIC]\n- Likes tea.\n- From the tool tool_a: "Lives in Oslo."',
    );
    expect(made.semantic.map(({ fact, category }) => [fact, category])).toStrictEqual([
      ['Likes tea.', undefined],
      ['Lives in Oslo.', 'durable_fact'],
    ]);
  });

  it('cuts summary and facts to the length of the policy, never through a character', async () => {
    const text = `${'x'.repeat(9)}🙂🙂🙂`;
    const summarize = async () => ({ episodicSummary: text, semanticFacts: [{ fact: text }] });
    const made = (await plan(TALK, { policy: { maxItemChars: 10 }, summarize }))!;
    expect(made.episodic.summary).toBe(`${'x'.repeat(9)}\ufffd`);
    expect(made.semantic[0]!.fact.isWellFormed()).toBe(true);
  });

  it('is null when nothing lies before the turns that stay', async () => {
    expect(await plan(TALK.slice(0, 3))).toBeNull();
    expect(await plan([system])).toBeNull();
    expect(await plan([])).toBeNull();
  });
});

describe('what stays', () => {
  it('are as many turns as the policy says', async () => {
    const made = (await plan(TALK, { policy: { rawTailTurns: 2 } }))!;
    expect(sketch(made.messages.slice(1))).toStrictEqual(sketch(TALK.slice(3)));
  });

  it('is the last request of the user, also when the policy keeps no turn', async () => {
    const made = (await plan(TALK, { policy: { rawTailTurns: 0 } }))!;
    expect(sketch(made.messages.slice(1))).toStrictEqual(['user: three', 'assistant: 3']);
  });

  it('are pinned messages, before the tail and as they are', async () => {
    const pinned: Message = { ...user('Never delete files.'), pinned: true, turnId: 'turn_1' };
    const made = (await plan([...TALK.slice(0, 2), pinned, ...TALK.slice(2)]))!;
    expect(sketch(made.messages.slice(1))).toStrictEqual([
      'user: Never delete files.',
      'user: three',
      'assistant: 3',
    ]);
    expect(made.messages[1]).toBe(pinned);
  });

  it('is a whole block when a call or a result of it is pinned', async () => {
    for (const [pinCall, pinResult] of [
      [true, false],
      [false, true],
    ] as const) {
      const block = turn(1, { ...calls('a', 'b'), pinned: pinCall }, result('a'), {
        ...result('b'),
        pinned: pinResult,
      });
      const made = (await plan([...turn(1, user(long('one'))), ...block, ...TALK.slice(3)]))!;
      expect(sketch(made.messages.slice(1, 4))).toStrictEqual(sketch(block));
    }
  });

  it('is everything when all that could go is pinned, also what is kept for its block', async () => {
    const block = turn(1, { ...calls('a'), pinned: true }, result('a'));
    expect(
      await plan([system, { ...user('one'), pinned: true }, ...block, ...turn(2, user('two'))]),
    ).toBeNull();
  });
});

describe('the cut', () => {
  const cut = (messages: readonly Message[], policy: CompactionPolicyOptions = {}) =>
    compactor({ policy }).selectCut(messages);

  it('lies where a turn begins', () => {
    expect(cut(TALK)).toBe(7);
    expect(cut(TALK, { rawTailTurns: 2 })).toBe(3);
    expect(cut(TALK, { rawTailTurns: 3 })).toBe(1);
    expect(cut(TALK, { rawTailTurns: 99 })).toBe(1);
  });

  it('lies before a call that is still open', () => {
    const open = [
      ...turn(1, user('1'), assistant('1')),
      ...turn(2, user('2'), calls('a')),
      ...turn(3, user('3')),
    ];
    expect(cut(open)).toBe(2);
  });

  it('lies nowhere when the first turn has an open call', () => {
    expect(cut([...turn(1, user('1'), calls('a')), ...turn(2, user('2')), ...turn(3, user('3'))])).toBe(0);
  });

  it('takes an id that was used again for what it is', () => {
    const reused = [
      ...turn(1, user('1'), calls('a'), result('a')),
      ...turn(2, user('2'), calls('a'), result('a')),
      ...turn(3, user('3')),
    ];
    expect(cut(reused)).toBe(6);
  });

  it('does not part what the user said in one turn', () => {
    expect(cut([...turn(1, user('1'), assistant('1')), ...turn(2, user('2'), user('and this'))])).toBe(2);
  });
});

describe('a plan is refused', () => {
  const reasonOf = async (given: Given, messages: readonly Message[] = TALK) => {
    const thrown = await plan(messages, given).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'COMPACTION_REFUSED' });
    return (thrown as { details: { reason: string } }).details.reason;
  };

  it.each([
    ['blank', { episodicSummary: ' \n', semanticFacts: [] }],
    ['no text', { episodicSummary: 7, semanticFacts: [] }],
    ['nothing', undefined],
  ])('when the summary is %s', async (_, answer) => {
    expect(await reasonOf({ summarize: async () => answer as CompactionResult })).toBe('blank-summary');
  });

  it('when the summarizer throws, with what it threw as the cause', async () => {
    const cause = new Error('no network');
    const summarize = async () => {
      throw cause;
    };
    expect(await reasonOf({ summarize })).toBe('summarizer-failed');
    await expect(plan(TALK, { summarize })).rejects.toMatchObject({ cause });
  });

  it('when the new list is not smaller', async () => {
    const short = [...turn(1, user('1'), assistant('1')), ...turn(2, user('2'))];
    expect(
      await reasonOf({ summarize: async () => ({ episodicSummary: long('s'), semanticFacts: [] }) }, short),
    ).toBe('not-smaller');
  });
});
