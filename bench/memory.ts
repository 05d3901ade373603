/**
 * Memory that answers: public conversations go in turn by turn, compactions happen under a small input budget, and each question is the
 * next user message of a fork. A question counts where its whole evidence stands in the request.
 *
 *     npx tsx bench/memory.ts [--recall 1000,2000,4000,8000] [--every 1] [--embedder FILE]
 *
 * The input budget is twice what recall may take. Four characters count as a token, in the text of the whole request. Skipped where the
 * data set is not there: it may be used for measuring only and is no part of the project. `--embedder` names a module whose default
 * export is an `Embedder`: a sentence model is no part of the project either.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openWorkingContext } from '../src/agent/context/open-working-context.js';
import type { WorkingContext } from '../src/agent/context/working-context.js';
import { copyAgent } from '../src/memory/maintenance/copy-agent.js';
import type { Embedder } from '../src/memory/recall/embedder.js';
import { textOf } from '../src/messages/message.js';
import { MemoryStorage } from '../src/storage/memory/memory-storage.js';
import { printTable, quantile } from './support.js';

const argument = (name: string, otherwise: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1]!;
};
const DATA = argument(
  'data',
  fileURLToPath(new URL('../../shared/corpus/memory-qa/locomo-half.json', import.meta.url)),
);
const SIZES = argument('recall', '1000,2000,4000,8000').split(',').map(Number);
const EVERY = Number(argument('every', '1'));
const ONLY = Number(argument('conversations', '100'));
const EMBEDDER = argument('embedder', '');
const embedder: Embedder | null =
  EMBEDDER === '' ? null : (await import(pathToFileURL(path.resolve(EMBEDDER)).href)).default;
const CHARS_A_TOKEN = 4;
const RULE = 'Always call me by my nickname, Bee.';
const AGENT = 'a';

interface Said {
  readonly id: string;
  readonly speaker: string;
  readonly text: string;
}

interface RawConversation {
  readonly sample_id: string;
  /** Sessions, their times and the names of the speakers, by key. */
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly qa: readonly { readonly question: string; readonly evidence?: readonly string[] }[];
}

interface Conversation {
  readonly name: string;
  readonly sessions: readonly { readonly atMs: number; readonly said: readonly Said[] }[];
  readonly questions: readonly { readonly text: string; readonly evidence: readonly string[] }[];
}

function conversations(): Conversation[] {
  const raw = JSON.parse(readFileSync(DATA, 'utf8')) as RawConversation[];
  return raw.slice(0, ONLY).map(({ sample_id: name, conversation, qa }) => {
    const sessions: { atMs: number; said: Said[] }[] = [];
    for (let number = 1; conversation[`session_${number}`]; number += 1) {
      const turns = conversation[`session_${number}`] as Record<'dia_id' | 'speaker' | 'text', string>[];
      const said = turns.map(({ dia_id: id, speaker, text }) => ({ id, speaker, text }));
      sessions.push({ atMs: momentOf(String(conversation[`session_${number}_date_time`])), said });
    }
    const ids = new Set(sessions.flatMap(({ said }) => said.map(({ id }) => id)));
    const questions = qa
      .map(({ question, evidence = [] }) => ({
        text: question,
        evidence: evidence.filter((id) => ids.has(id)),
      }))
      .filter(({ evidence }) => evidence.length > 0);
    return { name, sessions, questions };
  });
}

/** `1:56 pm on 8 May, 2023`, as UTC. */
function momentOf(text: string): number {
  const [, hour, minute, half, day] = /(\d+):(\d+) (am|pm) on (.*)/.exec(text)!;
  const hours = (Number(hour) % 12) + (half === 'pm' ? 12 : 0);
  return Date.parse(`${day} UTC`) + (hours * 60 + Number(minute)) * 60_000;
}

interface Row {
  questions: number;
  answered: number;
  largest: number;
  over: number;
  lostRules: number;
  lostRequests: number;
  recallMs: number[];
}

const optionsFor = (storage: MemoryStorage, recall: number | null, nowMs: () => number) => ({
  agentId: AGENT,
  storage,
  memory: {
    compaction: { inputBudgetTokens: (recall ?? 0) * 2 },
    recall:
      recall === null
        ? null
        : { tokens: recall, ...(embedder ? { embedder, embedderTimeoutMs: 60_000 } : {}) },
    clock: { nowMs },
  },
});

async function ingest(
  conversation: Conversation,
  recall: number,
): Promise<{ storage: MemoryStorage; endMs: number }> {
  const storage = new MemoryStorage();
  let nowMs = conversation.sessions[0]!.atMs;
  const ctx = await openWorkingContext({
    ...optionsFor(storage, recall, () => nowMs),
    system: 'You remember what you are told.',
  });
  await ctx.beginTurn({ text: RULE, pinned: true });
  await ctx.endTurn([{ role: 'assistant', content: 'Yes, Bee.' }]);
  for (const { atMs, said } of conversation.sessions) {
    nowMs = Math.max(nowMs, atMs);
    for (let at = 0; at < said.length; at += 2) {
      nowMs += 30_000;
      const [asked, answer] = [said[at]!, said[at + 1]];
      await ctx.beginTurn(`${asked.speaker}: ${asked.text}`);
      const content = answer ? `${answer.speaker}: ${answer.text}` : 'I see.';
      await ctx.endTurn([{ role: 'assistant', content }]);
    }
  }
  await ctx.close();
  return { storage, endMs: nowMs };
}

async function ask(ctx: WorkingContext, question: string, budget: number): Promise<string> {
  await ctx.beginTurn(question);
  await ctx.requestFor('openai-chat', { budget: { inputBudgetTokens: budget } });
  return ctx.messages.map(textOf).join('\n');
}

async function measure(recall: number): Promise<Row> {
  const row: Row = {
    questions: 0,
    answered: 0,
    largest: 0,
    over: 0,
    lostRules: 0,
    lostRequests: 0,
    recallMs: [],
  };
  for (const conversation of conversations()) {
    const { storage, endMs } = await ingest(conversation, recall);
    const texts = new Map(
      conversation.sessions.flatMap(({ said }) => said.map(({ id, text }) => [id, text])),
    );
    for (const [index, question] of conversation.questions.entries()) {
      if (index % EVERY !== 0) continue;
      const fork = new MemoryStorage();
      await copyAgent(storage, fork, AGENT);
      await copyVectors(storage, fork);
      const ctx = await openWorkingContext(optionsFor(fork, recall, () => endMs + 3_600_000));
      const started = performance.now();
      const request = await ask(ctx, question.text, recall * 2);
      row.recallMs.push(performance.now() - started);
      await ctx.close();
      const size = request.length / CHARS_A_TOKEN / (recall * 2);
      row.questions += 1;
      row.largest = Math.max(row.largest, size);
      row.over += size > 1 ? 1 : 0;
      row.lostRules += request.includes(RULE) ? 0 : 1;
      row.lostRequests += request.includes(question.text) ? 0 : 1;
      const flat = flattened(request);
      const missing = question.evidence.filter((id) => !flat.includes(flattened(texts.get(id)!)));
      row.answered += missing.length === 0 ? 1 : 0;
      if (missing.length > 0 && process.argv.includes('--misses'))
        console.log(
          conversation.name,
          question.text,
          missing.map((id) => texts.get(id)),
        );
    }
  }
  return row;
}

/** A copy leaves caches out. Making all vectors for each question would measure the model only. */
async function copyVectors(from: MemoryStorage, to: MemoryStorage): Promise<void> {
  const folder = ['agents', AGENT, 'recall'];
  for (const name of (await from.documents.list(folder)).filter((file) => file.endsWith('.vec'))) {
    const bytes = await from.documents.readBytes([...folder, name]);
    await to.documents.writeBytes([...folder, name], bytes!);
  }
}

/** Line ends and escapes are how a text is quoted, not what it says. */
function flattened(text: string): string {
  return text
    .replace(/\\"/g, '"')
    .replace(/\n>? ?/g, ' ')
    .replace(/\s+/g, ' ');
}

async function main(): Promise<void> {
  if (!existsSync(DATA)) {
    console.log('The data set is not here: nothing is measured.');
    return;
  }
  const rows: string[][] = [];
  for (const recall of SIZES) {
    const row = await measure(recall);
    rows.push([
      String(recall),
      String(row.questions),
      `${((100 * row.answered) / row.questions).toFixed(1)} %`,
      row.largest.toFixed(2),
      String(row.over),
      String(row.lostRules),
      String(row.lostRequests),
      `${quantile(row.recallMs, 0.5).toFixed(1)} / ${quantile(row.recallMs, 0.99).toFixed(1)}`,
    ]);
  }
  printTable(
    'Whole evidence in the request (the input budget is twice what recall may take)',
    [
      'recall tokens',
      'questions',
      'whole evidence',
      'largest request',
      'over',
      'rules lost',
      'requests lost',
      'ms p50 / p99',
    ],
    rows,
  );
}

await main();
