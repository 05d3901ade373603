import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/messages/message.js';
import { changedSince, fingerprintOf } from '../../../src/messages/projections/fingerprint.js';
import { project } from '../../../src/messages/projections/project.js';
import { TARGETS, type TargetName } from '../../../src/messages/projections/targets.js';
import { assistant, calls, result, user } from '../arbitraries.js';

const SYSTEM: Message = { role: 'system', content: 'Be kind.' };
const LIST = [SYSTEM, user('one'), calls('a'), result('a', 'x'), assistant('1'), user('two')];
const TOOL = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } };

const printOf = (target: TargetName, messages: readonly Message[], tools: readonly object[] = [TOOL]) =>
  fingerprintOf(project(target, messages, { tools: tools as never }).request);

describe.each(TARGETS)('the fingerprint of a request to %s', (target) => {
  it('has a hash for the tools, the system prompt and each message', () => {
    const { tools, system, messages } = printOf(target, LIST);
    for (const hash of [tools, system, ...messages]) expect(hash).toMatch(/^[0-9a-f]{14}$/);
    expect(new Set(messages).size).toBe(messages.length);
    expect(messages.length).toBeGreaterThanOrEqual(5);
  });

  it('shows no change for the same list, and for one that has grown', () => {
    const same = { tools: false, system: false, firstMessage: null, messagesLost: 0 };
    const before = printOf(target, LIST);
    expect(changedSince(before, printOf(target, LIST))).toStrictEqual(same);
    expect(changedSince(before, printOf(target, [...LIST, assistant('2'), user('3')]))).toStrictEqual(same);
  });

  it('names the first message that is another one, and counts what is lost from there on', () => {
    const before = printOf(target, LIST);
    const cleared = LIST.map((message, index) => (index === 3 ? result('a', 'cleared') : message));
    const { firstMessage, messagesLost, ...rest } = changedSince(before, printOf(target, cleared));
    expect(rest).toStrictEqual({ tools: false, system: false });
    expect(firstMessage).toBe(2);
    expect(messagesLost).toBe(before.messages.length - 2);
  });

  it('names the tools and the system prompt, with which every message is lost', () => {
    const before = printOf(target, LIST);
    const all = { firstMessage: null, messagesLost: before.messages.length };
    const other = [{ ...TOOL, description: 'Looks far.' }];
    expect(changedSince(before, printOf(target, LIST, other))).toStrictEqual({
      tools: true,
      system: false,
      ...all,
    });
    const prompted = [{ ...SYSTEM, content: 'Be brief.' }, ...LIST.slice(1)];
    expect(changedSince(before, printOf(target, prompted))).toStrictEqual({
      tools: false,
      system: true,
      ...all,
    });
  });

  it('sees messages that are gone from the end', () => {
    const before = printOf(target, LIST);
    expect(changedSince(before, printOf(target, LIST.slice(0, 2))).messagesLost).toBeGreaterThan(0);
  });
});
