/**
 * `rekindle session`: the sessions that share state: roots and their children. `rekindle mcp --session` takes
 * such an id.
 */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { RekindleError } from '../core/errors.js';
import type { JsonValue } from '../core/json.js';
import {
  SESSION_STATUSES,
  type SessionStatus,
  type TreeSession,
} from '../state/shared/sessions/session-record.js';
import type { SessionTree } from '../state/shared/sessions/session-tree.js';
import { SharedSessions } from '../state/shared/shared-sessions.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { excerpt } from './safe-text.js';
import { orderedSessions, treeLines } from './session-lines.js';
import { addSubcommand } from './subcommand.js';

interface SessionOptions extends CommonOptions {
  readonly parent?: string;
  readonly agent?: string;
  readonly root?: string;
  readonly set?: string;
  readonly why?: string;
}

type SessionRun = (
  tree: SessionTree,
  context: CommandContext,
  args: readonly string[],
  options: SessionOptions,
) => Promise<void>;

export function addSessionCommand(program: Command): void {
  const parent = program
    .command('session')
    .description('the sessions that share state: create, list, tree, status');
  const add = (
    usage: string,
    text: string,
    options: readonly (readonly [string, string])[],
    run: SessionRun,
  ) =>
    addSubcommand<SessionOptions>(parent, usage, text, options, (args, given) =>
      runCommand(given, async (context) => {
        const shared = new SharedSessions(context.storage);
        try {
          await run(shared.tree, context, args, given);
          return undefined;
        } finally {
          await shared.close();
        }
      }),
    );
  add(
    'create [id]',
    'create a session; without --parent, a root with its own state',
    [
      ['--parent <id>', 'its parent session, whose state it shares'],
      ['--agent <id>', 'the agent that works in it'],
    ],
    create,
  );
  add('list', 'the sessions, oldest first', [['--root <id>', 'only those of this root']], list);
  add('tree [session]', 'the sessions as a tree: all roots, or one session and those below it', [], tree);
  add(
    'status <session>',
    'the status of a session, with its agent and times; --set changes it',
    [
      ['--set <status>', `the new status: ${SESSION_STATUSES.join(', ')}`],
      ['--why <text>', 'the reason, with --set'],
    ],
    status,
  );
}

const create: SessionRun = async (tree, { print }, [id], { parent, agent }) => {
  const session = await tree.create({
    ...(id === undefined ? {} : { id }),
    ...(parent === undefined ? {} : { parent }),
    ...(agent === undefined ? {} : { agent }),
  });
  const whose = session.parent === null ? 'with its own state' : `with the state of ${session.root}`;
  print([`Created session ${session.id}, ${whose}.`], session);
};

const NONE = ['No sessions here.', 'Create one with: rekindle session create'];

const list: SessionRun = async (tree, { print }, _, { root }) => {
  const sessions = await tree.list(root === undefined ? {} : { root });
  const table = new Table({
    head: ['session', 'parent', 'root', 'agent', 'status', 'updated'],
    style: { head: [], border: [] },
  });
  for (const { id, parent, root: top, agent, status, updatedAt } of sessions)
    table.push([
      ...[id, parent ?? '-', top, agent ?? '-'].map((name) => excerpt(name, 48)),
      status,
      updatedAt,
    ]);
  print(sessions.length === 0 ? NONE : [table.toString()], { sessions: sessions as unknown as JsonValue });
};

const tree: SessionRun = async (tree, { print }, [top]) => {
  const start = top === undefined ? null : await tree.require(top);
  const sessions = await tree.list(start === null ? {} : { root: start.root });
  const orphans = new Map((await tree.orphans()).map((orphan) => [orphan.session.id, orphan]));
  const ordered = orderedSessions(sessions, start?.id ?? null);
  const rows = ordered.map(({ session, depth }) => {
    const orphan = orphans.get(session.id);
    return {
      ...session,
      depth,
      orphan: orphan ? { reason: orphan.reason, ancestor: orphan.ancestor } : null,
    };
  });
  print(rows.length === 0 ? NONE : treeLines(rows), { sessions: rows });
};

const status: SessionRun = async (tree, { print }, [id = ''], { set, why }) => {
  if (set === undefined && why !== undefined)
    throw new RekindleError('INVALID_ARGUMENT', '--why is the reason for a new status: give --set, too.', {
      details: { argument: '--why' },
    });
  // The tree refuses an unknown status, and names the others.
  const session =
    set === undefined
      ? await tree.require(id)
      : await tree.setStatus(id, set as SessionStatus, why === undefined ? {} : { why });
  print(sessionLines(session), session);
};

function sessionLines(session: TreeSession): string[] {
  const { id, parent, root, agent, status, why, createdAt, updatedAt } = session;
  return [
    `${excerpt(id, 128)} is ${status}${why === null ? '' : `: ${excerpt(why, 400)}`}`,
    `  parent:  ${parent === null ? 'none: it is a root' : excerpt(parent, 128)}`,
    `  root:    ${excerpt(root, 128)}`,
    `  agent:   ${agent === null ? '-' : excerpt(agent, 128)}`,
    `  created: ${createdAt}`,
    `  updated: ${updatedAt}`,
  ];
}
