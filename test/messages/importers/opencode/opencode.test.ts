import { describe, expect, it } from 'vitest';
import { openCodeImporter as importer } from '../../../../src/messages/importers/opencode/opencode.js';
import { folderOf, sourceOf } from '../../../../src/messages/importers/source.js';
import { hasShared, isRecognised, lines, orphansOf, readAll, sharedFiles } from '../read-all.js';

const text = (id: string, messageID: string, said: string) => ({ id, messageID, type: 'text', text: said });
const tool = (id: string, messageID: string, state: object) => ({
  ...{ id, messageID, type: 'tool', callID: `call-${id}`, tool: 'bash' },
  state: { input: { command: 'ls' }, ...state },
});
const user = (id: string, created = 1000) => ({ id, sessionID: 's1', role: 'user', time: { created } });
const assistant = (id: string, created = 2000) => ({
  ...{ id, sessionID: 's1', role: 'assistant', time: { created } },
  ...{ providerID: 'anthropic', modelID: 'model-a' },
});
const exported = (...messages: object[]) => ({ info: { id: 's1' }, messages });
const event = (part: { type: string }) => ({
  type: part.type.replace('-', '_'),
  timestamp: 1500,
  sessionID: 's1',
  part,
});
const folder = (files: Record<string, unknown>) =>
  folderOf(Object.entries(files).map(([name, json]) => sourceOf(JSON.stringify(json), name)));

const messagesOf = async (given: unknown) => (await readAll(importer, given)).messages;
const origin = { provider: 'anthropic', model: 'model-a' };

describe('the import of OpenCode sessions', () => {
  it('reads an exported session', async () => {
    const given = exported(
      { info: user('m1'), parts: [text('p1', 'm1', 'List the files.')] },
      { info: assistant('m2'), parts: [tool('p2', 'm2', { status: 'completed', output: 'a.ts' })] },
    );
    expect(await isRecognised(importer, given)).toBe(true);
    expect((await readAll(importer, given)).items).toStrictEqual([
      { kind: 'message', message: { role: 'user', content: 'List the files.' }, ts: 1 },
      {
        kind: 'message',
        message: {
          role: 'assistant',
          content: null,
          toolPayload: { toolCalls: [{ id: 'call-p2', name: 'bash', arguments: { command: 'ls' } }] },
          origin,
          messageId: 'm2',
        },
        ts: 2,
      },
      {
        kind: 'message',
        message: {
          role: 'tool',
          content: null,
          toolPayload: { toolCallId: 'call-p2', toolName: 'bash', toolResult: 'a.ts', toolError: null },
        },
        ts: 2,
      },
    ]);
  });

  it('reads the events of a run, one message for the parts that belong together', async () => {
    const given = lines(
      event({ ...text('p1', 'm1', 'Let me look.') }),
      event(tool('p2', 'm1', { status: 'completed', output: 'a.ts' })),
      event(text('p3', 'm2', 'One file.')),
      { type: 'error', sessionID: 's1', error: { name: 'MessageAbortedError' } },
    );
    expect(await isRecognised(importer, given)).toBe(true);
    expect(await messagesOf(given)).toMatchObject([
      { role: 'assistant', content: 'Let me look.', messageId: 'm1' },
      { role: 'tool' },
      { role: 'assistant', content: 'One file.', messageId: 'm2', status: 'aborted' },
    ]);
  });

  it('reads a storage folder in the order of time and id, whatever the order of its files', async () => {
    const given = folder({
      'part/m2/p3.json': text('p3', 'm2', 'second'),
      'part/m2/p2.json': text('p2', 'm2', 'first'),
      'part/m1/p1.json': text('p1', 'm1', 'Go.'),
      'message/s1/m2.json': assistant('m2', 2000),
      'message/s1/m1.json': user('m1', 1000),
    });
    expect(await isRecognised(importer, given)).toBe(true);
    const messages = await messagesOf(given);
    expect(messages[0]).toStrictEqual({ role: 'user', content: 'Go.' });
    expect(messages[1]?.parts).toStrictEqual([
      { type: 'text', text: 'first' },
      { type: 'text', text: 'second' },
    ]);
  });

  it('reads the session of a folder that was used last, not the one of a sub-agent', async () => {
    const other = (session: string, id: string, created: number) => ({
      ...user(id, created),
      sessionID: session,
    });
    const { messages, report } = await readAll(
      importer,
      folder({
        'session/s3.json': { id: 's3', parentID: 's2', time: {} },
        'm1.json': other('s1', 'm1', 1000),
        'm2.json': other('s2', 'm2', 2000),
        'm3.json': other('s3', 'm3', 3000),
        'p1.json': text('p1', 'm1', 'old'),
        'p2.json': text('p2', 'm2', 'newer'),
        'p3.json': text('p3', 'm3', 'task'),
      }),
    );
    expect(messages).toMatchObject([{ content: 'newer' }]);
    expect(report.dropped).toMatchObject([{ what: 'a message of another session', count: 4 }]);
  });

  it('leaves out what the user took back', async () => {
    const given = {
      info: { id: 's1', revert: { messageID: 'm2' } },
      messages: [
        { info: user('m1'), parts: [text('p1', 'm1', 'keep')] },
        { info: user('m2'), parts: [text('p2', 'm2', 'undone')] },
      ],
    };
    const { messages, report } = await readAll(importer, given);
    expect(messages).toMatchObject([{ content: 'keep' }]);
    expect(report.dropped).toMatchObject([{ what: 'a message that was undone', places: ['messages/1'] }]);
  });

  it('begins a new answer with each step', async () => {
    const start = (id: string) => ({ id, messageID: 'm', type: 'step-start' });
    const parts = [
      start('p0'),
      tool('p1', 'm', { status: 'completed', output: 'x' }),
      start('p2'),
      text('p3', 'm', 'Done.'),
    ];
    expect(await messagesOf(exported({ info: assistant('m'), parts }))).toMatchObject([
      { role: 'assistant', messageId: 'm', toolPayload: { toolCalls: [{ id: 'call-p1' }] } },
      { role: 'tool' },
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  it('begins a new answer with a text from after the end of the tools, where steps are not marked', async () => {
    const parts = [
      tool('p1', 'm', { status: 'completed', output: 'x', time: { start: 10, end: 20 } }),
      { ...text('p2', 'm', 'Done.'), time: { start: 30 } },
    ];
    const messages = await messagesOf(exported({ info: assistant('m'), parts }));
    expect(messages.map(({ role }) => role)).toStrictEqual(['assistant', 'tool', 'assistant']);
  });

  it.each(['pending', 'running'])(
    'leaves a call that is %s without a result, and says so',
    async (status) => {
      const parts = [tool('p1', 'm', { status })];
      const { messages, report } = await readAll(importer, exported({ info: assistant('m'), parts }));
      expect(messages).toHaveLength(1);
      expect(report.approximated).toMatchObject([{ what: 'a call that was still running' }]);
    },
  );

  it('reads the error of a tool', async () => {
    const parts = [tool('p1', 'm', { status: 'error', error: 'no such file' })];
    expect(await messagesOf(exported({ info: assistant('m'), parts }))).toMatchObject([
      {},
      { toolPayload: { toolResult: null, toolError: 'no such file' } },
    ]);
  });

  it('keeps signed reasoning where it stands between texts', async () => {
    const thought = (id: string, signature: string) => ({
      ...{ id, messageID: 'm', type: 'reasoning', text: id },
      metadata: { anthropic: { signature } },
    });
    const parts = [thought('p1', 's1=='), text('p2', 'm', 'a'), thought('p3', 's3=='), text('p4', 'm', 'b')];
    const [message] = await messagesOf(exported({ info: assistant('m'), parts }));
    expect(message?.parts).toStrictEqual([
      { type: 'reasoning', reasoning: { text: 'p1', signature: 's1==', origin } },
      { type: 'text', text: 'a' },
      { type: 'reasoning', reasoning: { text: 'p3', signature: 's3==', origin } },
      { type: 'text', text: 'b' },
    ]);
  });

  it('takes the answer to a compaction as the summary of what came before', async () => {
    const given = exported(
      { info: user('m1'), parts: [{ id: 'p1', messageID: 'm1', type: 'compaction', auto: true }] },
      { info: { ...assistant('m2'), summary: true }, parts: [text('p2', 'm2', 'We listed files.')] },
    );
    expect((await readAll(importer, given)).items).toStrictEqual([
      {
        kind: 'compaction',
        messages: [{ role: 'user', content: 'We listed files.', kind: 'memory' }],
        ts: 2,
      },
    ]);
  });

  it('reads images of the user and of results', async () => {
    const image = {
      id: 'p',
      messageID: 'm',
      type: 'file',
      mime: 'image/png',
      url: 'data:image/png;base64,AAAA',
    };
    const state = { status: 'completed', output: 'shot', attachments: [image] };
    const given = exported(
      { info: user('m1'), parts: [image] },
      { info: assistant('m2'), parts: [tool('p1', 'm2', state)] },
    );
    const media = { kind: 'image', mime: 'image/png', ref: 'data:image/png;base64,AAAA' };
    expect(await messagesOf(given)).toMatchObject([
      { parts: [{ type: 'media', media }] },
      {},
      { parts: [{ type: 'media', media }] },
    ]);
  });

  it('marks answers that were cut off, with what was said until then', async () => {
    const cut = (name: string) => ({ info: { ...assistant('m'), error: { name } }, parts: [] });
    expect(await messagesOf(exported(cut('MessageAbortedError'), cut('ProviderAuthError')))).toMatchObject([
      { role: 'assistant', content: null, status: 'aborted' },
      { role: 'assistant', content: null, status: 'failed' },
    ]);
  });

  it('accounts for every part that says nothing to the model', async () => {
    const kinds = ['step-finish', 'snapshot', 'patch', 'agent', 'retry', 'new-kind'];
    const parts = kinds.map((type) => ({ id: type, messageID: 'm', type }));
    const { report } = await readAll(importer, exported({ info: assistant('m'), parts }));
    expect(report.dropped.reduce((sum, { count }) => sum + count, 0)).toBe(kinds.length);
  });

  it('survives parts of any type', async () => {
    const odd = [
      null,
      3,
      'x',
      [],
      {},
      { type: 'tool', state: 4 },
      { type: 'text', text: 5 },
      { type: 'file' },
    ];
    const { messages } = await readAll(importer, exported({ info: assistant('m'), parts: odd }, { info: 1 }));
    expect(messages).toMatchObject([{ toolPayload: { toolCalls: [{ id: '', name: '', arguments: {} }] } }]);
  });

  it('refuses a folder without messages with TRANSCRIPT_INVALID', async () => {
    const given = folder({ 'part/p1.json': text('p1', 'm1', 'x'), 'note.json': {} });
    await expect(readAll(importer, given)).rejects.toMatchObject({ code: 'TRANSCRIPT_INVALID' });
  });

  it.each([
    ['other events', lines({ type: 'text', sessionId: 's' }, { type: 'text', sessionId: 's' })],
    ['other documents', { info: {}, messages: [{ role: 'user', content: 'x' }] }],
    ['other folders', folder({ 'a.json': { id: 'a', role: 'user' } })],
  ])('does not recognise %s', async (_, given) => {
    expect(await isRecognised(importer, given)).toBe(false);
  });

  it.skipIf(!hasShared('corpus/opencode'))('reads the real run and the real folder', async () => {
    const files = sharedFiles('corpus/opencode');
    const run = files.find(({ name }) => name.endsWith('.jsonl'))!;
    const stored = folderOf(files.filter(({ name }) => name.startsWith('gitai-storage/')));
    for (const source of [run, stored]) {
      expect(await isRecognised(importer, source)).toBe(true);
      const { messages } = await readAll(importer, source);
      expect(messages.length).toBeGreaterThan(3);
      expect(orphansOf(messages)).toStrictEqual([]);
    }
  });

  it.skipIf(!hasShared('corpus'))('recognises no other format', async () => {
    for (const file of sharedFiles('corpus').filter(({ name }) => !name.startsWith('opencode/')))
      expect(await isRecognised(importer, file), file.name).toBe(false);
  });
});
