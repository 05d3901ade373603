/** `rekindle workspace plan`: the current plan of the workspace, and earlier ones. */
import Table from 'cli-table3';
import { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import { Plans } from '../workspace/plans.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { readGiven } from './given-file.js';
import { excerpt } from './safe-text.js';
import { addSubcommand } from './subcommand.js';
import { readStdinBytes } from './value-text.js';

interface PlanOptions extends CommonOptions {
  readonly label?: string;
}

type PlanRun = (
  plans: Plans,
  context: CommandContext,
  args: readonly string[],
  options: PlanOptions,
) => Promise<void>;

export function addWorkspacePlan(parent: Command): void {
  const plan = new Command('plan')
    .copyInheritedSettings(parent)
    .description('the current plan in Markdown, and the archive: list, show, write, archive');
  parent.addCommand(plan);
  const add = (usage: string, text: string, options: readonly (readonly [string, string])[], run: PlanRun) =>
    addSubcommand<PlanOptions>(plan, usage, text, options, (args, given) =>
      runCommand(given, async (context) => {
        const plans = new Plans(context.storage, ['workspace']);
        try {
          await run(plans, context, args, given);
          return undefined;
        } finally {
          await plans.close();
        }
      }),
    );
  add('list', 'the archived plans, oldest first, and the current one', [], list);
  add('show [name]', 'the current plan, or one of the archive', [], show);
  add('write [file]', 'replace the current plan from a file (default: standard input)', [], write);
  add(
    'archive',
    'end the current plan: move it to the archive',
    [['--label <text>', 'a short name for it there (default: plan)']],
    archive,
  );
}

const list: PlanRun = async (plans, { print }) => {
  const [archived, current] = [await plans.archived(), await plans.current()];
  const table = new Table({ head: ['plan', 'status'], style: { head: [], border: [] } });
  for (const name of archived) table.push([excerpt(name, 120), 'archived']);
  if (current !== null) table.push([excerpt(titleOf(current), 120), 'current']);
  const none = ['No plans here.', 'Write one with: rekindle workspace plan write FILE'];
  const isEmpty = archived.length === 0 && current === null;
  print(isEmpty ? none : [table.toString()], { current: current !== null, archived });
};

/** The first line with text in it, without the marks of a heading. */
function titleOf(plan: string): string {
  const line = plan.split('\n').find((one) => one.trim() !== '') ?? '(empty)';
  return line.replace(/^[#\s]+/, '') || line;
}

const show: PlanRun = async (plans, { print }, [name]) => {
  const text = name === undefined ? await plans.current() : await plans.read(name);
  if (text === null) throw planNotFound(name ?? null);
  print([text.replace(/\n$/, '')], { name: name ?? null, text });
};

const write: PlanRun = async (plans, { print }, [file]) => {
  const text = textOf(file === undefined ? await readStdinBytes() : await readGiven(file), file);
  const archived = await plans.write(text);
  const before = archived === null ? [] : [`The plan before is ${archived} in the archive.`];
  print(['The current plan is written.', ...before], { archived });
};

/** @throws INVALID_ARGUMENT for bytes that are not text: they would not come back as they were */
function textOf(bytes: Uint8Array, file: string | undefined): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const what = file === undefined ? 'The standard input' : file;
    throw new RekindleError('INVALID_ARGUMENT', `${what} is not text in UTF-8.`, {
      details: { argument: 'file' },
      cause,
    });
  }
}

const archive: PlanRun = async (plans, { print }, _, { label }) => {
  const name = await plans.archive(label);
  if (name === null) throw planNotFound(null);
  print([`The plan is archived as ${name}.`], { archived: name });
};

function planNotFound(name: string | null): RekindleError {
  const text =
    name === null ? 'There is no current plan.' : `There is no plan ${JSON.stringify(name)} in the archive.`;
  return new RekindleError('ENTRY_NOT_FOUND', text, { details: { name } });
}
