/**
 * What an import costs: reading a transcript through its importer, beside `JSON.parse` over the same lines; and the peak memory of
 * importing a large one into an agent, in a process of its own (`--child`).
 *
 * `IMPORT_MIB` sets the size of the large one; default 256.
 */
import { spawnSync } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openFileSource } from '../src/cli/file-source.js';
import { importTranscript } from '../src/memory/importing/import-transcript.js';
import { openTranscript } from '../src/messages/importers/read-transcript.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { inTempFolder, printTable, ratio, textOfSize } from './support.js';

const MEBIBYTE = 1024 * 1024;
/** A long session. Above 32 MiB, formats that are trees are parsed twice instead of being held. */
const SMALL_MIB = 24;
const LARGE_MIB = Number(process.env['IMPORT_MIB'] ?? 256);

type Maker = (turn: number) => object[];

const FORMATS: Readonly<Record<string, Maker>> = {
  'claude-code': claudeCodeTurn,
  codex: codexTurn,
  'openai-chat': chatTurn,
};

function claudeCodeTurn(turn: number): object[] {
  const base = { sessionId: 's', version: '2.1.0', cwd: '', isSidechain: false, userType: 'external' };
  const id = (step: number) => `00000000-0000-4000-8000-${String(turn * 8 + step).padStart(12, '0')}`;
  const record = (step: number, type: string, message: object) => ({
    parentUuid: turn + step === 0 ? null : id(step - 1 < 0 ? -5 : step - 1),
    ...base,
    type,
    message,
    uuid: id(step),
    timestamp: new Date(1_760_000_000_000 + turn * 8000 + step * 1000).toISOString(),
  });
  const answer = (content: object[]) => ({
    id: `msg_${turn}_${content.length}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-bench',
    content,
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  return [
    record(0, 'user', { role: 'user', content: textOfSize(300, turn) }),
    record(
      1,
      'assistant',
      answer([
        { type: 'tool_use', id: `toolu_${turn}`, name: 'Read', input: { file_path: `/a/${turn}.ts` } },
      ]),
    ),
    record(2, 'user', {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `toolu_${turn}`, content: outputOfSize(4000, turn) }],
    }),
    record(
      3,
      'assistant',
      answer([
        { type: 'text', text: textOfSize(900, turn + 3) },
        { type: 'text', text: 'Done.' },
      ]),
    ),
  ];
}

function codexTurn(turn: number): object[] {
  const timestamp = new Date(1_760_000_000_000 + turn * 8000).toISOString();
  const item = (payload: object) => ({ timestamp, type: 'response_item', payload });
  const head =
    turn === 0
      ? [
          {
            timestamp,
            type: 'session_meta',
            payload: { id: 's', cwd: '', originator: 'bench', cli_version: '1' },
          },
        ]
      : [];
  return [
    ...head,
    item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: textOfSize(300, turn) }] }),
    item({
      type: 'function_call',
      name: 'shell',
      arguments: JSON.stringify({ command: ['cat', `${turn}`] }),
      call_id: `call_${turn}`,
    }),
    item({ type: 'function_call_output', call_id: `call_${turn}`, output: outputOfSize(4000, turn) }),
    item({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: textOfSize(900, turn + 3) }],
    }),
  ];
}

function chatTurn(turn: number): object[] {
  const call = {
    id: `call_${turn}`,
    type: 'function',
    function: { name: 'read', arguments: JSON.stringify({ path: `${turn}` }) },
  };
  return [
    { role: 'user', content: textOfSize(300, turn) },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: `call_${turn}`, content: outputOfSize(4000, turn) },
    { role: 'assistant', content: textOfSize(900, turn + 3) },
  ];
}

/** Text as tools return it: lines, quotes, now and then a letter beyond ASCII. */
function outputOfSize(bytes: number, seed: number): string {
  const words = textOfSize(bytes, seed).split(' ');
  return words
    .map((word, index) => (index % 9 === 8 ? `"${word}"; // naïve\n` : word))
    .join(' ')
    .slice(0, bytes);
}

async function makeFile(file: string, maker: Maker, mebibytes: number): Promise<void> {
  const handle = await open(file, 'w');
  let written = 0;
  for (let turn = 0; written < mebibytes * MEBIBYTE; ) {
    let text = '';
    for (const end = turn + 200; turn < end; turn += 1)
      for (const record of maker(turn)) text += `${JSON.stringify(record)}\n`;
    await handle.appendFile(text);
    written += text.length;
  }
  await handle.close();
}

/** The baseline, as short as it can be written; and of it, what `JSON.parse` alone takes once the lines are there. */
async function parseSeconds(file: string): Promise<{ readonly all: number; readonly parse: number }> {
  const start = performance.now();
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  const read = performance.now();
  for (const line of lines) JSON.parse(line);
  const end = performance.now();
  return { all: (end - start) / 1000, parse: (end - read) / 1000 };
}

async function readSeconds(file: string): Promise<number> {
  const { source, close } = await openFileSource(file);
  const start = performance.now();
  for await (const _ of (await openTranscript(source)).items());
  const seconds = (performance.now() - start) / 1000;
  await close();
  return seconds;
}

async function child(file: string, folder: string): Promise<void> {
  const { source, close } = await openFileSource(file);
  const beforeKib = process.resourceUsage().maxRSS;
  const start = performance.now();
  const { messages } = await importTranscript(new FileStorage(folder), 'bench', source);
  const seconds = (performance.now() - start) / 1000;
  await close();
  process.stdout.write(
    JSON.stringify({ messages, seconds, beforeKib, peakKib: process.resourceUsage().maxRSS }),
  );
}

async function main(): Promise<void> {
  const rows: string[][] = [];
  const large: string[][] = [];
  for (const [format, maker] of Object.entries(FORMATS)) {
    await inTempFolder(async (folder) => {
      const file = path.join(folder, 'small.jsonl');
      await makeFile(file, maker, SMALL_MIB);
      const baselines = [await parseSeconds(file), await parseSeconds(file)];
      const all = Math.min(...baselines.map((baseline) => baseline.all));
      const parse = Math.min(...baselines.map((baseline) => baseline.parse));
      const read = Math.min(await readSeconds(file), await readSeconds(file));
      const speed = (seconds: number) => `${(SMALL_MIB / seconds).toFixed(0)} MiB/s`;
      rows.push([format, speed(parse), speed(all), speed(read), ratio(all, read), ratio(parse, read)]);
      await makeFile(file, maker, LARGE_MIB);
      const run = spawnSync(
        process.execPath,
        [...process.execArgv, fileURLToPath(import.meta.url), '--child', file, folder],
        { encoding: 'utf8' },
      );
      const { messages, seconds, beforeKib, peakKib } = JSON.parse(run.stdout) as {
        messages: number;
        seconds: number;
        beforeKib: number;
        peakKib: number;
      };
      large.push([
        format,
        messages.toLocaleString('en'),
        `${seconds.toFixed(1)} s`,
        `${(beforeKib / 1024).toFixed(0)} MiB`,
        `${(peakKib / 1024).toFixed(0)} MiB`,
      ]);
    });
  }
  printTable(
    `Reading ${SMALL_MIB} MiB`,
    [
      '',
      'JSON.parse',
      'read + split + JSON.parse',
      'importer',
      'against the latter',
      'against JSON.parse alone',
    ],
    rows,
  );
  printTable(
    `Importing ${LARGE_MIB} MiB into an agent`,
    ['', 'messages', 'time', 'memory before (with the TypeScript loader)', 'peak memory'],
    large,
  );
}

const [flag, file, folder] = process.argv.slice(2);
if (flag === '--child') await child(file!, folder!);
else await main();
