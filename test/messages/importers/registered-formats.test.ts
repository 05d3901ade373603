/** Formats that a program adds: detection, reasons, errors, refusals, and the example of the documentation. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { importTranscript } from '../../../src/memory/importing/import-transcript.js';
import { IMPORTERS } from '../../../src/messages/importers/importers.js';
import { contextOf, openTranscript } from '../../../src/messages/importers/read-transcript.js';
import { registerTranscriptFormat } from '../../../src/messages/importers/registered-formats.js';
import { folderOf, sourceOf } from '../../../src/messages/importers/source.js';
import type { TranscriptHead, TranscriptImporter } from '../../../src/messages/importers/transcript.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';

const heads: TranscriptHead[] = [];
const notes: TranscriptImporter = {
  format: 'notes',
  title: 'Notes',
  lookedFor: 'a first line `NOTES`',
  recognises: (head) => {
    heads.push(head);
    return head.items[0] === 'NOTES' || head.keys.has('notes');
  },
  async *read(_source, losses) {
    losses.record();
    yield { kind: 'message', message: { role: 'user', content: 'noted' } };
  },
};
const CHAT = JSON.stringify({ notes: 1, messages: [{ role: 'user', content: 'Hi' }] });

const removals: (() => void)[] = [];
function register(importer: TranscriptImporter): () => void {
  const remove = registerTranscriptFormat(importer);
  removals.push(remove);
  return remove;
}
afterEach(() => {
  for (const remove of removals.splice(0)) remove();
  heads.length = 0;
});

describe('a registered transcript format', () => {
  it('is tried before the built-in formats, and its marks are the reason', async () => {
    expect((await openTranscript(sourceOf(CHAT))).format).toBe('openai-chat');
    register(notes);
    expect(await openTranscript(sourceOf(CHAT))).toMatchObject({
      format: 'notes',
      title: 'Notes',
      reasons: ['it looks like this: a first line `NOTES`'],
    });
  });

  it('is imported as an agent', async () => {
    register(notes);
    const report = await importTranscript(new MemoryStorage(), 'ann', sourceOf('NOTES\nmilk\n'));
    expect(report).toMatchObject({ format: 'notes', messages: 1, losses: { records: 1 } });
  });

  it('gets the first lines of a text that is not JSON, and of one that only begins like JSON', async () => {
    register(notes);
    for (const text of ['\uFEFFNOTES\r\nmilk', '[NOTES]\nmilk'])
      await openTranscript(sourceOf(text)).catch(() => null);
    expect(heads.filter(({ shape }) => shape === 'text')).toMatchObject([
      { shape: 'text', items: ['NOTES', 'milk'] },
      { shape: 'text', items: ['[NOTES]', 'milk'] },
    ]);
  });

  it('gets no head of a binary file, a blank file or an empty folder as a text', async () => {
    register(notes);
    const image = sourceOf(Uint8Array.from([0x89, 0x50, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x0d]));
    for (const source of [sourceOf('NOTES\u0000'), image, sourceOf(' \n'), folderOf([])])
      await expect(openTranscript(source)).rejects.toMatchObject({ code: 'TRANSCRIPT_UNKNOWN' });
    expect(heads.filter(({ shape }) => shape === 'text')).toEqual([]);
  });

  it('gets a text in which a line holds a NUL', async () => {
    register(notes);
    expect(await openTranscript(sourceOf('NOTES\n\u0000 milk'))).toMatchObject({ format: 'notes' });
  });

  it('is in the list of formats of an error, before the built-in ones', async () => {
    register(notes);
    await expect(openTranscript(sourceOf('# Shopping\n\nmilk\n'))).rejects.toMatchObject({
      code: 'TRANSCRIPT_UNKNOWN',
      message: expect.stringContaining('it is not JSON. Looked for: Notes, '),
      details: {
        shape: null,
        lookedFor: [notes, ...IMPORTERS].map(({ format, lookedFor }) => ({ format, lookedFor })),
      },
    });
  });

  it('is gone after its removal, and a second removal does nothing', async () => {
    const remove = register(notes);
    remove();
    register({ ...notes, title: 'Other notes' });
    remove();
    expect((await openTranscript(sourceOf('NOTES'))).title).toBe('Other notes');
  });

  it('is not seen by a caller that passes its own list', async () => {
    register(notes);
    expect((await openTranscript(sourceOf(CHAT), IMPORTERS)).format).toBe('openai-chat');
  });
});

describe('registerTranscriptFormat', () => {
  it.each(['notes', 'openai-chat'])('refuses the name %s, which exists', (format) => {
    register(notes);
    expect(() => registerTranscriptFormat({ ...notes, format })).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        details: expect.objectContaining({ argument: 'format' }),
      }),
    );
  });

  it.each([
    ['format', { format: 'My notes' }],
    ['title', { title: ' ' }],
    ['lookedFor', { lookedFor: undefined }],
    ['recognises', { recognises: undefined }],
    ['read', { read: 'file' }],
    ['entries', { entries: 'anthropic' }],
  ])('refuses an importer whose %s is not as it must be', async (argument, part) => {
    expect(() => registerTranscriptFormat({ ...notes, ...part } as TranscriptImporter)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', details: expect.objectContaining({ argument }) }),
    );
    expect((await openTranscript(sourceOf(CHAT))).format).toBe('openai-chat');
  });
});

describe('a built-in format', () => {
  it('that is not one of text does not recognise a text', () => {
    const head: TranscriptHead = { shape: 'text', items: ['Hi', '{}'], fields: {}, keys: new Set() };
    expect(IMPORTERS.filter(({ recognises }) => recognises(head))).toEqual([]);
  });
});

describe('the example of docs/transcripts.md', () => {
  it('adds a format that reads its own sample', async () => {
    const page = readFileSync(new URL('../../../docs/transcripts.md', import.meta.url), 'utf8');
    const [, section = ''] = page.split('## Add a format');
    const [example = '', sample = ''] = [...section.matchAll(/```(?:ts|text)\n(.*?)```/gs)].map(
      ([, code]) => code!,
    );
    const body = example.replace(/^import .*$/gm, '').replace(/: TranscriptImporter\b/, '');
    const remove: unknown = new Function('registerTranscriptFormat', `${body}\nreturn remove;`)(register);
    expect(remove).toBeTypeOf('function');
    const transcript = await openTranscript(sourceOf(sample));
    expect(transcript.format).toBe('log');
    expect(await contextOf(transcript)).toEqual([
      { role: 'user', content: 'What is in a.txt?' },
      { role: 'assistant', content: 'One word: tea.' },
    ]);
    expect(transcript.losses()).toMatchObject({
      records: 3,
      kept: { 'user message': 1, 'assistant message': 1 },
      dropped: [{ what: 'a line that is not a message', places: ['line 3'] }],
    });
  });
});
