/**
 * A context that fits: real sessions replayed step by step under small input budgets, each request counted as it would be sent.
 *
 *     npx tsx bench/fit.ts [--budgets 8000,16000] [--only text] [--limit sessions]
 *
 * Counts with the o200k tokenizer over the JSON of the request. Skipped where the corpus is not there.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRekindleError } from '../src/core/errors.js';
import { loadTokenizer } from '../src/core/text-tokens.js';
import type { MemoryManager } from '../src/memory/memory-manager.js';
import { openMemory } from '../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { contextOf, openTranscript } from '../src/messages/importers/read-transcript.js';
import { folderOf, sourceOf } from '../src/messages/importers/source.js';
import { repairHistory } from '../src/messages/legality/history.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../src/messages/message.js';
import { checkRequest, project } from '../src/messages/projections/project.js';
import { TARGETS } from '../src/messages/projections/targets.js';
import { MemoryStorage } from '../src/storage/memory/memory-storage.js';
import { printTable, quantile } from './support.js';

const CORPUS = fileURLToPath(new URL('../../shared/corpus/', import.meta.url));
const FOLDERS = [
  'claude-code',
  'codex-rollout',
  'gemini-cli',
  'pi',
  'opencode',
  'cline',
  'openai-chat',
  'swe-agent',
  'inspect-ai',
];
const argument = (name: string, otherwise: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1]!;
};
const BUDGETS = argument('budgets', '8000,16000,32000,128000').split(',').map(Number);
const ONLY = argument('only', '');
const LIMIT = Number(argument('limit', '1000'));

interface Session {
  readonly name: string;
  readonly messages: readonly Message[];
}

async function sessions(): Promise<Session[]> {
  const found: Session[] = [];
  for (const folder of FOLDERS) {
    const base = path.join(CORPUS, folder);
    if (!existsSync(base)) continue;
    for (const name of readdirSync(base)) {
      if (!`${folder}/${name}`.includes(ONLY)) continue;
      const source = sourceAt(path.join(base, name), name);
      const messages = await openTranscript(source)
        .then(contextOf)
        .catch(() => []);
      const legal = repairHistory(messages).messages;
      if (legal.length >= 10) found.push({ name: `${folder}/${name}`, messages: legal });
    }
  }
  return found.slice(0, LIMIT);
}

function sourceAt(full: string, name: string) {
  if (statSync(full).isFile()) return sourceOf(readFileSync(full), name);
  const files = readdirSync(full, { recursive: true, encoding: 'utf8' })
    .filter((inner) => statSync(path.join(full, inner)).isFile())
    .map((inner) => sourceOf(readFileSync(path.join(full, inner)), inner));
  return folderOf(files, name);
}

interface Outcome {
  requests: number;
  over: number;
  illegal: number;
  refused: number;
  largest: number;
  steps: number;
  breaks: number;
  readonly after: number[];
  readonly reasons: Set<string>;
}

/** Where providers take bytes of media: they count these by their own rule, not as text. */
const MEDIA_KEYS = new Set(['data', 'url', 'image_url', 'image', 'file_data']);
const MEDIA_TOKENS = 1_500;
/** What providers encrypted or signed: about a token for four characters. */
const SEALED_KEYS = new Set(['encrypted_content', 'signature', 'thoughtSignature', 'thought_signature']);
const count = await loadTokenizer();

async function replay({ messages, name }: Session, budget: number, outcome: Outcome): Promise<void> {
  const backend = new MemoryStorage();
  const { memory, close } = await openMemory(backend, 'a', { compaction: { inputBudgetTokens: budget } });
  const system = messages[0]?.role === 'system' ? (messages[0].content ?? '') : '';
  await new WorkingContextSnapshotBootstrapper().bootstrap(memory, system.slice(0, budget));
  memory.events.on('context_fitted', ({ tokensAfter }) => {
    outcome.breaks += 1;
    outcome.after.push(tokensAfter / budget);
  });
  memory.events.on('compacted', ({ tokensAfter }) => {
    outcome.breaks += 1;
    outcome.after.push(tokensAfter / budget);
  });
  let turnId = memory.startTurn();
  for (const message of messages) {
    if (message.role === 'user') {
      turnId = memory.startTurn();
      await memory.ingestUserMessage(
        { parts: message.parts ?? [{ type: 'text', text: textOf(message) }] },
        turnId,
      );
    } else if (message.role === 'assistant') {
      if (!(await request(memory, budget, name, outcome))) break;
      await memory.ingestAssistantResponse(
        {
          content: message.content,
          ...(message.parts ? { parts: message.parts } : {}),
          ...(message.reasoning ? { reasoning: message.reasoning } : {}),
          ...(message.origin ? { origin: message.origin } : {}),
          toolCalls: toolCallsOf(message),
          final: false,
        },
        turnId,
      );
    } else {
      const result = toolResultOf(message);
      if (!result) continue;
      await memory.ingestToolResults(
        [
          {
            callId: result.toolCallId,
            toolName: result.toolName,
            result: result.toolResult,
            error: result.toolError,
            ...(message.parts ? { parts: message.parts } : {}),
          },
        ],
        turnId,
      );
    }
  }
  await close();
}

/** False when the request is refused because it cannot fit. */
async function request(
  memory: MemoryManager,
  budget: number,
  name: string,
  outcome: Outcome,
): Promise<boolean> {
  outcome.steps += 1;
  try {
    await memory.fit({});
  } catch (thrown) {
    if (!isRekindleError(thrown, 'CONTEXT_TOO_LARGE')) throw thrown;
    outcome.refused += 1;
    outcome.reasons.add(`${name} at ${budget}: ${thrown.message}`);
    return false;
  }
  const list = memory.getWorkingContextMessages();
  for (const target of TARGETS) {
    const { request: made } = project(target, list);
    outcome.requests += 1;
    let media = 0;
    let sealed = 0;
    const json = JSON.stringify(made, (key, value: unknown) => {
      if (typeof value !== 'string') return value;
      const isSealed = SEALED_KEYS.has(key);
      if (!isSealed && !(MEDIA_KEYS.has(key) && value.length >= 1_000)) return value;
      if (isSealed) sealed += value.length;
      else media += 1;
      return '';
    });
    if (checkRequest(target, made).length > 0) outcome.illegal += 1;
    if (Buffer.byteLength(json) + media * MEDIA_TOKENS + sealed <= budget) continue;
    const tokens = count(json) + media * MEDIA_TOKENS + Math.ceil(sealed / 4);
    outcome.largest = Math.max(outcome.largest, tokens / budget);
    if (tokens > budget) {
      outcome.over += 1;
      outcome.reasons.add(`${name} at ${budget}: ${target} has ${tokens} tokens`);
    }
  }
  return true;
}

const all = await sessions();
if (all.length === 0) console.log('The corpus is not here: nothing to replay.');
const rows: (string | number)[][] = [];
for (const budget of BUDGETS) {
  const outcome: Outcome = {
    requests: 0,
    over: 0,
    illegal: 0,
    refused: 0,
    largest: 0,
    steps: 0,
    breaks: 0,
    after: [],
    reasons: new Set(),
  };
  for (const session of all) await replay(session, budget, outcome);
  rows.push([
    budget,
    all.length,
    outcome.requests,
    outcome.over,
    outcome.illegal,
    outcome.refused,
    outcome.largest.toFixed(2),
    ((100 * outcome.breaks) / outcome.steps).toFixed(1),
    [0.05, 0.5, 0.95].map((share) => quantile(outcome.after, share).toFixed(2)).join(' '),
  ]);
  for (const reason of [...outcome.reasons].slice(0, 20)) console.log(reason);
}
printTable(
  'Sessions replayed step by step',
  [
    'budget',
    'sessions',
    'requests',
    'over',
    'illegal',
    'refused',
    'largest',
    'breaks/100',
    'after: p5 p50 p95',
  ],
  rows,
);
