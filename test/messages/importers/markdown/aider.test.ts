import { describe, expect, it } from 'vitest';
import { aiderImporter as importer } from '../../../../src/messages/importers/markdown/aider.js';
import { openTranscript } from '../../../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../../../src/messages/importers/source.js';
import { readAll } from '../read-all.js';

const START = '# aider chat started at 2026-01-02 03:04:05';
const page = (...lines: string[]) => `\n${START}\n\n${lines.join('\n')}\n`;
const saidIn = async (text: string) =>
  (await readAll(importer, text)).messages.map(({ role, content }) => `${role}: ${content}`);

describe("the import of aider's chat histories", () => {
  it('reads questions and answers, and counts the output of aider as dropped', async () => {
    const text = page(
      '> Aider v0.86.1  ',
      '> Main model: gpt-4o  ',
      '',
      '#### What is in a.txt?  ',
      '',
      'Tea.',
      '',
      '> Tokens: 1k sent  ',
      '',
      '> Applied edit to a.txt  ',
      '',
      'One word.',
    );
    const { items, messages, report } = await readAll(importer, text);
    expect(messages).toStrictEqual([
      { role: 'user', content: 'What is in a.txt?' },
      { role: 'assistant', content: 'Tea.' },
      { role: 'assistant', content: 'One word.' },
    ]);
    expect(items[0]).toMatchObject({ ts: Date.UTC(2026, 0, 2, 3, 4, 5) / 1000 });
    expect(items[1]).not.toHaveProperty('ts');
    expect(report).toEqual({
      records: 6,
      kept: { 'user message': 1, 'assistant message': 2 },
      approximated: [{ what: 'the local time of a session, as UTC', count: 1, places: ['line 2'] }],
      dropped: [{ what: 'output of aider and its commands', count: 2, places: ['line 4', 'line 11'] }],
    });
  });

  it.each([1, 7, 4096])('is known by its first line, in chunks of %i bytes', async (size) => {
    const text = `\uFEFF${page('#### Hi  ', '', 'Hello.')}`.replaceAll('\n', '\r\n');
    const transcript = await openTranscript(sourceOf(text, 'history.md', size));
    expect(transcript).toMatchObject({ format: 'aider', isDocument: true });
    const contents: unknown[] = [];
    for await (const item of transcript.items())
      if (item.kind === 'message') contents.push(item.message.content);
    expect(contents).toEqual(['Hi', 'Hello.']);
  });

  it.each(['# Notes\n\n# aider chat started at noon\n', '# aider chats\n', `Read: ${START}\n`])(
    'does not recognise %j',
    async (text) => {
      await expect(openTranscript(sourceOf(text))).rejects.toMatchObject({
        code: 'TRANSCRIPT_UNKNOWN',
        message: expect.stringContaining('it is not JSON'),
      });
    },
  );

  it('reads a question of several lines as one message, with its blank lines', async () => {
    const text = page('#### # Task  ', '####   ', '####', '#### - do it  ', '', 'Done.');
    expect(await saidIn(text)).toEqual(['user: # Task\n\n\n- do it', 'assistant: Done.']);
  });

  it('reads questions without an answer between them as two messages', async () => {
    expect(await saidIn(page('#### one  ', '', '#### two  '))).toEqual(['user: one', 'user: two']);
  });

  it('leaves headings, comments and code in the answer', async () => {
    const answer = ['#### A heading', '', '# A title', '', '```python', '# a comment', '> no quote', '```'];
    expect(await saidIn(page('#### go  ', '', ...answer))).toEqual([
      'user: go',
      `assistant: ${answer.join('\n')}`,
    ]);
  });

  it('takes every such heading for a question in a file that lost the ends of its lines', async () => {
    expect(await saidIn(page('#### go', '', 'Yes.', '', '#### more'))).toEqual([
      'user: go',
      'assistant: Yes.',
      'user: more',
    ]);
  });

  it('takes quotes for output of aider after a fence that never closes', async () => {
    const text = page('#### go  ', '', '```python', 'x = 1', '> Applied edit  ', '', 'rest');
    expect(await saidIn(text)).toEqual(['user: go', 'assistant: ```python\nx = 1', 'assistant: rest']);
  });

  it('takes nothing before the first question of a session for an answer', async () => {
    const text = `${page('> aider --message # Task', '', '**not an answer**  ', '', '#### go  ', '', 'Yes.')}${page('left over', '', '#### again  ')}`;
    expect(await saidIn(text)).toEqual(['user: go', 'assistant: Yes.', 'user: again']);
  });

  it('keeps commands as messages, and drops empty questions', async () => {
    const { messages, report } = await readAll(importer, page('#### /add a.txt  ', '', '#### <blank>  '));
    expect(messages).toEqual([{ role: 'user', content: '/add a.txt' }]);
    expect(report.approximated).toContainEqual({
      what: 'a command to aider, as a message of the user',
      count: 1,
      places: ['line 4'],
    });
    expect(report.dropped).toEqual([{ what: 'an empty message', count: 1, places: ['line 6'] }]);
  });

  it('refuses a history without messages', async () => {
    await expect(readAll(importer, page('> Aider v1  '))).rejects.toMatchObject({
      code: 'TRANSCRIPT_INVALID',
    });
  });

  it('reads a history of many fences that never close in linear time', async () => {
    const fences = Array.from({ length: 40_000 }, (_, number) => `\`\`\`x${number}`);
    const { messages } = await readAll(importer, page('#### go  ', '', ...fences));
    expect(messages[1]?.content).toHaveLength(fences.join('\n').length);
  });
});
