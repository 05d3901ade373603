/**
 * `rekindle demo shared`: a root session and five child processes update one state at once. Two are killed.
 * All acknowledged updates are in the final state.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import Table from 'cli-table3';
import { isRekindleError } from '../core/errors.js';
import { loadServerToken } from '../server/access/token.js';
import { type RunningServer, startServer } from '../server/rekindle-server.js';
import { DEFAULT_PORT } from '../server/server-options.js';
import { sessionEnvironment } from '../state/shared/sessions/session-environment.js';
import { SharedSessions } from '../state/shared/shared-sessions.js';
import type { SharedState, StateKey } from '../state/shared/shared-state.js';
import { FileStorage } from '../storage/file/file-storage.js';
import type { CommandContext } from './command-context.js';
import { type Acknowledged, ROUNDS, TOKEN_VARIABLE, URL_VARIABLE } from './demo-shared-child.js';
import { EXIT } from './exit-codes.js';
import { packageVersion } from './package-version.js';
import { excerpt } from './safe-text.js';
import { shownPath } from './shown-path.js';
import { siblingScript } from './sibling-script.js';
import { untilStopped } from './until-stopped.js';

const ROOT = 'demo';
const CHILDREN = ['builder', 'tester', 'reviewer', 'writer', 'releaser'].map((name) => `${ROOT}-${name}`);
/** Children to kill after this many acknowledged updates, during the next one. */
const KILLED = new Map([
  [CHILDREN[1]!, 31],
  [CHILDREN[3]!, 62],
]);

interface ChildResult {
  readonly session: string;
  readonly acknowledged: readonly Acknowledged[];
  readonly killed: boolean;
  readonly code: number | null;
}

type Say = (line?: string) => void;

export async function runSharedDemo(context: CommandContext, dir: string, say: Say): Promise<number> {
  const storage = new FileStorage(dir);
  const { token } = await loadServerToken(storage);
  const server = await serve(storage, token);
  const shared = new SharedSessions(storage);
  try {
    say(
      `1. A server runs at ${server.url}. A root session starts five children, each in a process of its own.`,
    );
    await shared.tree.create({ id: ROOT, agent: 'lead', status: 'running' });
    for (const id of CHILDREN) await shared.tree.create({ id, parent: ROOT, status: 'running' });
    say(
      `2. All update one state at the same time, ${ROUNDS * 3} updates each. Two are killed in the middle.`,
    );
    const results = await Promise.all(CHILDREN.map((id) => runChild(id, server, token, shared, say)));
    await shared.tree.setStatus(ROOT, 'idle');
    const state = await shared.stateOf(ROOT);
    const lost = await lostUpdates(state, results);
    await conclude(context, { dir, server, token, results, lost, state }, say);
    if (process.stdin.isTTY && process.stdout.isTTY && !context.json) await untilStopped();
    return lost.length === 0 && results.every(({ killed, code }) => killed || code === 0)
      ? EXIT.ok
      : EXIT.problem;
  } finally {
    await shared.close();
    await server.close();
    await storage.close();
  }
}

/** At the default port, or any free one. */
async function serve(backend: FileStorage, token: string): Promise<RunningServer> {
  const options = { backend, token, version: packageVersion() };
  try {
    return await startServer({ ...options, port: DEFAULT_PORT });
  } catch (thrown) {
    if (!isRekindleError(thrown, 'LISTEN_FAILED')) throw thrown;
    return startServer({ ...options, port: 0 });
  }
}

async function runChild(
  session: string,
  server: RunningServer,
  token: string,
  shared: SharedSessions,
  say: Say,
): Promise<ChildResult> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, siblingScript(import.meta.url, 'demo-shared-child')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...sessionEnvironment({ id: session, root: ROOT }),
        [URL_VARIABLE]: server.url,
        [TOKEN_VARIABLE]: token,
      },
    },
  );
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const { acknowledged, killed } = await listen(child, KILLED.get(session) ?? Number.POSITIVE_INFINITY);
  const code = await ended;
  const status = killed ? 'failed' : code === 0 ? 'finished' : 'failed';
  await shared.tree.setStatus(session, status, killed ? { why: 'killed with SIGKILL' } : {});
  const end = killed ? 'was killed with SIGKILL' : 'finished';
  say(`   ${session} ${end} after ${acknowledged.length} acknowledged updates`);
  return { session, acknowledged, killed, code };
}

async function listen(child: ChildProcess, killAfter: number) {
  const acknowledged: Acknowledged[] = [];
  let killed = false;
  for await (const line of createInterface({ input: child.stdout! })) {
    acknowledged.push(JSON.parse(line) as Acknowledged);
    if (acknowledged.length >= killAfter && !killed) killed = child.kill('SIGKILL');
  }
  return { acknowledged, killed };
}

/** Acknowledged updates that are missing in the state; must be empty. */
async function lostUpdates(state: SharedState, results: readonly ChildResult[]): Promise<string[]> {
  const { keys } = await state.getAll();
  const values = new Map(keys.map(({ key, value }) => [key, value]));
  const findings = new Set(values.get('findings') as string[]);
  const lost: string[] = [];
  let done = 0;
  for (const { acknowledged } of results) {
    for (const update of acknowledged) {
      if (update.kind === 'done') done += 1;
      if (update.kind === 'finding' && !findings.has(update.text)) lost.push(update.text);
      const progress =
        update.kind === 'progress' ? (values.get(update.key) as { round?: number } | undefined) : null;
      if (update.kind === 'progress' && (progress?.round ?? 0) < update.round) lost.push(update.key);
    }
  }
  if (Number(values.get('done')) < done) lost.push(`done: ${String(values.get('done'))} of ${done}`);
  return lost;
}

interface Outcome {
  readonly dir: string;
  readonly server: RunningServer;
  readonly token: string;
  readonly results: readonly ChildResult[];
  readonly lost: readonly string[];
  readonly state: SharedState;
}

async function conclude(context: CommandContext, outcome: Outcome, say: Say): Promise<void> {
  const { dir, server, token, results, lost, state } = outcome;
  const { globalVersion, keys } = await state.getAll();
  const acknowledged = results.reduce((sum, result) => sum + result.acknowledged.length, 0);
  const shown = shownPath(dir);
  say();
  say(`3. The state at the end, version ${globalVersion}:`);
  say(table(keys));
  say(`Updates that were acknowledged: ${acknowledged}. Of these lost: ${lost.length}.`);
  for (const text of lost) say(`   lost: ${text}`);
  say();
  say(`The page: ${server.url}/#token=${token}`);
  say(
    process.stdin.isTTY && process.stdout.isTTY
      ? 'It is served until you press Ctrl-C.'
      : `Serve it again with: npx rekindle serve --dir ${shown}     (in a clone: npm run rekindle -- serve ...)`,
  );
  if (context.json)
    context.print([], {
      dir,
      url: server.url,
      acknowledged,
      lost,
      killed: results.filter(({ killed }) => killed).map(({ session }) => session),
      globalVersion,
      state: Object.fromEntries(keys.map(({ key, value }) => [key, value])),
    });
}

function table(keys: readonly StateKey[]): string {
  const rows = new Table({ head: ['key', 'value', 'version', 'last by'], style: { head: [], border: [] } });
  for (const { key, value, version, updatedBy } of keys) {
    const text = Array.isArray(value) ? `a list of ${value.length}` : JSON.stringify(value);
    rows.push([excerpt(key, 40), excerpt(text, 40), version, excerpt(updatedBy, 30)]);
  }
  return rows.toString();
}
