/** `rekindle serve`: serves HTTP, WebSocket, MCP and the page until it is stopped. */
import path from 'node:path';
import type { Command } from 'commander';
import { messageOf } from '../core/errors.js';
import { loadServerToken, type ServerToken } from '../server/access/token.js';
import { type RunningServer, startServer } from '../server/rekindle-server.js';
import { DEFAULT_HOST, DEFAULT_PORT } from '../server/server-options.js';
import {
  type CommandContext,
  type CommonOptions,
  jsonLine,
  runCommand,
  withCommonOptions,
} from './command-context.js';
import { MCP_DEFINITIONS, MCP_STATE, mountedNames } from './mounted-documents.js';
import { packageVersion } from './package-version.js';
import { safeText } from './safe-text.js';
import { limitsOf, type SharedLimitOptions, withLimitOptions } from './shared-limit-options.js';
import { shownPath } from './shown-path.js';
import { untilStopped } from './until-stopped.js';
import { wholeNumber } from './value-text.js';

interface ServeOptions extends CommonOptions, SharedLimitOptions {
  readonly port?: string;
  readonly host?: string;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly state?: readonly string[];
  readonly definitions?: string;
  readonly audit?: boolean;
  readonly metrics?: boolean;
}

export function addServeCommand(program: Command): void {
  const command = withLimitOptions(
    program
      .command('serve')
      .description('serve HTTP, WebSocket, MCP and a web page (default: for this machine only)')
      .option('-p, --port <number>', `port; 0 for any free port (default: ${DEFAULT_PORT})`)
      .option('--host <address>', `address to listen on (default: ${DEFAULT_HOST})`)
      .option('--allow-host <name...>', 'additional accepted values of the Host header')
      .option('--allow-origin <origin...>', 'additional accepted values of the Origin header')
      .option(...MCP_STATE)
      .option(...MCP_DEFINITIONS)
      .option('--audit', 'record every request with a token (default: if the store has an audit log)')
      .option('--metrics', 'keep metrics of this process: GET /metrics, for Prometheus'),
  );
  withCommonOptions(command).action((options: ServeOptions) =>
    runCommand(options, (context) => serve(context, options)),
  );
}

async function serve(context: CommandContext, options: ServeOptions): Promise<undefined> {
  const limits = limitsOf(options);
  const stopped = untilStopped();
  const fromEnvironment = process.env['REKINDLE_TOKEN'];
  const token: ServerToken = fromEnvironment
    ? { token: fromEnvironment, isNew: false, isStored: false }
    : await loadServerToken(context.storage);
  const { names, definitions } = await mountedNames(options);
  const server = await startServer({
    backend: context.storage,
    token: token.token,
    version: packageVersion(),
    definitions,
    mcpDocuments: names,
    onUnexpected: (thrown) => process.stderr.write(`${safeText(messageOf(thrown))}\n`),
    ...(options.port === undefined ? {} : { port: wholeNumber(options.port, '--port', 0, 65_535) }),
    ...(options.host === undefined ? {} : { host: options.host }),
    allowedHosts: options.allowHost ?? [],
    allowedOrigins: options.allowOrigin ?? [],
    limits,
    ...(options.audit ? { audit: true } : {}),
    ...(options.metrics ? { metrics: true } : {}),
  });
  announce(context, server, token, fromEnvironment !== undefined);
  await stopped;
  context.note('Finishing current requests …');
  await server.close();
  return undefined;
}

function announce(
  context: CommandContext,
  server: RunningServer,
  { token, isNew, isStored }: ServerToken,
  isFromEnvironment: boolean,
): void {
  const dir = shownPath(context.storage.place);
  const file = path.join(dir, 'server', 'token.json');
  const where = isFromEnvironment ? 'REKINDLE_TOKEN' : isStored ? file : null;
  const lines = [`Serving ${dir} at ${server.url}`];
  if (isNew) lines.push(`Token, shown this once: ${token}`, `Open the page: ${server.url}/#token=${token}`);
  lines.push(
    where === null
      ? `${dir} is read-only. The token is valid until the server stops. Ctrl-C stops it.`
      : `The token is in ${where}. Ctrl-C stops the server.`,
  );
  if (!/^http:\/\/(?:127\.|localhost|\[::1\])/.test(server.url))
    lines.push('Other machines can reach this server without encryption. Put a TLS proxy in front of it.');
  const value = {
    type: 'serving',
    url: server.url,
    port: server.port,
    tokenIn: where,
    ...(isNew ? { token } : {}),
  };
  if (context.json) process.stdout.write(jsonLine(value));
  else context.print(lines, value);
}
