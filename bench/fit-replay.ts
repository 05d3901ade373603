/** One session replayed step by step under an input budget: each request is counted as it would be sent. */
import { isRekindleError } from '../src/core/errors.js';
import { loadTokenizer } from '../src/core/text-tokens.js';
import { CompactionPolicy } from '../src/memory/compaction/compaction-policy.js';
import { O200kTokenCounter } from '../src/memory/compaction/token-counter.js';
import type { MemoryManager } from '../src/memory/memory-manager.js';
import { checkRequest, project } from '../src/messages/projections/project.js';
import { TARGETS } from '../src/messages/projections/targets.js';
import { BreakFloor } from './fit-floor.js';
import { openReplay, type Session, systemOf } from './fit-sessions.js';

/** Shares of the budget that a floor comes down to: nothing, the least and the aim of a compaction. */
export const FLOOR_TARGETS = [0, 0.4, 0.5];

export interface Outcome {
  requests: number;
  over: number;
  illegal: number;
  refused: number;
  /** As a share of the budget. */
  largest: number;
  steps: number;
  /** Steps before which something changed that was sent already. */
  breaks: number;
  /** Tokens of what came in. */
  tokens: number;
  readonly floor: BreakFloor;
  /** Shares of the budget that the context takes after a compaction. */
  readonly compacted: number[];
  readonly reasons: Set<string>;
}

export function noOutcome(budget: number): Outcome {
  const trigger = new CompactionPolicy().triggerTokensOf(budget);
  return {
    requests: 0,
    over: 0,
    illegal: 0,
    refused: 0,
    largest: 0,
    steps: 0,
    breaks: 0,
    tokens: 0,
    floor: new BreakFloor(
      trigger,
      FLOOR_TARGETS.map((share) => share * budget),
    ),
    compacted: [],
    reasons: new Set(),
  };
}

/** Where providers take bytes of media: they count these by their own rule, not as text. */
const MEDIA_KEYS = new Set(['data', 'url', 'image_url', 'image', 'file_data']);
const MEDIA_TOKENS = 1_500;
/** What providers encrypted or signed: about a token for four characters. */
const SEALED_KEYS = new Set(['encrypted_content', 'signature', 'thoughtSignature', 'thought_signature']);
const count = await loadTokenizer();
const counter = new O200kTokenCounter();

export async function replay(session: Session, budget: number, outcome: Outcome): Promise<void> {
  const { memory, close, tell } = await openReplay(budget, systemOf(session));
  outcome.floor.begin();
  const grew = async (from: number) => {
    const tokens = await counter.countMessages(memory.getWorkingContextMessages().slice(from));
    outcome.floor.add(tokens);
    outcome.tokens += tokens;
  };
  await grew(0);
  for (const message of session.messages) {
    if (message.role === 'assistant' && !(await request(memory, budget, session.name, outcome))) break;
    const before = memory.getWorkingContextMessages().length;
    await tell(message);
    await grew(before);
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
  outcome.floor.fit();
  try {
    const { rungs, tokens } = (await memory.fit({}))!;
    if (rungs.length > 0) outcome.breaks += 1;
    if (rungs.includes('compact')) outcome.compacted.push(tokens! / budget);
  } catch (thrown) {
    if (!isRekindleError(thrown, 'CONTEXT_TOO_LARGE')) throw thrown;
    outcome.refused += 1;
    outcome.reasons.add(`${name} at ${budget}: ${thrown.message}`);
    return false;
  }
  assess(memory, budget, name, outcome);
  return true;
}

function assess(memory: MemoryManager, budget: number, name: string, outcome: Outcome): void {
  const list = memory.getWorkingContextMessages();
  for (const target of TARGETS) {
    const { request: made } = project(target, list);
    outcome.requests += 1;
    if (checkRequest(target, made).length > 0) outcome.illegal += 1;
    const tokens = tokensOf(made, budget);
    outcome.largest = Math.max(outcome.largest, tokens / budget);
    if (tokens <= budget) continue;
    outcome.over += 1;
    outcome.reasons.add(`${name} at ${budget}: ${target} has ${tokens} tokens`);
  }
}

/** Of the JSON of a request; 0 where its bytes show that it fits. */
export function tokensOf(made: unknown, budget: number): number {
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
  if (Buffer.byteLength(json) + media * MEDIA_TOKENS + sealed <= budget) return 0;
  return count(json) + media * MEDIA_TOKENS + Math.ceil(sealed / 4);
}
