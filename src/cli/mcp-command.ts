/** `rekindle mcp`: the tools for other agents, over standard input and output. */

import type { Command } from 'commander';
import { isRekindleError, messageOf, RekindleError } from '../core/errors.js';
import type { McpReach } from '../server/mcp/mcp-mounts.js';
import { serveMcpStdio } from '../server/mcp/mcp-stdio.js';
import { DocumentPool } from '../state/durable/document-pool.js';
import { commandUser } from './audit-trail.js';
import { checkpointsFor } from './checkpoint-place.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { MCP_DEFINITIONS, MCP_STATE, mountedNames } from './mounted-documents.js';
import { packageVersion } from './package-version.js';
import { safeText } from './safe-text.js';
import { limitsOf, type SharedLimitOptions, withLimitOptions } from './shared-limit-options.js';
import { commandLine } from './shell-word.js';
import { untilStopped } from './until-stopped.js';

interface McpOptions extends CommonOptions, SharedLimitOptions {
  readonly session?: string;
  readonly agent?: string;
  readonly reach?: string;
  readonly state?: readonly string[];
  readonly definitions?: string;
}

export function addMcpCommand(program: Command): void {
  const command = withLimitOptions(
    program
      .command('mcp')
      .description(
        'serve the tools to an MCP client that starts this command (over HTTP, use /mcp of `serve`)',
      )
      .option('--session <id>', 'the session whose state is shared (default: AGENT_SESSION_ID)')
      .option('--agent <id>', 'the agent whose memory is read (default: the agent of the session)')
      .option(
        '--reach <own|store>',
        'workspace, checkpoints and tool calls: own (of the session or agent) or store (of everyone); default: own',
      )
      .option(...MCP_STATE)
      .option(...MCP_DEFINITIONS),
  );
  withCommonOptions(command).action((options: McpOptions) =>
    // Standard output belongs to the protocol, so errors go to standard error.
    runCommand({ ...options, json: false }, async (context) => {
      const checkpoints = checkpointsFor(context);
      let pool: DocumentPool | null = null;
      try {
        const { names, definitions } = await mountedNames(options);
        pool = new DocumentPool(context.storage, definitions);
        await serveMcpStdio(
          {
            backend: context.storage,
            checkpoints,
            version: packageVersion(),
            environment: process.env,
            session: options.session ?? null,
            agent: options.agent ?? null,
            reach: reachOf(options),
            documents: await pool.mounted(names),
            limits: limitsOf(options),
            actor: commandUser(),
            onUnexpected: (thrown) => process.stderr.write(`${safeText(messageOf(thrown))}\n`),
          },
          untilClosed(),
        );
      } catch (thrown) {
        throw howToBegin(thrown, options);
      } finally {
        await pool?.close();
        await checkpoints.close();
      }
      return undefined;
    }),
  );
}

/** MCP clients show only standard error, so it must explain how to create a session. */
function howToBegin(thrown: unknown, { dir }: McpOptions): unknown {
  if (!isRekindleError(thrown, 'SESSION_NOT_FOUND')) return thrown;
  const { id } = thrown.details;
  if (typeof id !== 'string') return thrown;
  const command = commandLine('session create', dir, id);
  return new RekindleError('SESSION_NOT_FOUND', `${thrown.message} Make it with: ${command}`, {
    details: { ...thrown.details, command },
    cause: thrown,
  });
}

function reachOf({ reach = 'own' }: McpOptions): McpReach {
  if (reach === 'own' || reach === 'store') return reach;
  throw new RekindleError('INVALID_ARGUMENT', '--reach must be own or store.', {
    details: { argument: '--reach' },
  });
}

/** Resolves when the client closes its side, or the process is stopped. */
function untilClosed(): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('close', resolve).once('end', resolve);
  });
  return Promise.race([ended, untilStopped()]);
}
