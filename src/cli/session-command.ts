/**
 * `rekindle session`: the sessions that share state: roots and their children. `rekindle mcp --session` takes
 * such an id.
 */
import Table from 'cli-table3';
import type { Command } from 'commander';
import type { JsonValue } from '../core/json.js';
import type { SessionTree } from '../state/shared/sessions/session-tree.js';
import { SharedSessions } from '../state/shared/shared-sessions.js';
import { type CommandContext, type CommonOptions, runCommand } from './command-context.js';
import { excerpt } from './safe-text.js';
import { addSubcommand } from './subcommand.js';

interface SessionOptions extends CommonOptions {
  readonly parent?: string;
  readonly agent?: string;
  readonly root?: string;
}

type SessionRun = (
  tree: SessionTree,
  context: CommandContext,
  args: readonly string[],
  options: SessionOptions,
) => Promise<void>;

export function addSessionCommand(program: Command): void {
  const parent = program.command('session').description('the sessions that share state: create, list');
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
  const none = ['No sessions here.', 'Create one with: rekindle session create'];
  print(sessions.length === 0 ? none : [table.toString()], { sessions: sessions as unknown as JsonValue });
};
