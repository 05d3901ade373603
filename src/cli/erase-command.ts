/** `rekindle erase`: permanently erases an agent or a part of it, a session or a thread. Shows first what would be erased. */
import type { Command } from 'commander';
import { erase, resumeErasures } from '../agent/erasure/erase.js';
import { RekindleError } from '../core/errors.js';
import { type ErasureTarget, targetText, unfinishedErasures } from '../storage/erasure/erasure-marker.js';
import type { ErasureReport } from '../storage/erasure/erasure-report.js';
import type { StorageBackend } from '../storage/ports.js';
import { storeParts } from '../storage/tenants/store-parts.js';
import { recordCommand } from './audit-trail.js';
import { type CommandContext, type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { count } from './report-text.js';
import { safeText } from './safe-text.js';
import { searchStore, type TextPlace } from './search-store.js';

interface EraseOptions extends CommonOptions {
  readonly agent?: string;
  readonly turn?: string;
  readonly message?: string;
  readonly source?: string;
  readonly session?: string;
  readonly thread?: string;
  readonly resume?: boolean;
  readonly verify?: readonly string[];
  readonly keepForks?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function addEraseCommand(program: Command): void {
  withCommonOptions(
    program
      .command('erase')
      .description(
        'permanently erase an agent or a part of it, a session or a thread (without --yes: only show what would be erased)',
      )
      .option('--agent <id>', 'all data of this agent, or the part that a further option names')
      .option('--turn <number>', 'with --agent: only this turn, and what was made from it')
      .option(
        '--message <record>',
        'with --agent: only this record of `rekindle search`, with its calls and results',
      )
      .option('--source <source>', 'with --agent: only what came from tool:NAME, tool or import')
      .option('--session <id>', 'a root session of shared state with its children, and its checkpoints')
      .option('--thread <id>', 'a thread of LangGraph, or a session of the OpenAI Agents SDK')
      .option('--keep-forks', 'erase although forks of the agent keep copies')
      .option('--dry-run', 'only show what would be erased')
      .option('--yes', 'erase it')
      .option('--resume', 'finish interrupted erasures')
      .option('--verify <text...>', 'look for texts in the bytes of the store'),
  ).action((options: EraseOptions) => runCommand(options, (context) => run(context, options)));
}

async function run(context: CommandContext, options: EraseOptions): Promise<number> {
  const { storage, print } = context;
  const wanted = given(options);
  if (wanted === 'verify') return verify(context, options.verify!);
  if (wanted === 'resume') {
    const reports: ErasureReport[] = [];
    for (const { storage: part } of await storeParts(storage)) {
      for (const { target } of await unfinishedErasures(part))
        await recordErasure(part, target, 'erase --resume');
      reports.push(...(await resumeErasures(part)));
    }
    const none = ['No erasure was interrupted.'];
    print(reports.length === 0 ? none : reports.flatMap(describe), { erasures: reports });
    return EXIT.ok;
  }
  const isDry = options.dryRun === true || options.yes !== true;
  if (!isDry) await recordErasure(storage, wanted, 'erase');
  const report = await erase(storage, wanted, {
    dryRun: isDry,
    keepForks: options.keepForks ?? false,
  });
  const isUnconfirmed = isDry && options.dryRun !== true;
  print([...describe(report), ...(isUnconfirmed ? ['To erase it, add --yes.'] : [])], report);
  return isUnconfirmed ? EXIT.unconfirmed : EXIT.ok;
}

async function recordErasure(storage: StorageBackend, target: ErasureTarget, what: string): Promise<void> {
  const named = Object.entries(target).map(([kind, id]) => `${kind} ${id}`);
  await recordCommand(storage, { action: 'erase', target: named.join(' '), what });
}

/** @throws INVALID_ARGUMENT unless exactly one target is given */
function given(options: EraseOptions): ErasureTarget | 'verify' | 'resume' {
  const { agent, session, thread, resume, verify: texts } = options;
  const parts = partsIn(options);
  const wanted: (ErasureTarget | 'verify' | 'resume')[] = [
    ...(agent === undefined ? [] : [{ agent, ...parts } as ErasureTarget]),
    ...(session === undefined ? [] : [{ session }]),
    ...(thread === undefined ? [] : [{ thread }]),
    ...(resume ? ['resume' as const] : []),
    ...(texts?.some((text) => text !== '') ? ['verify' as const] : []),
  ];
  const isPart = Object.keys(parts).length > 0;
  if (wanted.length === 1 && (!isPart || agent !== undefined)) return wanted[0]!;
  const names = '--agent (with --turn, --message or --source), --session, --thread, --resume or --verify';
  throw new RekindleError('INVALID_ARGUMENT', `Give one of ${names}.`, { details: { argument: names } });
}

/** The library refuses more than one. @throws INVALID_ARGUMENT */
function partsIn({ turn, message, source }: EraseOptions): Record<string, number | string> {
  return {
    ...(turn === undefined ? {} : { turn: /^\d+$/.test(turn) ? Number(turn) : turn }),
    ...(message === undefined ? {} : { message: Number(message) }),
    ...(source === undefined ? {} : { source }),
  };
}

/** Prints the places, and of several texts which one is there by its position: the texts themselves may be secret. */
async function verify({ storage, print }: CommandContext, texts: readonly string[]): Promise<number> {
  const found: (TextPlace & { readonly text: number })[] = [];
  for (const [index, text] of texts.entries())
    for (const place of text === '' ? [] : await searchStore(storage, text))
      found.push({ ...place, text: index + 1 });
  const which = (text: number) => (texts.length === 1 ? 'found' : `text ${text} found`);
  const lines = found.map(
    ({ place, as, text }) => `${place}: ${which(text)}${as === 'json' ? ', with JSON escapes' : ''}.`,
  );
  const none =
    texts.length === 1 ? 'The text was not found in the store.' : 'No text was found in the store.';
  print(lines.length === 0 ? [none] : lines, { found });
  return found.length === 0 ? EXIT.ok : EXIT.problem;
}

function describe(report: ErasureReport): string[] {
  const { target, dryRun, resumed, places, before, after } = report;
  const lines = places.map((place) => `  ${place.place} (${place.kind}): ${amount(place.before)}`);
  if (dryRun) return [`Would erase the ${safeText(targetText(target))}: ${amount(before)}.`, ...lines];
  const how = resumed ? ', which had been interrupted' : '';
  return [
    `Erased the ${safeText(targetText(target))}${how}: ${amount(before)}; ${amount(after!)} left.`,
    ...lines,
  ];
}

function amount({ items, bytes }: { readonly items: number; readonly bytes: number }): string {
  return `${count(items, 'item')}, ${count(bytes, 'byte')}`;
}
