/**
 * What a turn of a host's own loop costs, as the README recommends it: `beginTurn`, `messagesFor`, guarded tools, `endTurn`, default
 * settings, compaction and recall on. Each row is a new process. The baseline appends as many bytes with as many syncs to one file;
 * both take turns, so that they meet the same disk.
 *
 * `tsx bench/host-turn.ts` prints the table; `--one MESSAGES TOOLS` is one row, as JSON.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openWorkingContext } from '../src/index.js';
import { openMemory } from '../src/memory/open-memory.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { CountingFileSystem, inTempFolder, ms, printTable, quantile, ratio, textOfSize } from './support.js';

const MESSAGE_BYTES = 1_000;
const TURNS = Number(process.env.TURNS ?? 200);
const WARM_TURNS = 20;
const SIZES = [100, 1_000, 10_000, 100_000];

interface Row {
  readonly messages: number;
  readonly tools: number;
  readonly turnMs: number;
  readonly turnMsP10: number;
  readonly bareMs: number;
  readonly bareMsP10: number;
  readonly cpuMs: number;
  readonly syncs: number;
  readonly bytesShare: number;
}

/** By turns: one record of a whole context is limited to 64 MB. */
async function fill(folder: string, messages: number): Promise<void> {
  const storage = new FileStorage(folder, { durability: 'relaxed' });
  const { memory, close } = await openMemory(storage, 'bench', { compaction: null, recall: null });
  await memory.begin('You are a bench.');
  for (let index = 0; index < messages; index += 2) {
    const turnId = memory.startTurn();
    await memory.ingestUserMessage(textOfSize(MESSAGE_BYTES, index), turnId);
    await memory.ingestAssistantResponse({ content: textOfSize(MESSAGE_BYTES, index + 1) }, turnId);
  }
  await close();
  await storage.close();
}

async function one(messages: number, tools: number): Promise<Row> {
  return inTempFolder(async (folder) => {
    const fileSystem = new CountingFileSystem();
    const place = path.join(folder, 'memory');
    await fill(place, messages);
    const storage = new FileStorage(place, { fileSystem });
    // The budget is out of reach: what a rung costs is measured by bench/fit.ts.
    const compaction = { inputBudgetTokens: 100_000_000 };
    const ctx = await openWorkingContext({ agentId: 'bench', storage, memory: { compaction } });
    const guarded = ctx.guardTools({
      look: {
        description: 'Looks.',
        inputSchema: {},
        execute: async () => ({ found: textOfSize(MESSAGE_BYTES, 7) }),
      },
    });
    const execute = guarded.look.execute as (input: unknown, options: object) => Promise<unknown>;
    const bare = openSync(path.join(folder, 'bare'), 'w');
    const [turnMs, bareMs, cpuMs]: [number[], number[], number[]] = [[], [], []];
    let [syncs, bytes, payload] = [0, 0, 0];
    for (let turn = 0; turn < TURNS + WARM_TURNS; turn += 1) {
      fileSystem.reset();
      const text = textOfSize(MESSAGE_BYTES, turn);
      const cpu = process.cpuUsage();
      const start = performance.now();
      await ctx.beginTurn(text);
      const sent: object[] = [];
      for (let step = 0; step < tools; step += 1) {
        const request = ctx.messagesFor('ai-sdk');
        const [toolCallId, input] = [`call_${turn}_${step}`, { q: step }];
        const output = await execute(input, { toolCallId, messages: request });
        sent.push(
          { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 'look', input }] },
          {
            role: 'tool',
            content: [
              { type: 'tool-result', toolCallId, toolName: 'look', output: { type: 'json', value: output } },
            ],
          },
        );
        await ctx.step(sent as never);
      }
      ctx.messagesFor('ai-sdk');
      await ctx.endTurn([...sent, { role: 'assistant', content: [{ type: 'text', text }] }] as never);
      const took = performance.now() - start;
      const used = process.cpuUsage(cpu);
      const writes = fileSystem.datasyncs;
      const written = fileSystem.bytesOf(/./);
      const bareStart = performance.now();
      const share = Buffer.alloc(Math.ceil(written / Math.max(1, writes)), 97);
      for (let n = 0; n < writes; n += 1) {
        writeSync(bare, share);
        fdatasyncSync(bare);
      }
      if (turn < WARM_TURNS) continue;
      bareMs.push(performance.now() - bareStart);
      turnMs.push(took);
      cpuMs.push((used.user + used.system) / 1_000);
      syncs += writes;
      bytes += written;
      payload += MESSAGE_BYTES * (2 + tools);
    }
    closeSync(bare);
    await ctx.close();
    await storage.close();
    return {
      ...{ messages, tools, turnMs: quantile(turnMs, 0.5), turnMsP10: quantile(turnMs, 0.1) },
      ...{ bareMs: quantile(bareMs, 0.5), bareMsP10: quantile(bareMs, 0.1), cpuMs: quantile(cpuMs, 0.5) },
      ...{ syncs: syncs / TURNS, bytesShare: bytes / payload },
    };
  });
}

function inNewProcess(messages: number, tools: number): Row {
  const script = fileURLToPath(import.meta.url);
  const out = execFileSync(process.execPath, [
    ...process.execArgv,
    script,
    '--one',
    `${messages}`,
    `${tools}`,
  ]);
  return JSON.parse(out.toString()) as Row;
}

const at = process.argv.indexOf('--one');
if (at > 0) {
  process.stdout.write(JSON.stringify(await one(Number(process.argv[at + 1]), Number(process.argv[at + 2]))));
} else {
  const rows = [
    ...SIZES.map((messages) => inNewProcess(messages, 0)),
    inNewProcess(100, 1),
    inNewProcess(100, 3),
  ];
  const base = rows[0]!.turnMs;
  printTable(
    `A turn of the host loop, messages of ${MESSAGE_BYTES} bytes, median of ${TURNS}`,
    [
      'messages',
      'tool steps',
      'turn ms',
      'vs 100',
      'bare ms',
      'vs bare',
      'vs bare, p10',
      'syncs',
      'CPU ms',
      'bytes / payload',
    ],
    rows.map((row) => [
      ...[
        row.messages,
        row.tools,
        ms(row.turnMs),
        ratio(row.turnMs, base),
        ms(row.bareMs),
        ratio(row.turnMs, row.bareMs),
      ],
      ...[
        ratio(row.turnMsP10, row.bareMsP10),
        row.syncs.toFixed(2),
        ms(row.cpuMs),
        row.bytesShare.toFixed(2),
      ],
    ]),
  );
}
