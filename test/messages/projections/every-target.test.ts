/** What holds for each target: the independent check passes, bytes are stable, nothing that is given changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.js';
import type { JsonValue } from '../../../src/core/json.js';
import type { Message } from '../../../src/messages/message.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { checkOpenAiChatRequest } from '../../../src/messages/projections/checks/openai-chat-check.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import type { ProjectionTarget } from '../../../src/messages/projections/projection.js';
import { TARGETS, type TargetName } from '../../../src/messages/projections/targets.js';
import { runParameters } from '../../property/seed.js';
import { MESSAGE_CASES } from '../case-files.js';
import { faultyHistory, richLegalHistory } from '../legality/histories.js';

const OWN: Readonly<Record<TargetName, ProjectionTarget>> = {
  'openai-chat': { provider: 'openai' },
  'openai-responses': { provider: 'openai' },
  anthropic: { provider: 'anthropic' },
  gemini: { provider: 'google' },
  'ai-sdk': { provider: 'anthropic' },
};

function bytesOf(target: TargetName, messages: readonly Message[]): string {
  return JSON.stringify(project(target, messages, OWN[target]).request);
}

/** The list of a request, whatever it is called. */
function listOf(request: unknown): readonly JsonValue[] {
  const { messages, input, contents } = request as { [key: string]: JsonValue[] };
  return messages ?? input ?? contents ?? [];
}

describe.each(TARGETS)('the projection to %s', (target) => {
  it.each(MESSAGE_CASES)('gives what the provider accepts for case $id: $title', ({ messages }) => {
    const { request } = project(target, messages, OWN[target]);
    expect(checkRequest(target, request)).toStrictEqual([]);
  });

  it('gives what the provider accepts for any history', () => {
    fc.assert(
      fc.property(fc.oneof(richLegalHistory, faultyHistory), (messages) => {
        expect(checkRequest(target, project(target, messages, OWN[target]).request)).toStrictEqual([]);
      }),
      runParameters(`projection to ${target}`, 400),
    );
  });

  it('gives the same bytes each time and changes nothing that it is given', () => {
    fc.assert(
      fc.property(faultyHistory, (messages) => {
        const before = canonicalJson(messages.map(messageToJson));
        expect(bytesOf(target, structuredClone(messages))).toBe(bytesOf(target, messages));
        expect(canonicalJson(messages.map(messageToJson))).toBe(before);
      }),
      runParameters(`projection to ${target}, pure`, 200),
    );
  });

  it('begins a longer history with the bytes of the shorter one', () => {
    fc.assert(
      fc.property(richLegalHistory, richLegalHistory, (first, second) => {
        const more = second
          .filter(({ role }) => role !== 'system')
          .map(({ messageId: _, ...message }) => message);
        const asked: Message[] = [
          ...first,
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'two' },
        ];
        const longer = listOf(project(target, [...asked, ...more], OWN[target]).request);
        const shorter = listOf(project(target, asked, { ...OWN[target], ending: 'as-is' }).request);
        // Gemini checks the current turn only, so what an older turn may leave out depends on where the current one begins.
        const comparable = target === 'gemini' ? withoutPlaceholders : JSON.stringify;
        expect(comparable(longer.slice(0, shorter.length))).toBe(comparable(shorter));
      }),
      runParameters(`projection to ${target}, prefix`, 200),
    );
  });

  it('does not touch the list of a conversation that ends with the assistant, but asks for a user turn', () => {
    const messages: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello, how can I help?  ' },
    ];
    const { request, notes } = project(target, messages);
    expect(notes.map(({ code }) => code)).toContain('user-turn-added');
    expect(listOf(request)).toHaveLength(3);
  });

  it('gives a request for an empty list, with a note', () => {
    const { request, notes } = project(target, []);
    expect(checkRequest(target, request)).toStrictEqual([]);
    expect(notes.map(({ code }) => code)).toStrictEqual(['user-turn-added']);
  });
});

function withoutPlaceholders(list: readonly JsonValue[]): string {
  return JSON.stringify(list, (key, value: unknown) => (key === 'thoughtSignature' ? undefined : value));
}

describe.each(['strict', 'mistral'] as const)('the projection to OpenAI chat for %s servers', (flavor) => {
  it('gives what such a server accepts for any history', () => {
    fc.assert(
      fc.property(fc.oneof(richLegalHistory, faultyHistory), (messages) => {
        const { request } = project('openai-chat', messages, { flavor });
        expect(checkOpenAiChatRequest(request, { flavor })).toStrictEqual([]);
      }),
      runParameters(`projection to openai-chat, ${flavor}`, 300),
    );
  });
});
