/** Erases a part of an agent: one turn, one message, or everything from one source. The rest of the agent stays usable. */
import { checkpointsSince, sweepSession } from '../../checkpoints/maintenance/agent-checkpoints.js';
import { RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import { textOr } from '../../core/json.js';
import { memoryParts } from '../../memory/erasure/memory-parts.js';
import { findPart, type PartScope } from '../../memory/erasure/part-scope.js';
import { restored } from '../../memory/erasure/remaining-context.js';
import { comesFrom, toolOrigin } from '../../memory/facts/fact-source.js';
import { agentExists, assertAgentExists } from '../../memory/open-memory.js';
import { type ErasurePlan, erasePlaces, type SharedPart } from '../../storage/erasure/erase-places.js';
import {
  assertNotErasing,
  deleteMarker,
  isPart,
  type PartTarget,
  readMarker,
  targetText,
  unfinishedErasures,
} from '../../storage/erasure/erasure-marker.js';
import type { ErasureReport } from '../../storage/erasure/erasure-report.js';
import type { Lease, Name, StorageBackend } from '../../storage/ports.js';
import { loggedCalls } from '../../workspace/tool-calls/erase-calls.js';
import { assertNoForks } from './fork-copies.js';

/** Options of `erase`. */
export interface EraseOptions {
  /** Only report what would be erased. Takes no lease, writes nothing. */
  readonly dryRun?: boolean;
  /** Erase although forks of the agent hold copies of what is erased. They keep them. Default false: ERASURE_REFUSED. */
  readonly keepForks?: boolean;
}

const CHECKPOINTS: Name = ['checkpoints'];
const WORKSPACE: Name = ['workspace'];

/** @throws as `erase` */
export async function erasePart(
  backend: StorageBackend,
  target: PartTarget,
  options: EraseOptions,
): Promise<ErasureReport> {
  await assertAgentExists(backend, target.agent);
  if (options.dryRun)
    return erasePlaces(backend, await planFor(backend, target, null, options), { dryRun: true });
  const lease = await backend.leases.acquire(['agents', target.agent]);
  try {
    return await erasePlaces(backend, await planFor(backend, target, lease, options), { held: lease });
  } finally {
    await lease.release().catch(() => {}); // what was erased stays erased; a lease that is left expires
  }
}

/** For an agent that is erased as a whole: nothing of its unfinished parts is left to erase. */
export async function forgetParts(backend: StorageBackend, agent: string): Promise<void> {
  for (const { target } of await unfinishedErasures(backend))
    if (isPart(target) && target.agent === agent) await deleteMarker(backend, target);
}

/** Whether an unfinished erasure has lost its agent, which was erased meanwhile. */
export async function isObsolete(backend: StorageBackend, target: PartTarget): Promise<boolean> {
  return !(await agentExists(backend, target.agent));
}

/** @param lease null for a dry run */
async function planFor(
  backend: StorageBackend,
  target: PartTarget,
  lease: Lease | null,
  { keepForks }: EraseOptions,
): Promise<ErasurePlan> {
  const { agent } = target;
  await assertNotErasing(backend, ['agents', agent], target);
  const marker = await readMarker(backend, target);
  const scope = (marker?.scope as PartScope | undefined) ?? (await newScope(backend, target, lease));
  if (!marker && !keepForks) await assertNoForks(backend, target, scope.traces[0]);
  const { kept, removedIn } = await checkpointsSince(backend, CHECKPOINTS, agent, scope.firstTs * 1000);
  if (kept.length > 0) throw inCheckpoints(target, kept);
  return {
    target,
    lease: ['agents', agent],
    trees: [],
    guards: [['agents', agent]],
    scope: scope as unknown as JsonObject,
    parts: [
      ...memoryParts({ backend, target, scope, lease }),
      ...(await callParts(backend, agent, scope)),
      ...removedIn.map((id) => ({
        look: async () => [],
        erase: () => sweepSession(backend, CHECKPOINTS, id),
      })),
    ],
  };
}

/** A restore first: it writes down what a crash left open, so that nothing of it is lost with the erased records. */
async function newScope(
  backend: StorageBackend,
  target: PartTarget,
  lease: Lease | null,
): Promise<PartScope> {
  if (lease) await restored(backend, target.agent, lease, async () => {});
  const scope = await findPart(backend, target, newId('er', Date.now()));
  if (scope) return scope;
  const [field] = Object.keys(target).filter((key) => key !== 'agent');
  throw new RekindleError('INVALID_ARGUMENT', `There is no ${targetText(target)}.`, {
    details: { argument: field!, agentId: target.agent },
  });
}

async function callParts(backend: StorageBackend, agent: string, scope: PartScope): Promise<SharedPart[]> {
  const roots = await backend.listNames([...WORKSPACE, 'roots']);
  const agents = await backend.listNames([...WORKSPACE, 'agents']);
  const own = agents.filter((name) => name === agent).map((name) => [...WORKSPACE, 'agents', name]);
  const folders = [WORKSPACE, ...roots.map((root) => [...WORKSPACE, 'roots', root]), ...own];
  const calls = new Set(scope.calls);
  const ids = new Set(scope.calls.map((call) => call.split('\u0000')[1]));
  const picks = (record: JsonObject): boolean => {
    const [turn, id] = [textOr(record['turn_id']), textOr(record['call_id'])];
    if (record['agent'] !== agent) return false;
    const isOfTool = scope.source !== null && comesFrom([toolOrigin(textOr(record['tool']))], scope.source);
    return isOfTool || calls.has(`${turn}\u0000${id}`) || (turn === '' ? ids.has(id) : turn === scope.turn);
  };
  return folders.map((folder) => loggedCalls(backend, folder, picks));
}

function inCheckpoints(target: PartTarget, kept: readonly string[]): RekindleError {
  const text = `Checkpoints may hold the ${targetText(target)}: ${kept.slice(0, 5).join(', ')}${kept.length > 5 ? ', ...' : ''}.`;
  return new RekindleError('ERASURE_REFUSED', text, {
    details: { agentId: target.agent, checkpoints: [...kept] },
  });
}
