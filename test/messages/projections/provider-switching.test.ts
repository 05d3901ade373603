/** A conversation that goes from one provider to the other and back. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/core/json.js';
import type { Message, Origin } from '../../../src/messages/message.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import {
  BRIDGE_TEXT,
  CONTINUE_TEXT,
  type ProjectionTarget,
} from '../../../src/messages/projections/projection.js';
import { TARGETS, type TargetName } from '../../../src/messages/projections/targets.js';
import { runParameters } from '../../property/seed.js';
import { assistant, user } from '../arbitraries.js';
import { faultyHistory } from '../legality/histories.js';
import {
  CLAUDE,
  callOf,
  callsOf,
  codesOf,
  GEMINI,
  GPT,
  resultOf,
  targetOf,
  textsIn,
} from './projection-kit.js';

interface Side {
  readonly target: TargetName;
  readonly origin: Origin;
  /** Two steps and an answer, all signed in the way of this provider. */
  readonly turn: readonly Message[];
  readonly secrets: readonly string[];
}

function turnOf(name: string, origin: Origin, reasoned: (text: string) => Partial<Message>): Message[] {
  const id = `${name}|call 0`; // no target takes it as it is
  const text = '{"id": 9007199254740993,  "q": "é"}';
  const args = { arguments: { id: 9007199254740992, q: 'é' }, argumentsText: text };
  const call = origin === GEMINI ? { ...args, signature: 'Z2VtaW5pLWNhbGw=' } : args;
  return [
    user(`Ask ${name}.`),
    callsOf([callOf(id, call), callOf(`${name}_2`)], { origin, ...reasoned('first') }),
    resultOf(id, { rows: [1, null] }),
    resultOf(`${name}_2`, 'two'),
    { role: 'assistant', content: `Done by ${name}.`, origin, ...reasoned('second') },
  ];
}

const claude: Side = {
  target: 'anthropic',
  origin: CLAUDE,
  turn: turnOf('claude', CLAUDE, (text) => ({
    reasoning: [
      { text: `${text} thought `, signature: 'Y2xhdWRl+/=', origin: CLAUDE },
      { text: null, encrypted: 'cmVkYWN0ZWQ=', redacted: true, origin: CLAUDE },
    ],
  })),
  secrets: ['Y2xhdWRl+/=', 'cmVkYWN0ZWQ='],
};
const gpt: Side = {
  target: 'openai-responses',
  origin: GPT,
  turn: turnOf('gpt', GPT, (text) => ({
    reasoning: [{ text: `${text} plan`, encrypted: 'Z3B0LWVuYw==', id: `rs_${text}`, origin: GPT }],
  })),
  secrets: ['Z3B0LWVuYw==', 'rs_first'],
};
const gemini: Side = {
  target: 'gemini',
  origin: GEMINI,
  turn: turnOf('gemini', GEMINI, (text) => ({
    content: null,
    parts: [{ type: 'text', text: `${text} words`, signature: 'Z2VtaW5pLXRleHQ=' }],
  })),
  secrets: ['Z2VtaW5pLXRleHQ=', 'Z2VtaW5pLWNhbGw='],
};
const SIDES = { claude, gpt, gemini };
const NAMES = ['claude', 'gpt', 'gemini'] as const;
const PAIRS = NAMES.flatMap((a) => NAMES.filter((b) => b !== a).map((b) => ({ a, b })));

function requestOf({ target, origin }: Side, messages: readonly Message[], more: ProjectionTarget = {}) {
  const projection = project(target, messages, { ...targetOf(origin), ...more });
  expect(checkRequest(target, projection.request)).toStrictEqual([]);
  return projection;
}

function listOf(request: object): string[] {
  const { messages, input, contents } = request as { [key: string]: JsonValue[] };
  return (messages ?? input ?? contents ?? []).map((item) => JSON.stringify(item));
}

describe.each(PAIRS)('a conversation from $a to $b and back', ({ a, b }) => {
  const [first, second] = [SIDES[a], SIDES[b]];
  const next = [...first.turn, user('On.')];
  const back = [...first.turn, ...second.turn, user('On.')];

  it('sends what the first one signed byte for byte', () => {
    const texts = textsIn(requestOf(first, next).request);
    for (const secret of first.secrets) expect(texts).toContain(secret);
  });

  it('sends nothing that the first one signed to the second', () => {
    const text = JSON.stringify(requestOf(second, next).request);
    for (const secret of [...first.secrets, 'signature":"', 'rs_']) expect(text).not.toContain(secret);
  });

  it('tells the second one what was said and done', () => {
    const text = JSON.stringify(requestOf(second, next).request);
    const said = a === 'gemini' ? 'second words' : `Done by ${a}.`;
    for (const part of [`Ask ${a}.`, said, '9007199254740993', 'rows']) expect(text).toContain(part);
  });

  it('gives the first one its original bytes again', () => {
    const before = listOf(requestOf(first, next).request);
    const after = listOf(requestOf(first, back).request);
    expect(after.slice(0, before.length - 1)).toStrictEqual(before.slice(0, -1));
    expect(after.length).toBeGreaterThan(before.length);
  });

  it('sends the second one’s own after the first one’s, and keeps them apart', () => {
    const texts = textsIn(requestOf(second, back).request);
    for (const secret of second.secrets) expect(texts).toContain(secret);
    for (const secret of first.secrets) expect(texts).not.toContain(secret);
  });

  it('leads back from each translated id to the stored one', () => {
    const { callIds } = requestOf(second, back);
    expect([...callIds.values()]).toStrictEqual([`${a}|call 0`, `${b}|call 0`]);
    expect(new Set(callIds.keys()).size).toBe(2);
  });

  it('does not change the stored list', () => {
    const before = structuredClone(back);
    for (const side of [first, second, first]) requestOf(side, back);
    expect(back).toStrictEqual(before);
  });
});

describe.each(NAMES)('what %s signed', (name) => {
  const side = SIDES[name];
  const list = [...side.turn, user('On.')];

  it('goes to no other model of the provider', () => {
    const text = JSON.stringify(requestOf(side, list, { model: 'another' }).request);
    for (const secret of side.secrets) expect(text).not.toContain(secret);
  });

  it('goes to no other account', () => {
    const mine = list.map((message): Message => {
      const owned = { ...side.origin, account: 'theirs' };
      const reasoning = message.reasoning?.map((item) => ({ ...item, origin: owned }));
      return message.origin ? { ...message, origin: owned, ...(reasoning ? { reasoning } : {}) } : message;
    });
    const text = JSON.stringify(requestOf(side, mine, { account: 'ours' }).request);
    for (const secret of side.secrets) expect(text).not.toContain(secret);
    const own = textsIn(requestOf(side, mine, { account: 'theirs' }).request);
    for (const secret of side.secrets) expect(own).toContain(secret);
  });

  it('goes to nobody where its origin is unknown', () => {
    const nobodys = list.map(({ origin: _, reasoning, ...message }): Message => {
      const items = reasoning?.map(({ origin: __, ...item }) => item);
      return items ? { ...message, reasoning: items } : message;
    });
    const text = JSON.stringify(requestOf(side, nobodys).request);
    for (const secret of side.secrets) expect(text).not.toContain(secret);
  });
});

describe.each(TARGETS)('a request to %s', (target) => {
  it('has no blank part, no half of a surrogate pair, nothing of the time and nothing random', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        const { request } = project(target, messages);
        const text = JSON.stringify(request);
        expect(text).not.toMatch(/\\ud[89a-f][0-9a-f]{2}/);
        expect(text).not.toMatch(/"(text|thinking)":"\s*"/);
        expect(project(target, structuredClone(messages)).request).toStrictEqual(request);
      }),
      runParameters(`texts to ${target}`, 200),
    );
  });

  it('has halves of surrogate pairs mended wherever they are', () => {
    const half = 'x\ud83d';
    const list: Message[] = [
      { role: 'system', content: half },
      user(half),
      callsOf(
        [
          callOf(half, {
            name: half,
            arguments: { [half]: [half] },
            argumentsText: `{"${half}":["${half}"]}`,
          }),
        ],
        {
          content: half,
          reasoning: [{ text: half, signature: 'c2ln', origin: CLAUDE }],
        },
      ),
      resultOf(half, { [half]: half }, { parts: [{ type: 'text', text: half }] }),
    ];
    const { request } = project(target, list, { provider: 'anthropic' });
    expect(textsIn(request).every((text) => text.isWellFormed())).toBe(true);
    expect(JSON.stringify(request)).not.toMatch(/\\\\?ud83d/i);
    expect(checkRequest(target, request)).toStrictEqual([]);
  });

  it.each<[string, Message]>([
    ['blank', user('\u200b')],
    ['of invisible parts', { role: 'user', content: null, parts: [{ type: 'text', text: ' \u2060' }] }],
    [
      'of items that only their provider understands',
      { role: 'user', content: ' ', providerItems: [{ origin: GPT, item: {} }] },
    ],
    [
      'of reasoning',
      { role: 'user', content: null, parts: [{ type: 'reasoning', reasoning: { text: 'x' } }] },
    ],
  ])('is legal where the first message of the user is %s', (_, message) => {
    const { request } = project(target, [message, assistant('Hello'), user('Hi')]);
    expect(checkRequest(target, request)).toStrictEqual([]);
    expect(JSON.stringify(request)).not.toMatch(/[\u200b\u2060]/);
  });

  it('leaves out items of a provider with a note', () => {
    const items = [{ origin: GPT, item: { type: 'web_search_call', id: 'ws_1' } }];
    const list = [user('go'), { ...assistant('Done.'), providerItems: items }, user('on')];
    const { request, notes } = project(target, list);
    expect(JSON.stringify(request)).not.toContain('ws_1');
    expect(codesOf({ notes })).toStrictEqual(['provider-item-omitted']);
  });

  it('has a note of reasoning in plain text that is left out', () => {
    const list: Message[] = [user('go'), { ...assistant('Done.'), reasoningContent: 'Hm.' }, user('on')];
    expect(codesOf(project(target, list))).toContain('reasoning-omitted');
  });
});

it('adds fixed texts only', () => {
  expect([CONTINUE_TEXT, BRIDGE_TEXT].join(' ')).not.toMatch(/\d/);
});
