/**
 * Erases all data of an agent, a session or a thread from a store, or a part of an agent. `docs/erasure.md` lists the
 * places and the limits.
 */
import { nameKey } from '../../adapters/name-key.js';
import { checkpointsOf, sharedCheckpoints } from '../../checkpoints/maintenance/agent-checkpoints.js';
import { sessionPrefix } from '../../checkpoints/tools/checkpoint-scope.js';
import { RekindleError } from '../../core/errors.js';
import { subjectFactsOf } from '../../memory/facts/erase-facts.js';
import { comesFrom } from '../../memory/facts/fact-source.js';
import { sessionRows, sessionsOfRoot } from '../../state/shared/erase-sessions.js';
import { type ErasurePlan, erasePlaces } from '../../storage/erasure/erase-places.js';
import {
  deleteMarker,
  type ErasureTarget,
  isPart,
  type PartTarget,
  unfinishedErasures,
} from '../../storage/erasure/erasure-marker.js';
import type { ErasureReport } from '../../storage/erasure/erasure-report.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { agentStates } from '../../workspace/sessions/erase-agent-states.js';
import { agentCalls, loggedCalls } from '../../workspace/tool-calls/erase-calls.js';
import { type EraseOptions, erasePart, forgetParts, isObsolete } from './erase-part.js';
import { assertNoForks } from './fork-copies.js';

const CHECKPOINTS: Name = ['checkpoints'];
const WORKSPACE: Name = ['workspace'];

/**
 * Erases all data of an agent, a session or a thread; the name is free again. Or erases a part of an agent: a turn, a
 * message, or everything from one source; the rest of the agent stays. Durable when it resolves.
 *
 * Crash-safe: after a crash, call it again to continue. Until then any use of the name fails with
 * ERASURE_UNFINISHED.
 * ```ts
 * await erase(storage, { agent: 'desk', turn: 3 }, { dryRun: true });
 * ```
 * @throws AGENT_NOT_FOUND or SESSION_NOT_FOUND if there is no data, LEASE_HELD while it is in use,
 * INVALID_ARGUMENT (also for a part that does not exist), INVALID_NAME, ERASURE_REFUSED if checkpoints or forks may hold the
 * part, ERASURE_UNFINISHED if some of it was written meanwhile, and what storage throws
 */
export function erase(
  backend: StorageBackend,
  target: ErasureTarget,
  options: EraseOptions = {},
): Promise<ErasureReport> {
  const run = () => runErasure(backend, target, options);
  return backend.telemetry && !options.dryRun
    ? backend.telemetry.measure({ operation: 'erase' }, run)
    : run();
}

async function runErasure(
  backend: StorageBackend,
  target: ErasureTarget,
  options: EraseOptions,
): Promise<ErasureReport> {
  if (isPart(checked(target))) return erasePart(backend, target as PartTarget, options);
  if ('agent' in target && !options.keepForks) await assertNoForks(backend, target);
  const plan = await planFor(backend, target as Exclude<ErasureTarget, PartTarget>);
  const found = await erasePlaces(backend, plan, { dryRun: true });
  // Parts that were set aside from a shared log do not prove that the agent exists.
  if (!found.resumed && found.places.every(({ kind }) => kind === 'aside')) throw notFound(target);
  return options.dryRun ? found : erasePlaces(backend, plan);
}

/** Continues every interrupted erasure. @throws as `erase` */
export async function resumeErasures(backend: StorageBackend): Promise<ErasureReport[]> {
  const reports: ErasureReport[] = [];
  for (const { target } of await unfinishedErasures(backend))
    if (isPart(target) && (await isObsolete(backend, target))) await deleteMarker(backend, target);
    else reports.push(await erase(backend, target));
  return reports;
}

function planFor(backend: StorageBackend, target: Exclude<ErasureTarget, PartTarget>): Promise<ErasurePlan> {
  if ('agent' in target) return planForAgent(backend, target.agent);
  return 'session' in target
    ? planForSession(backend, target.session)
    : planForThread(backend, target.thread);
}

async function planForAgent(backend: StorageBackend, agent: string): Promise<ErasurePlan> {
  const { whole, shared } = await checkpointsOf(backend, CHECKPOINTS, agent);
  const roots = await backend.listNames([...WORKSPACE, 'roots']);
  const workspaces = [WORKSPACE, ...roots.map((root) => [...WORKSPACE, 'roots', root])];
  return {
    target: { agent },
    lease: ['agents', agent],
    trees: [['agents', agent], [...WORKSPACE, 'agents', agent], ...whole],
    parts: [
      ...workspaces.flatMap((folder) => [
        agentCalls(backend, folder, agent),
        agentStates(backend, folder, agent),
      ]),
      subjectFactsOf(backend, agent),
      ...shared.map((id) => sharedCheckpoints(backend, CHECKPOINTS, id, agent)),
      { look: async () => [], erase: () => forgetParts(backend, agent) }, // while the marker of the whole agent exists
    ],
  };
}

async function planForSession(backend: StorageBackend, session: string): Promise<ErasurePlan> {
  const ids = [session, ...(await sessionsOfRoot(backend, session))];
  const prefixes = ids.map((id) => sessionPrefix({ session: id }));
  const bound = (await backend.listNames([...CHECKPOINTS, 'sessions'])).filter((id) =>
    prefixes.some((prefix) => id.startsWith(prefix)),
  );
  const checkpoints = [session, ...bound].map((id) => [...CHECKPOINTS, 'sessions', id]);
  const agents = await backend.listNames(['agents']);
  // An MCP client without an agent is logged under the id of its session.
  const callers = new Set<unknown>(ids.filter((id) => !agents.includes(id)));
  const sessions = new Set<unknown>(ids);
  const calls = loggedCalls(backend, WORKSPACE, (record) => {
    return sessions.has(record['session']) || callers.has(record['agent']);
  });
  const state = ['shared', 'state', session];
  return {
    target: { session },
    lease: [...state, 'changes.lease'],
    trees: [state, [...WORKSPACE, 'roots', session], ...checkpoints],
    parts: [calls, sessionRows(backend, session)],
  };
}

async function planForThread(backend: StorageBackend, thread: string): Promise<ErasurePlan> {
  const graph = ['langgraph', 'threads', nameKey(thread)];
  const projects = await backend.listNames(['claude-agent']);
  const transcripts = projects.map((project) => ['claude-agent', project, nameKey(thread)]);
  return {
    target: { thread },
    lease: [...graph, 'lease'],
    trees: [graph, ['openai-agents', nameKey(thread)], ...transcripts],
  };
}

const PARTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  turn: (value) => isNumber(value) || (typeof value === 'string' && value !== ''),
  message: isNumber,
  source: (value) => typeof value === 'string' && (value === 'import' || comesFrom([value], 'tool')),
};

function isNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** @throws INVALID_ARGUMENT, INVALID_NAME */
function checked(target: ErasureTarget): ErasureTarget {
  const { agent, ...part } = Object(target) as { agent?: unknown };
  const [[kind, id] = ['agent', agent] as const, ...more] = Object.entries(part);
  const isWhole = agent === undefined ? ['session', 'thread'].includes(kind) : kind === 'agent';
  const isThere = isWhole ? typeof id === 'string' : agent !== undefined && PARTS[kind]?.(id) === true;
  if (more.length > 0 || !isThere || (agent !== undefined && typeof agent !== 'string'))
    throw new RekindleError(
      'INVALID_ARGUMENT',
      'Name one agent, one session or one thread; with an agent also one turn, one message, or one source (`tool:NAME`, `tool` or `import`).',
      { details: { argument: 'target' } },
    );
  if (kind !== 'thread') encodeNameSegment(typeof agent === 'string' ? agent : String(id));
  return target;
}

function notFound(target: ErasureTarget): RekindleError {
  const [[kind, id] = ['', '']] = Object.entries(target) as [string, string][];
  const code = kind === 'agent' ? 'AGENT_NOT_FOUND' : 'SESSION_NOT_FOUND';
  const details = kind === 'agent' ? { agentId: id } : { id };
  return new RekindleError(code, `There is no ${kind} ${JSON.stringify(id)} here.`, { details });
}
