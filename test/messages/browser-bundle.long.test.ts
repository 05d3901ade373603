/** `rekindle/messages` as a browser gets it: bundled for one, and run where nothing of Node is. */
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import * as messages from '../../src/messages/index.js';

const ENTRY = fileURLToPath(new URL('../../src/messages/index.ts', import.meta.url));
const GLOBALS_OF_A_PAGE = { TextDecoder, TextEncoder, URL };

/** What a page may do with a stored history. It is run as it is here and as text in the bundle, so it names nothing around it. */
async function tour(rekindle: typeof messages): Promise<unknown> {
  const image =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
  const history = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'zażółć 🙂' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'a:b c',
          type: 'function',
          function: { name: 'read it!', arguments: '{"n":12345678901234567890}' },
        },
      ],
    },
  ];
  const transcript = await rekindle.openTranscript(rekindle.sourceOf(JSON.stringify(history)));
  const list = await rekindle.contextOf(transcript);
  const { messages: whole, repairs } = rekindle.repairHistory(list);
  const bytes = new Map([['sha256:00', new Uint8Array([1, 2, 3])]]);
  return {
    format: transcript.format,
    losses: transcript.losses(),
    repairs,
    violations: rekindle.checkHistory(list),
    requests: rekindle.TARGETS.map((name) => {
      const { request, notes } = rekindle.project(name, whole);
      return { request, notes, refused: rekindle.checkRequest(name, request) };
    }),
    exports: rekindle.EXPORTERS.map((exporter) => [
      ...exporter.write(whole, { agentId: 'desk', artifacts: bytes, startedAtMs: 0 }),
    ]),
  };
}

let inPage: unknown;
let inNode: unknown;
beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'rekindle',
    platform: 'browser',
    logLevel: 'silent',
  });
  const program = `${outputFiles[0]!.text}\n(${tour.toString()})(rekindle).then(JSON.stringify)`;
  inPage = JSON.parse((await vm.runInNewContext(program, { ...GLOBALS_OF_A_PAGE })) as string);
  inNode = JSON.parse(JSON.stringify(await tour(messages)));
});

describe('rekindle/messages in a browser', () => {
  it('reads, repairs, projects, checks and exports a history as it does in Node', () => {
    expect(inPage).toEqual(inNode);
    expect(inPage).toMatchObject({
      format: 'openai-chat',
      repairs: [{}],
      requests: Array(5).fill({ refused: [] }),
    });
  });
});
