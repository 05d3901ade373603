/** `rekindle checkpoint`: maintenance: retention, checks, keys. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import type { CheckpointService } from '../checkpoints/checkpoint-service.js';
import type { PruneReport } from '../checkpoints/maintenance/prune.js';
import type { VerifyReport } from '../checkpoints/maintenance/verify.js';
import type { SessionHead } from '../checkpoints/session/session-log.js';
import { RekindleError } from '../core/errors.js';
import { tryParseJson } from '../core/json.js';
import { checkpointPlace, checkpointsFor, lookedUp } from './checkpoint-place.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { readGiven } from './given-file.js';
import { writeNewFile } from './new-file.js';
import { startProgress } from './progress.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { addSubcommand } from './subcommand.js';
import { wholeNumber } from './value-text.js';

interface UpkeepOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly session?: string;
  readonly maxAgeDays?: string;
  readonly maxCheckpoints?: string;
  readonly graceMinutes?: string;
  readonly heads?: string;
  readonly writeHeads?: string;
  readonly mark?: boolean;
  readonly forgetOld?: boolean;
}

type UpkeepRun = (
  service: CheckpointService,
  context: CommandContext,
  options: UpkeepOptions,
) => Promise<number | undefined>;

export function addCheckpointUpkeep(parent: Command): void {
  const add = (
    usage: string,
    text: string,
    options: readonly (readonly [string, string])[],
    run: UpkeepRun,
  ) =>
    addSubcommand<UpkeepOptions>(parent, usage, text, options, (_, given) =>
      runCommand(given, async (context) => {
        const service = checkpointsFor(context);
        try {
          return await lookedUp(given, () => run(service, context, given));
        } finally {
          await service.close();
        }
      }),
    );
  add('sessions', 'the sessions and their sizes', [], sessions);
  add(
    'prune',
    'remove checkpoints beyond the limits of age and number, and unreferenced data (critical ones and the newest stay)',
    [
      ['--dry-run', 'only show what would be removed'],
      ['--session <id>', 'only this session'],
      ['--max-age-days <n>', 'instead of the configured age'],
      ['--max-checkpoints <n>', 'instead of the configured count'],
      ['--grace-minutes <n>', 'minimum age of unreferenced data to remove'],
    ],
    prune,
  );
  add(
    'verify',
    'read everything and check it (changes nothing, except with --mark)',
    [
      ['--session <id>', 'only this session'],
      ['--heads <file>', 'heads of an earlier run: check that nothing before them was removed or changed'],
      ['--write-heads <file>', 'write the current heads to a new file; store it elsewhere'],
      ['--mark', 'record which checkpoints are corrupt, and which no longer are; lists show it'],
    ],
    verify,
  );
  add(
    'rotate-key',
    'wrap the keys of all sessions with a new master key (no data is rewritten)',
    [
      [
        '--forget-old',
        'forget the old master keys; other stores and copies that need them become unreadable',
      ],
    ],
    rotate,
  );
}

const sessions: UpkeepRun = async (service, context) => {
  const [infos, stats] = [await service.sessions(), await service.stats()];
  const table = new Table({
    head: ['session', 'checkpoints', 'bytes', 'last used', ''],
    style: { head: [], border: [] },
  });
  for (const { id, checkpoints, totalSizeBytes, lastAccessedAt, encrypted } of infos)
    table.push([excerpt(id, 60), checkpoints, totalSizeBytes, lastAccessedAt, encrypted ? 'encrypted' : '']);
  const place = checkpointPlace(context);
  const ratio = stats.compressionRatio.toFixed(1);
  const sum = `${count(stats.totalSizeBytes, 'byte')} of ${count(stats.maxTotalSize, 'byte')} used in ${place}, for ${count(stats.contextSizeBytes, 'byte')} of contexts (${ratio} to 1).`;
  const lines = infos.length === 0 ? [`There are no checkpoints in ${place}.`] : [table.toString(), sum];
  context.print(lines, { sessions: infos, stats });
  return undefined;
};

const prune: UpkeepRun = async (service, { print }, options) => {
  const { dryRun = false, session, maxAgeDays, maxCheckpoints, graceMinutes } = options;
  const report = await service.prune({
    dryRun,
    ...(session === undefined ? {} : { sessionId: session }),
    ...(maxAgeDays === undefined ? {} : { maxAgeDays: positive(maxAgeDays, '--max-age-days') }),
    ...(maxCheckpoints === undefined
      ? {}
      : { maxCheckpoints: wholeNumber(maxCheckpoints, '--max-checkpoints') }),
    ...(graceMinutes === undefined
      ? {}
      : { orphanGraceMinutes: wholeNumber(graceMinutes, '--grace-minutes', 0) }),
  });
  print(describePruned(report), report);
  return report.problems.length > 0 ? EXIT.problem : undefined;
};

function describePruned({
  dryRun,
  removed,
  orphans,
  bytesBefore,
  bytesAfter,
  problems,
}: PruneReport): string[] {
  const verb = dryRun ? 'Would remove' : 'Removed';
  const freed = count(bytesBefore - bytesAfter, 'byte');
  return [
    ...removed.map(
      ({ checkpoint, why }) => `${verb} ${checkpoint.id} (${why}), saved ${checkpoint.createdAt}.`,
    ),
    removed.length === 0
      ? 'Nothing to prune.'
      : `${count(removed.length, 'checkpoint')}: ${freed} that no other uses; they go after the grace time.`,
    `${verb} ${count(orphans.blobs, 'piece')} of unreferenced data: ${count(orphans.bytes, 'byte')}.`,
    ...problems.map(({ sessionId, message }) => `Left alone: ${sessionId}: ${message}`),
  ];
}

const verify: UpkeepRun = async (service, { print, json }, { session, heads, writeHeads, mark = false }) => {
  const known = heads === undefined ? [] : await readHeads(heads);
  const progress = startProgress('Reading', !json);
  let report: VerifyReport;
  try {
    report = await service.verify({
      ...(session === undefined ? {} : { sessionId: session }),
      heads: known,
      mark,
      onProgress: (checkpoints) => progress.say(`Reading: ${count(checkpoints, 'checkpoint')}`),
    });
  } finally {
    progress.end();
  }
  print(describeVerified(report), report);
  // Heads of a damaged store would make the damage look valid.
  if (writeHeads !== undefined && report.ok)
    await writeNewFile(writeHeads, [
      `${JSON.stringify(report.heads, null, 2)}
`,
    ]);
  return report.ok ? EXIT.ok : EXIT.problem;
};

function describeVerified({ ok, checkpoints, sessions: number, problems, orphans }: VerifyReport): string[] {
  const unused = `${count(orphans.blobs, 'piece')} of unreferenced data (${count(orphans.bytes, 'byte')})`;
  return [
    `${ok ? 'ok    ' : 'NOT OK'} ${count(checkpoints, 'checkpoint')} in ${count(number, 'session')}; ${unused}`,
    ...problems.map(
      ({ sessionId, checkpointId, code, message }) =>
        `        ${checkpointId ?? sessionId}: ${message} (${code})`,
    ),
  ];
}

async function readHeads(file: string): Promise<SessionHead[]> {
  const value = tryParseJson(Buffer.from(await readGiven(file)).toString('utf8'));
  if (Array.isArray(value) && value.every(isHead)) return value as unknown as SessionHead[];
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `${file} does not contain heads. Give a file made with --write-heads.`,
    {
      details: { argument: '--heads', file },
    },
  );
}

function isHead(value: unknown): boolean {
  const { sessionId, seq, digest } = (value ?? {}) as Partial<SessionHead>;
  return typeof sessionId === 'string' && Number.isSafeInteger(seq) && typeof digest === 'string';
}

const rotate: UpkeepRun = async (service, { print }, { forgetOld = false }) => {
  const report = await service.rotateKeys({ forgetOld });
  const { master, rewrapped, sessions: number, failed } = report;
  const lines = [
    master === null
      ? 'Nothing to do: no session is encrypted, and there is no master key.'
      : `Master key ${master}: ${count(rewrapped, 'key')} of ${count(number, 'session')} rewrapped.`,
    ...failed.map(({ sessionId, message }) => `Not changed: ${sessionId}: ${message}`),
    ...(failed.length > 0 && forgetOld
      ? ['The old master keys were kept, because these sessions still need them.']
      : []),
  ];
  print(lines, report);
  return failed.length > 0 ? EXIT.problem : undefined;
};

/** @throws INVALID_ARGUMENT */
function positive(text: string, name: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `${name} must be a number above 0, not ${JSON.stringify(text)}.`,
    {
      details: { argument: name, given: text },
    },
  );
}
