/** The parameters of a save, checked before anything is read or written. */
import { RekindleError } from '../core/errors.js';
import { nameProblem } from '../core/name-problem.js';
import { encodeNameSegment } from '../storage/name-encoding.js';
import type { CheckpointLabels } from './session/checkpoint-record.js';

/** Parameters of `CheckpointService.save`. */
export interface SaveParams {
  /**
   * Default: a hash of the workflow and the whole context. Pass it for every further checkpoint of a session.
   */
  readonly sessionId?: string;
  readonly workflowId?: string;
  /** A JSON object. */
  readonly context: unknown;
  readonly agentId?: string;
  readonly metadata?: { readonly name?: string; readonly tags?: readonly string[] };
  /** Save even if nothing changed since the session's newest checkpoint. */
  readonly force?: boolean;
  /** Retention never removes it. */
  readonly critical?: boolean;
  /** A kind of your own for the context. `agent` is refused: only `saveAgent` sets it. */
  readonly kind?: string;
}

/** The kind of a whole agent. It is stored in the record, outside of the caller's context. */
export const AGENT_KIND = 'agent';

const NAME_MAX = 200;
const TAG_MAX = 100;
const TAGS_MAX = 50;
const KEY_MAX = 1_000;

type About = Omit<CheckpointLabels, 'layers'>;

/** @throws INVALID_ARGUMENT, INVALID_NAME */
export function checkedAbout({
  workflowId,
  agentId,
  metadata,
  critical,
  kind,
  sessionId,
}: SaveParams): About {
  const { name, tags = [] } = metadata ?? {};
  if (sessionId !== undefined) {
    assertName('sessionId', sessionId, NAME_MAX);
    encodeNameSegment(sessionId);
  }
  for (const [field, value] of Object.entries({ workflowId, agentId, name, kind }))
    if (value !== undefined) assertName(field, value, NAME_MAX);
  if (!Array.isArray(tags) || tags.length > TAGS_MAX)
    throw refusedParam('tags', `it is a list of at most ${TAGS_MAX}`);
  for (const tag of tags) assertName('tag', tag, TAG_MAX);
  return {
    ...(name === undefined ? {} : { name }),
    ...(agentId === undefined ? {} : { agent: agentId }),
    ...(workflowId === undefined ? {} : { workflow: workflowId }),
    ...(tags.length === 0 ? {} : { tags: [...new Set(tags)] }),
    ...(critical ? { critical: true } : {}),
    ...(kind === undefined ? {} : { kind }),
  };
}

function assertName(field: string, value: unknown, lengthMax: number): void {
  const problem = nameProblem(value, lengthMax);
  if (problem !== null) throw refusedParam(field, problem);
}

export function refusedParam(field: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${field} is refused: ${problem}.`, {
    details: { field, problem },
  });
}

/** @throws INVALID_ARGUMENT for the kind of whole agents */
export function assertOwnKind({ kind }: SaveParams): void {
  if (kind === AGENT_KIND)
    throw refusedParam('kind', `${AGENT_KIND} is what \`checkpointAgent\` gives to the agents that it saves`);
}

/** @throws INVALID_ARGUMENT */
export function assertContextKey(contextKey: unknown): void {
  assertName('contextKey', contextKey, KEY_MAX);
}

/** Whether a name or tags were given that would not be stored. */
export function isNamedOtherwise(
  { metadata }: SaveParams,
  { name, tags }: { readonly name: string | null; readonly tags: readonly string[] },
): boolean {
  const given = metadata?.tags ?? tags;
  return (
    (metadata?.name ?? name) !== name ||
    given.length !== tags.length ||
    given.some((tag) => !tags.includes(tag))
  );
}
