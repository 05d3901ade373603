/**
 * A context that fits: real sessions under small input budgets, one long turn, steps that do nothing, and names that are needed later.
 *
 *     npx tsx bench/fit.ts [--budgets 8000,16000] [--only text] [--limit sessions] [--all]
 *
 * Sessions come from the corpus beside the repository; where it is not there, their rows are left out. `--all` replays every session
 * at 8,000, 16,000, 32,000 and 128,000 tokens; without it, the first 20 sessions at 16,000.
 */
import { namesKept, noNames } from './fit-names.js';
import { FLOOR_TARGETS, noOutcome, replay } from './fit-replay.js';
import { type Session, sessions } from './fit-sessions.js';
import { idleStep, longTurn } from './fit-turn.js';
import { ms, printTable, quantile } from './support.js';

const argument = (name: string, otherwise: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1]!;
};
const IS_ALL = process.argv.includes('--all');
const BUDGETS = argument('budgets', IS_ALL ? '8000,16000,32000,128000' : '16000')
  .split(',')
  .map(Number);
const LIMIT = Number(argument('limit', IS_ALL ? '1000' : '20'));
const BUDGET = 16_000;
const WANTED_BREAKS = 3;

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
const spread = (values: readonly number[]) =>
  [0.05, 0.5, 0.95].map((share) => quantile(values, share).toFixed(2)).join(' ');

async function replayTables(all: readonly Session[]): Promise<void> {
  const rows: (string | number)[][] = [];
  const breaks: (string | number)[][] = [];
  for (const budget of BUDGETS) {
    const outcome = noOutcome(budget);
    for (const session of all) await replay(session, budget, outcome);
    const { requests, over, illegal, refused, largest, steps, tokens, floor, compacted, reasons } = outcome;
    rows.push([budget, all.length, requests, over, illegal, refused, largest.toFixed(2), spread(compacted)]);
    const per100 = (count: number) => ((100 * count) / steps).toFixed(1);
    const bySize = tokens / (budget * (0.8 - 0.5)); // steps x tokens of a step
    const floors = floor.breaks.map(per100);
    breaks.push([
      budget,
      steps,
      Math.round(tokens / steps),
      per100(outcome.breaks),
      per100(bySize),
      ...floors,
    ]);
    for (const reason of [...reasons].slice(0, 20)) console.log(reason);
  }
  printTable(
    'Sessions replayed step by step, each request for five targets (wanted: none over, none illegal; after a compaction 0.40 to 0.60)',
    ['budget', 'sessions', 'requests', 'over', 'illegal', 'refused', 'largest', 'compacted: p5 p50 p95'],
    rows,
  );
  printTable(
    `Prefix breaks in 100 steps (wanted: ${WANTED_BREAKS}) beside what the sizes of the steps allow: steps x tokens / (budget x 0.3), and the replay with a ladder that comes down to exactly a share`,
    [
      'budget',
      'steps',
      'tokens/step',
      'breaks',
      'by size',
      ...FLOOR_TARGETS.map((share) => `down to ${share}`),
    ],
    breaks,
  );
}

async function namesTable(all: readonly Session[]): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const atOnce of [true, false]) {
    const kept = noNames();
    for (const session of all) await namesKept(session, BUDGET, atOnce, kept);
    rows.push([
      atOnce ? 'once, at the cut' : 'at each step',
      kept.bySession.length,
      kept.needed,
      percent(kept.newestOnly / kept.needed),
      percent(kept.inContext / kept.needed),
      percent(quantile(kept.bySession, 0.5)),
      percent(kept.broughtBack / Math.max(1, kept.gone)),
      spread(kept.sizes),
    ]);
  }
  printTable(
    `Names that the calls of the last 40 % use and that were said before, at ${BUDGET} (wanted: 92 %, and 98 % of the others brought back)`,
    [
      'made to fit',
      'sessions',
      'names',
      'newest messages, whole budget',
      'in the context',
      'median session',
      'of those gone: brought back',
      'size: p5 p50 p95',
    ],
    rows,
  );
}

async function turnTables(): Promise<void> {
  const { largest, after, unfitted, longestHoldMs } = await longTurn(BUDGET);
  printTable(
    `300 calls of 1 to 200 KB in one turn, at ${BUDGET}`,
    ['largest request', 'after the turn', 'baseline: nothing made smaller', 'longest hold, ms'],
    [[largest, after, unfitted, ms(longestHoldMs)]],
  );
  const rows: (string | number)[][] = [];
  for (const messages of [100, 1_000, 10_000, 100_000]) {
    const { p50Ms, p95Ms, recountMs, longestHoldMs: hold } = await idleStep(messages);
    rows.push([messages, p50Ms.toFixed(4), p95Ms.toFixed(4), ms(recountMs), ms(hold)]);
  }
  printTable(
    'A step at which nothing has to be done, ms (wanted: 0.1, flat; no hold above 20)',
    ['messages', 'p50', 'p95', 'baseline: all looked at', 'longest hold'],
    rows,
  );
}

const all = await sessions(argument('only', ''), LIMIT);
if (all.length === 0) console.log('The corpus is not here: nothing to replay.');
await turnTables();
if (all.length > 0) {
  await replayTables(all);
  await namesTable(IS_ALL ? all : await sessions(argument('only', ''), 1_000));
}
