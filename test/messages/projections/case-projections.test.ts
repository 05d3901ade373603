/** What the cases say about requests, and that the stored list is as good as before. */
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/messages/message.js';
import { type AnthropicToolUse, projectAnthropic } from '../../../src/messages/projections/anthropic.js';
import { projectGemini, SIGNATURE_PLACEHOLDER } from '../../../src/messages/projections/gemini.js';
import { projectOpenAiChat } from '../../../src/messages/projections/openai-chat.js';
import { project } from '../../../src/messages/projections/project.js';
import { TARGETS } from '../../../src/messages/projections/targets.js';
import { MESSAGE_CASES } from '../case-files.js';
import { codesOf, countOf, LIST_FILES, pngWith, targetOf, textsIn } from './projection-kit.js';

function caseOf(id: string): readonly Message[] {
  return MESSAGE_CASES.find((file) => file.id === id)!.messages;
}

describe('case 017, ids that become one when they are cleaned', () => {
  const uses = () =>
    projectAnthropic(caseOf('017')).request.messages.flatMap(({ content }) =>
      typeof content === 'string'
        ? []
        : content.filter((block): block is AnthropicToolUse => block.type === 'tool_use'),
    );

  it('sends two ids that the target takes', () => {
    const ids = uses().map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('sends each result to its call', () => {
    const { messages } = projectAnthropic(caseOf('017')).request;
    const [first, second] = uses();
    expect([first?.input, second?.input]).toStrictEqual([{ d: 1 }, { d: 2 }]);
    expect(messages[2]?.content).toStrictEqual([
      { type: 'tool_result', tool_use_id: first?.id, content: 'one' },
      { type: 'tool_result', tool_use_id: second?.id, content: 'two' },
    ]);
  });

  it('sends the same ids each time, and leads back to the stored ones', () => {
    expect(uses()).toStrictEqual(uses());
    const { callIds } = projectAnthropic(caseOf('017'));
    expect(uses().map(({ id }) => callIds.get(id))).toStrictEqual(['call_AAAA|fc_1', 'call_AAAA|fc_2']);
  });
});

describe('case 018, an id of 450 characters', () => {
  it('is cut to what the target takes, in the call and in its result', () => {
    const { messages } = projectOpenAiChat(caseOf('018')).request;
    const ids = messages.flatMap((message) => {
      if (message.role === 'tool') return [message.tool_call_id];
      return message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [];
    });
    expect(ids).toHaveLength(2);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[0]!.length).toBeLessThanOrEqual(40);
  });
});

describe('case 028, reasoning of the model before', () => {
  const messages = caseOf('028');

  it.each(TARGETS)('sends no signature to the other model through %s', (target) => {
    const { request, notes } = project(target, messages, { provider: 'openai', model: 'model-b' });
    expect(textsIn(request)).not.toContain('c2ln');
    expect(textsIn(request)).not.toContain('signature');
    expect(codesOf({ notes })).toContain('reasoning-omitted');
  });

  it('keeps it for the model that signed it', () => {
    const { request } = projectAnthropic(messages, { model: 'model-a' });
    expect(request.messages[1]?.content).toStrictEqual([
      { type: 'thinking', thinking: 'private plan', signature: 'c2ln' },
      { type: 'text', text: 'Step one.' },
    ]);
  });
});

describe('case 030, an empty text between signed blocks', () => {
  const target = { provider: 'anthropic', model: 'model-a' };
  /** As the case says it was saved; the text is that between the blocks. */
  const withText = (text: string) =>
    caseOf('030').map((message): Message => {
      if (!message.parts) return message;
      const parts = message.parts.map((part) =>
        part.type === 'text' && part.text === '' ? { ...part, text } : part,
      );
      return { ...message, origin: target, parts };
    });

  it.each(TARGETS)('never sends both signed blocks to %s without the text', (name) => {
    const { request, notes } = project(name, withText(''), target);
    const sent = ['czE=', 'czI='].filter((signature) => textsIn(request).includes(signature));
    expect(sent).toStrictEqual([]);
    expect(textsIn(request)).toContain('Answer.');
    expect(codesOf({ notes })).toContain('reasoning-omitted');
  });

  it('sends both where a text stands between them', () => {
    const { request } = projectAnthropic(withText('So.'), target);
    expect(request.messages[1]?.content).toMatchObject([
      { signature: 'czE=' },
      { text: 'So.' },
      { signature: 'czI=' },
      { text: 'Answer.' },
    ]);
  });
});

describe('case 046, a tool that is gone', () => {
  const tools = [{ ...LIST_FILES, name: 'read_file' }];

  it.each(TARGETS)('keeps the call and its result in a request to %s', (target) => {
    for (const request of [project(target, caseOf('046')), project(target, caseOf('046'), { tools })]) {
      expect(textsIn(request.request)).toContain('web_search');
      expect(textsIn(request.request)).toContain('found');
    }
  });

  it.each(TARGETS)('says to whoever sends it to %s that the tool is unknown', (target) => {
    const { notes } = project(target, caseOf('046'), { tools });
    expect(notes).toContainEqual({
      code: 'tool-unknown',
      messageIndex: 2,
      detail: 'web_search exists no longer',
    });
  });

  it.each(['anthropic', 'gemini'] as const)('declares a stub to %s where there are no tools', (target) => {
    const { request, notes } = project(target, caseOf('046'));
    expect(countOf(request, '"name":"web_search","description":"This tool is not available')).toBe(1);
    expect(codesOf({ notes })).toContain('tool-stub-declared');
  });
});

describe('case 048, a list that ends with the assistant', () => {
  it('is not sent as words to go on with', () => {
    const { messages } = projectAnthropic(caseOf('048')).request;
    expect(messages.at(-1)?.role).toBe('user');
    expect(messages[1]?.content).toStrictEqual([{ type: 'text', text: 'Hello, how can I help?  ' }]);
  });

  it('ends without white space where the host wants it to be sent', () => {
    const { messages } = projectAnthropic(caseOf('048'), { ending: 'as-is' }).request;
    expect(messages.at(-1)).toStrictEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'Hello, how can I help?' }],
    });
  });
});

describe('case 068, a screenshot that is too large', () => {
  it.each([
    ['without its bytes', new Map<string, Uint8Array>()],
    ['with its bytes', new Map([['sha256:bb', pngWith(2984, 8340, 9_000_000)]])],
    ['with bytes that are too tall only', new Map([['sha256:bb', pngWith(2984, 8340)]])],
    ['with bytes that are fine', new Map([['sha256:bb', pngWith(8, 8)]])],
  ])('gives a line of text and a note that names its message, %s', (_, artifacts) => {
    const { request, notes } = projectAnthropic(caseOf('068'), { artifacts });
    expect(request.messages[0]?.content).toStrictEqual([
      { type: 'text', text: 'Look.' },
      { type: 'text', text: expect.stringMatching(/^\[image omitted: (larger|longer) than/) },
    ]);
    expect(notes).toMatchObject([{ code: 'media-omitted', messageIndex: 1 }]);
  });

  it('stays in the stored list', () => {
    const before = structuredClone(caseOf('068'));
    projectAnthropic(caseOf('068'));
    expect(caseOf('068')).toStrictEqual(before);
  });
});

describe('case 069, the twenty-first image', () => {
  const images = (messages: readonly Message[], sizeOf: (index: number) => number) => {
    const artifacts = new Map(
      Array.from({ length: 21 }, (_, index) => [
        `sha256:${index.toString(16).padStart(2, '0')}`,
        pngWith(sizeOf(index), 600, 80_000),
      ]),
    );
    const { request } = projectAnthropic(messages, { artifacts });
    return countOf(request, '"media_type":"image/png"');
  };

  it('makes an older one too long', () => {
    expect(images(caseOf('069'), (index) => (index === 0 ? 2400 : 800))).toBe(20);
  });

  it('leaves it where there are no more than twenty', () => {
    const twenty = caseOf('069').slice(0, -1);
    expect(images(twenty, (index) => (index === 0 ? 2400 : 800))).toBe(20);
  });

  it('finds the long one by its bytes, where the list says nothing', () => {
    const silent = caseOf('069').map((message): Message => {
      const parts = message.parts?.map((part) =>
        part.type === 'media'
          ? { type: 'media' as const, media: { kind: 'image' as const, ref: part.media.ref } }
          : part,
      );
      return parts ? { ...message, parts } : message;
    });
    expect(images(silent, (index) => (index % 7 === 0 ? 2400 : 800))).toBe(18);
  });
});

describe('case 076, calls of the current turn without a signature', () => {
  const { contents } = projectGemini(
    caseOf('076'),
    targetOf({ provider: 'gemini', model: 'gemini-3' }),
  ).request;
  const calls = contents.flatMap(({ parts }) => parts.filter((part) => part.functionCall));

  it('puts the placeholder on the first call of the step, and on no other', () => {
    const signed = calls.filter((part) => part.thoughtSignature !== undefined);
    expect(signed).toStrictEqual([
      {
        functionCall: { id: 'b', name: 'ls', args: {} },
        thoughtSignature: SIGNATURE_PLACEHOLDER,
      },
    ]);
    expect(calls).toHaveLength(3);
  });

  it('gives the responses in one content', () => {
    expect(contents.at(-1)?.parts.map((part) => part.functionResponse?.id)).toStrictEqual(['b', 'c']);
  });
});
