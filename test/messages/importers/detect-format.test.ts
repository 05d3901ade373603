import { describe, expect, it } from 'vitest';
import { headOf } from '../../../src/messages/importers/detect-format.js';
import { IMPORTERS } from '../../../src/messages/importers/importers.js';
import { openTranscript } from '../../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../../src/messages/importers/source.js';

const CHAT = {
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
  ],
};

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

describe('the head of a transcript', () => {
  it.each([
    ['one record a line', '{"a":1}\n{"b":2}\n', 'lines'],
    ['a first line that was cut', 'ssage"}\n{"a":1}\n{"b":2}\n', 'lines'],
    ['a list on one line', '[{"a":1},{"b":2}]', 'array'],
    ['a list with one member a line', '[\n{"a":1},\n{"b":2}\n]\n', 'array'],
    ['a document on one line', '{"messages":[{"a":1}]}', 'object'],
    ['a document over several lines', '{\n"messages": [\n{"a":1},\n{"b":2}\n]\n}\n', 'object'],
  ])('tells the shape of %s', async (_, text, shape) => {
    for (const size of [3, 4096]) expect((await headOf(sourceOf(text, 'x', size)))?.shape).toBe(shape);
  });

  it('is null for what is no JSON', async () => {
    for (const text of ['', 'root:x:0:0', '{', '\u0000\u0001'])
      expect(await headOf(sourceOf(text))).toBeNull();
  });
});

describe('openTranscript', () => {
  it('knows a format by the content, not by the name', async () => {
    const text = JSON.stringify(CHAT);
    for (const name of ['a.jsonl', 'session.claude', ''])
      expect((await openTranscript(sourceOf(text, name))).format).toBe('openai-chat');
  });

  it('reads a document that is one JSON string holding the document', async () => {
    const transcript = await openTranscript(sourceOf(JSON.stringify(JSON.stringify(CHAT))));
    expect(transcript.format).toBe('openai-chat');
  });

  it('refuses what it does not know, and says for each format what was looked for', async () => {
    await expect(openTranscript(sourceOf('{"shopping": ["milk"]}', 'list.json'))).rejects.toMatchObject({
      code: 'TRANSCRIPT_UNKNOWN',
      message: expect.stringContaining('Claude Code session'),
      details: {
        keys: ['shopping'],
        lookedFor: IMPORTERS.map(({ format, lookedFor }) => ({ format, lookedFor })),
      },
    });
  });

  it('knows a document whose first member is too large to look at whole', async () => {
    const messages = Array.from({ length: 3_000 }, (_, number) => ({
      ...{
        id: `m${number}`,
        role: number === 0 ? 'system' : 'user',
        content: [{ type: 'text', text: 'x'.repeat(4_000) }],
      },
    }));
    const agent = {
      name: 'a',
      agent_type: 'letta_v1_agent',
      messages,
      in_context_message_ids: messages.map(({ id }) => id),
      system: 's',
    };
    const text = JSON.stringify({
      agents: [agent],
      groups: [],
      blocks: [],
      files: [],
      sources: [],
      tools: [],
    });
    expect((await openTranscript(sourceOf(text))).format).toBe('letta');
  });

  it('knows a document that ends in the middle, so that the error is about its end', async () => {
    const text = JSON.stringify(CHAT).slice(0, -20);
    const transcript = await openTranscript(sourceOf(text));
    await expect(drain(transcript.items())).rejects.toMatchObject({
      code: 'TRANSCRIPT_INVALID',
    });
  });

  it('has a format of its own for each importer', () => {
    expect(new Set(IMPORTERS.map(({ format }) => format)).size).toBe(IMPORTERS.length);
  });
});
