/**
 * What a turn costs: syncs, bytes and time, at 100, 1,000 and 10,000 messages, beside a bare append + fdatasync of the same bytes
 * and beside the seed's approach made safe (the whole snapshot file anew each turn).
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import type { MemoryManager } from '../src/memory/memory-manager.js';
import { openMemory } from '../src/memory/open-memory.js';
import { messageToJson } from '../src/messages/message-serializer.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { CountingFileSystem, inTempFolder, median, ms, printTable, ratio, textOfSize } from './support.js';

const MESSAGE_BYTES = 2_000;
const TURNS = 60;

interface TurnFigures {
  readonly messages: number;
  readonly syncsPerCommit: number;
  readonly journalShare: number;
  readonly cacheShare: number;
  readonly turnMs: number;
  readonly bareMs: number;
  readonly wholeFileMs: number;
  readonly wholeFileBytes: number;
}

async function measure(messages: number): Promise<TurnFigures> {
  return inTempFolder(async (folder) => {
    const fileSystem = new CountingFileSystem();
    const storage = new FileStorage(folder, { fileSystem });
    const opened = await openMemory(storage, 'bench', { compaction: null });
    const { memory } = opened;
    await memory.begin('You are a bench.');
    await fill(memory, messages);
    const figures = await measureTurns(memory, fileSystem, folder, messages);
    await opened.close();
    return figures;
  });
}

async function fill(memory: MemoryManager, messages: number): Promise<void> {
  const list = Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: textOfSize(MESSAGE_BYTES, index),
    turnId: `turn_${String(Math.floor(index / 2) + 1).padStart(4, '0')}`,
  }));
  await memory.resetWorkingContextSnapshot(list, 'bench');
}

async function measureTurns(
  memory: MemoryManager,
  fileSystem: CountingFileSystem,
  folder: string,
  messages: number,
): Promise<TurnFigures> {
  const turnMs: number[] = [];
  const bareMs: number[] = [];
  const wholeMs: number[] = [];
  let payload = 0;
  let wholeFileBytes = 0;
  await oneTurn(memory, 0); // opens descriptors
  fileSystem.reset();
  const bare = await open(path.join(folder, 'bare'), 'w');
  let bareEnd = 0;
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const before = fileSystem.bytesOf(/raw_traces/);
    const start = performance.now();
    await oneTurn(memory, turn);
    turnMs.push(performance.now() - start);
    payload += payloadOf(memory);
    // The same bytes in the same two commits, appended and synced by nothing but the calls themselves.
    const half = Buffer.alloc(Math.ceil((fileSystem.bytesOf(/raw_traces/) - before) / 2), 0x61);
    const bareStart = performance.now();
    bareEnd = await bareCommit(bare, half, bareEnd);
    bareEnd = await bareCommit(bare, half, bareEnd);
    bareMs.push(performance.now() - bareStart);
    if (turn % 10 === 0) {
      const whole = await wholeFileTurn(memory, folder);
      wholeMs.push(whole.ms);
      wholeFileBytes = whole.bytes;
    }
  }
  await bare.close();
  return {
    messages,
    syncsPerCommit: fileSystem.datasyncs / (TURNS * 2),
    journalShare: fileSystem.bytesOf(/raw_traces/) / payload,
    cacheShare: fileSystem.bytesOf(/working_context/) / payload,
    turnMs: median(turnMs),
    bareMs: median(bareMs),
    wholeFileMs: median(wholeMs),
    wholeFileBytes,
  };
}

/** One user input and one answer: two commits, and the cache brought up to date. */
async function oneTurn(memory: MemoryManager, turn: number): Promise<void> {
  const turnId = memory.startTurn();
  await memory.ingestUserMessage(textOfSize(MESSAGE_BYTES, 7_000 + turn), turnId);
  await memory.ingestAssistantResponse({ content: textOfSize(MESSAGE_BYTES, 9_000 + turn) }, turnId);
}

/** New messages of the turn as JSON. */
function payloadOf(memory: MemoryManager): number {
  const last = memory.getWorkingContextMessages().slice(-2);
  return last.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(messageToJson(message))), 0);
}

async function bareCommit(bare: FileHandle, bytes: Buffer, position: number): Promise<number> {
  await bare.write(bytes, 0, bytes.length, position);
  await bare.datasync();
  return position + bytes.length;
}

/** The seed's way: serialize everything, write a temporary file, sync, rename. */
async function wholeFileTurn(memory: MemoryManager, folder: string): Promise<{ ms: number; bytes: number }> {
  const start = performance.now();
  const text = JSON.stringify({ messages: memory.getWorkingContextMessages().map(messageToJson) });
  const fd = openSync(path.join(folder, 'whole'), 'w');
  writeSync(fd, text);
  fdatasyncSync(fd);
  closeSync(fd);
  return { ms: performance.now() - start, bytes: Buffer.byteLength(text) };
}

const figures: TurnFigures[] = [];
for (const messages of [100, 1_000, 10_000]) figures.push(await measure(messages));
const base = figures[0]!;
printTable(
  `A turn of two messages of ${MESSAGE_BYTES} bytes (two commits), median of ${TURNS}`,
  [
    'messages',
    'fdatasync a commit',
    'journal bytes / payload',
    'cache bytes / payload',
    'turn ms',
    'vs 100',
    'bare append ms',
    'vs bare',
    'whole file ms (seed)',
    'whole file bytes',
  ],
  figures.map((row) => [
    row.messages,
    row.syncsPerCommit.toFixed(2),
    row.journalShare.toFixed(3),
    row.cacheShare.toFixed(3),
    ms(row.turnMs),
    ratio(row.turnMs, base.turnMs),
    ms(row.bareMs),
    ratio(row.turnMs, row.bareMs),
    ms(row.wholeFileMs),
    row.wholeFileBytes,
  ]),
);
