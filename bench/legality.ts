/**
 * What legality costs: checking and repairing 10,000 legal messages, beside a plain walk over them that reads every field; and
 * one projection to each provider.
 */
import { checkHistory, repairHistory } from '../src/messages/legality/history.js';
import type { Message } from '../src/messages/message.js';
import { project } from '../src/messages/projections/project.js';
import { TARGETS } from '../src/messages/projections/targets.js';
import { median, ms, printTable, ratio, textOfSize } from './support.js';

const MESSAGES = 10_000;
const RUNS = 60;
const WARM_UP = 10;

/** Turns of a coding agent: a question, a batch of two calls with results, an answer. */
function legalMessages(count: number): Message[] {
  const messages: Message[] = [{ role: 'system', content: 'You are a bench.' }];
  for (let turn = 0; messages.length < count; turn += 1) {
    const turnId = `turn_${String(turn).padStart(6, '0')}`;
    const ids = [`call_${turn}_a`, `call_${turn}_b`];
    const toolCalls = ids.map((id) => ({
      id,
      name: 'read_file',
      arguments: { path: `src/${id}.ts`, limit: 200 },
    }));
    const results = ids.map((id): Message => {
      const toolResult = { lines: [textOfSize(600, turn), textOfSize(300, turn + 1)], truncated: false };
      return {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: id, toolName: 'read_file', toolResult, toolError: null },
        turnId,
      };
    });
    messages.push(
      { role: 'user', content: textOfSize(200, turn), turnId },
      { role: 'assistant', content: 'Reading.', toolPayload: { toolCalls }, messageId: `m${turn}`, turnId },
      ...results,
      { role: 'assistant', content: textOfSize(800, turn + 7), messageId: `n${turn}`, turnId },
    );
  }
  return messages.slice(0, count);
}

/** Reads every field: what anything that looks at the whole list has to do. */
function plainWalk(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let sum = 0;
  if (Array.isArray(value)) for (const item of value) sum += plainWalk(item);
  else for (const key in value) sum += key.length + plainWalk((value as Record<string, unknown>)[key]);
  return sum;
}

/** Times of each, taken by turns, so that what else the machine does meets all of them alike. */
function timedByTurns(runs: ReadonlyMap<string, () => unknown>): Map<string, number> {
  const times = new Map([...runs.keys()].map((name) => [name, [] as number[]]));
  for (let round = -WARM_UP; round < RUNS; round += 1) {
    for (const [name, run] of runs) {
      const start = performance.now();
      run();
      if (round >= 0) times.get(name)!.push(performance.now() - start);
    }
  }
  return new Map([...times].map(([name, taken]) => [name, median(taken)]));
}

const messages = legalMessages(MESSAGES);
const WALK = 'plain walk that reads every field';
const runs = new Map<string, () => unknown>([
  [WALK, () => plainWalk(messages)],
  ['checkHistory', () => checkHistory(messages)],
  [
    'repairHistory',
    () => {
      if (repairHistory(messages).messages !== messages) process.exitCode = 1; // the list is legal
    },
  ],
  ...TARGETS.map((target) => [`project to ${target}`, () => project(target, messages)] as const),
]);
const times = timedByTurns(runs);
const rows = [...times].map(([name, took]) => [name, ms(took), ratio(took, times.get(WALK)!)]);
printTable(`${MESSAGES.toLocaleString('en')} legal messages`, ['', 'time', 'against the walk'], rows);
