/** `rekindle token`: tokens for the server with access to a part of the store. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { JsonValue } from '../core/json.js';
import type { TokenScope } from '../server/access/principal.js';
import { type NewToken, TokenBook } from '../server/access/token-book.js';
import { SharedSessions } from '../state/shared/shared-sessions.js';
import { recordCommand } from './audit-trail.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { excerpt } from './safe-text.js';
import { addSubcommand, type SubcommandOption } from './subcommand.js';

interface TokenOptions extends CommonOptions {
  readonly agent?: readonly string[];
  readonly root?: readonly string[];
  readonly session?: string;
  readonly everything?: boolean;
  readonly read?: boolean;
  readonly expires?: string;
}

type TokenRun = (
  book: TokenBook,
  context: CommandContext,
  args: readonly string[],
  options: TokenOptions,
) => Promise<void>;

const CREATE_OPTIONS: readonly SubcommandOption[] = [
  ['--agent <id>', 'access to this agent: its memory, checkpoints and tools (repeatable)', 'repeated'],
  ['--root <id>', 'access to this root session, its children and their state (repeatable)', 'repeated'],
  ['--session <id>', 'act as this session, with access to its root'],
  ['--everything', 'access to all agents and sessions'],
  ['--read', 'read-only access'],
  ['--expires <when>', 'expiry, such as 30d, 12h or 2027-01-31 (default: never)'],
];
const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 },
};
const SHOWN_ONCE =
  'It is shown only once, because the store contains only its digest. Running servers accept it at once.';

export function addTokenCommand(program: Command): void {
  const parent = program
    .command('token')
    .description('tokens for the server with access to a part of the store: create, list, revoke, rotate');
  const add = (usage: string, text: string, options: readonly SubcommandOption[], run: TokenRun) =>
    addSubcommand<TokenOptions>(parent, usage, text, options, (args, given) =>
      runCommand(given, async (context) => {
        await run(new TokenBook(context.storage), context, args, given);
        return undefined;
      }),
    );
  add('create', 'a new token for an agent, a session or everything', CREATE_OPTIONS, create);
  add('list', 'the tokens, oldest first, without their secrets', [], list);
  add('revoke <id>', 'revoke a token; running servers refuse it within a second', [], revoke);
  add('rotate <id>', 'replace a token by a new one with the same scope and expiry', [], rotate);
}

const create: TokenRun = async (book, context, _, options) => {
  const scope = await scopeOf(context, options);
  const expiresMs = options.expires === undefined ? null : momentOf(options.expires);
  await showRecorded(book, context, await book.create(scope, expiresMs), 'token create');
};

const list: TokenRun = async (book, { print }) => {
  const tokens = await book.list();
  const table = new Table({
    head: ['token', 'agents', 'root sessions', 'acts as', 'may', 'ends'],
    style: { head: [], border: [] },
  });
  for (const { id, agents, roots, session, mayWrite, expiresAt, hasExpired } of tokens)
    table.push([
      ...[
        id,
        namesOf(agents),
        namesOf(roots),
        excerpt(session ?? '-', 40),
        mayWrite ? 'read, write' : 'read',
      ],
      `${expiresAt ?? 'never'}${hasExpired ? ' (expired)' : ''}`,
    ]);
  const none = ['No tokens except that of the server.', 'Create one with: rekindle token create --agent ID'];
  print(tokens.length === 0 ? none : [table.toString()], { tokens: tokens as unknown as JsonValue });
};

const revoke: TokenRun = async (book, { storage, print }, [id = '']) => {
  await recordCommand(storage, { action: 'token', target: `token ${id}`, what: 'token revoke' });
  await book.revoke(id);
  print([`Revoked ${excerpt(id, 40)}. Running servers refuse it within a second.`], { revoked: id });
};

const rotate: TokenRun = async (book, context, [id = '']) => {
  await recordCommand(context.storage, { action: 'token', target: `token ${id}`, what: 'token rotate' });
  await showRecorded(book, context, await book.rotate(id), 'token rotate');
};

/** The id is known only now. A token that cannot be recorded ends before anyone has seen it. */
async function showRecorded(
  book: TokenBook,
  context: CommandContext,
  made: NewToken,
  what: string,
): Promise<void> {
  try {
    await recordCommand(context.storage, { action: 'token', target: `token ${made.id}`, what });
  } catch (thrown) {
    await book.revoke(made.id);
    throw thrown;
  }
  show(context, made);
}

function show({ print }: CommandContext, made: NewToken): void {
  const { agents, roots, session, mayWrite, expiresAt } = made;
  const may = mayWrite ? 'reads and writes' : 'reads';
  const actor = session === null ? '' : `, and acts as ${excerpt(session, 40)}`;
  const lines = [
    `Token: ${made.token}`,
    `It ${may} agents: ${namesOf(agents)}; root sessions: ${namesOf(roots)}${actor}. It ends: ${expiresAt ?? 'never'}.`,
    SHOWN_ONCE,
  ];
  print(lines, made as unknown as JsonValue);
}

/** @throws INVALID_ARGUMENT, SESSION_NOT_FOUND */
async function scopeOf(context: CommandContext, options: TokenOptions): Promise<TokenScope> {
  const { agent = [], root = [], session = null, everything = false, read = false } = options;
  const mayWrite = !read;
  if (everything && agent.length + root.length > 0)
    throw new RekindleError('INVALID_ARGUMENT', 'Give --everything, or --agent, --root or --session.', {
      details: { argument: '--everything' },
    });
  if (everything) return { agents: 'all', roots: 'all', session, mayWrite };
  const own = session === null ? [] : [await rootOf(context, session)];
  return { agents: agent, roots: [...new Set([...root, ...own])], session, mayWrite };
}

async function rootOf({ storage }: CommandContext, session: string): Promise<string> {
  const shared = new SharedSessions(storage);
  try {
    return await shared.tree.rootOf(session);
  } finally {
    await shared.close();
  }
}

/** @throws INVALID_ARGUMENT */
function momentOf(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return Date.now() + Number(count) * UNIT_MS[unit]!;
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const problem = `--expires must be a time such as 30m, 12h, 30d, 4w or 2027-01-31, not ${JSON.stringify(text)}.`;
  throw new RekindleError('INVALID_ARGUMENT', problem, { details: { argument: '--expires', given: text } });
}

function namesOf(names: readonly string[] | 'all'): string {
  if (names === 'all') return 'all';
  return names.length === 0 ? 'none' : names.map((name) => excerpt(name, 40)).join(', ');
}
