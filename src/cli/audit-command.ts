/** `rekindle audit`: starts, lists and verifies the audit log of a store. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { JsonValue } from '../core/json.js';
import { hasAuditLog } from '../storage/audit/audit-log.js';
import type { AuditRecord } from '../storage/audit/audit-record.js';
import { type AuditVerification, auditRecords, verifyAudit } from '../storage/audit/verify-audit.js';
import { recordAlways } from './audit-trail.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';
import { addSubcommand, type SubcommandOption } from './subcommand.js';

interface AuditOptions extends CommonOptions {
  readonly since?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly head?: string;
}

type AuditRun = (context: CommandContext, options: AuditOptions) => Promise<number>;

const LIST_OPTIONS: readonly SubcommandOption[] = [
  ['--since <time>', 'from this time on, such as 2027-01-31 or 2027-01-31T08:00Z'],
  ['--actor <name>', 'only of this actor, such as owner or "token 4f6e0a1b2c3d"'],
  ['--action <name>', 'only read, write, export, erase, token, authenticate or audit'],
];
const TEXT_MAX = 60;
const PROBLEMS: Readonly<Record<string, string>> = {
  changed: 'was changed',
  removed: 'is missing',
  inserted: 'was inserted',
  cut: 'and those after it are missing: the log does not contain the given head',
};

export function addAuditCommand(program: Command): void {
  const parent = program.command('audit').description('the log of who did what: start, list, verify');
  const add = (name: string, text: string, options: readonly SubcommandOption[], run: AuditRun) =>
    addSubcommand<AuditOptions>(parent, name, text, options, (_, given) =>
      runCommand(given, (context) => run(context, given)),
    );
  add('start', 'start the audit log; servers and commands write to it from then on', [], start);
  add('list', 'the recorded actions, oldest first', LIST_OPTIONS, list);
  add('verify', 'compute the chain again', [['--head <hash>', 'a head that was kept elsewhere']], verify);
}

const start: AuditRun = async ({ storage, print }) => {
  const isNew = !(await hasAuditLog(storage));
  if (isNew) await recordAlways(storage, { action: 'audit', target: 'store', what: 'audit start' });
  const text = isNew
    ? 'Started. Servers that run now must be started again.'
    : 'The store has an audit log already.';
  print([text], { started: isNew });
  return EXIT.ok;
};

const list: AuditRun = async ({ storage, print }, { since, actor, action }) => {
  const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : momentOf(since);
  const found: AuditRecord[] = [];
  for await (const record of auditRecords(storage))
    if (
      Date.parse(record.at) >= sinceMs &&
      (actor === undefined || record.actor === actor) &&
      (action === undefined || record.action === action)
    )
      found.push(record);
  const none = ['No recorded actions.'];
  print(found.length === 0 ? none : [tableOf(found)], { records: found as unknown as JsonValue });
  return EXIT.ok;
};

function tableOf(records: readonly AuditRecord[]): string {
  const head = ['no.', 'time', 'actor', 'action', 'target', 'how', 'outcome'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { seq, at, actor, action, target, what, outcome } of records)
    table.push([seq, at, ...[actor, action, target, what, outcome].map((text) => excerpt(text, TEXT_MAX))]);
  return table.toString();
}

const verify: AuditRun = async ({ storage, print }, { head }) => {
  const found = await verifyAudit(storage, head === undefined ? {} : { head });
  print(describe(found), found);
  return found.ok ? EXIT.ok : EXIT.problem;
};

function describe({ ok, records, head, problem }: AuditVerification): string[] {
  const kept = head === null ? [] : [`Head: ${head.hash} (record ${head.seq}).`];
  if (ok && head === null) return ['The store has no audit log.'];
  if (problem === null) return [`The chain of ${count(records, 'record')} is intact.`, ...kept];
  return [
    `Record ${problem.seq} ${PROBLEMS[problem.reason]}.`,
    ...kept.map((line) => `Intact before it. ${line}`),
  ];
}

/** @throws INVALID_ARGUMENT */
function momentOf(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const problem = `--since must be a time such as 2027-01-31, not ${JSON.stringify(text)}.`;
  throw new RekindleError('INVALID_ARGUMENT', problem, { details: { argument: '--since', given: text } });
}
