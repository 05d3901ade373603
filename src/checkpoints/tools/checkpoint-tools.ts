/**
 * The tools with which an agent saves and loads contexts. The owner is fixed here: session ids from the model
 * are names among the owner's own sessions. The tools neither read nor write checkpoints of whole agents.
 */
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import { checkpointNotFound, noneLeft, sessionNotFound } from '../checkpoint-id.js';
import type { CheckpointMetadata } from '../checkpoint-metadata.js';
import type { CheckpointService } from '../checkpoint-service.js';
import { contextContent, derivedSessionId } from '../content/context-json.js';
import { refusedParam } from '../save-params.js';
import { type CheckpointScope, sessionPrefix } from './checkpoint-scope.js';

const LIMIT = 20;
const LIMIT_MAX = 100;

interface SaveArgs {
  readonly sessionId?: string;
  readonly context: JsonObject;
  readonly metadata?: { readonly name?: string; readonly tags?: readonly string[] };
  readonly force?: boolean;
}

/** Options of `checkpointTools`. */
export interface CheckpointToolOptions {
  /** The owner of the checkpoints. */
  readonly scope: CheckpointScope;
  /**
   * The session of a call that names none. Default: a save derives one from the context, and the other tools need a name.
   */
  readonly session?: string;
  /** Recorded on saved checkpoints. Default: the agent of the scope. */
  readonly agentId?: string;
}

/** Tool definitions for the agent loop and MCP. The model cannot choose the owner. */
export function checkpointTools(
  service: CheckpointService,
  options: CheckpointToolOptions,
): ToolDefinition[] {
  const bound = new BoundCheckpoints(service, options);
  const tools = [saveTool(bound), loadTool(bound), listTool(bound), markTool(bound)];
  return tools.map((tool) => ({ ...tool, returnsJson: true })); // contexts are returned exactly as saved
}

/** Translates between the ids that the model sees and those of the store. */
class BoundCheckpoints {
  readonly service: CheckpointService;
  readonly agentId: string | null;
  readonly session: string | null;
  readonly #prefix: string;

  constructor(service: CheckpointService, { scope, agentId, session }: CheckpointToolOptions) {
    this.service = service;
    this.session = session ?? null;
    this.agentId = agentId ?? (typeof scope === 'object' && 'agent' in scope ? scope.agent : null);
    this.#prefix = sessionPrefix(scope);
  }

  /** Inputs of a tool that works on a session: without a default, its name is required. */
  sessionInput(
    description: string,
    properties: JsonObject = {},
    required: readonly string[] = [],
  ): JsonObject {
    const { session } = this;
    const text =
      session === null ? description : `${description} Default: your own, ${JSON.stringify(session)}.`;
    const needed = session === null ? ['sessionId', ...required] : required;
    return inputObject({ sessionId: { type: 'string', description: text }, ...properties }, [...needed]);
  }

  /** The named session, else the default. @throws INVALID_ARGUMENT */
  named(sessionId: string | undefined): string {
    const session = sessionId ?? this.session;
    if (session === null) throw refusedParam('sessionId', 'name a session');
    return session;
  }

  stored(id: string): string {
    return `${this.#prefix}${id}`;
  }

  shown(id: string): string {
    return id.slice(this.#prefix.length);
  }

  shownMetadata(metadata: CheckpointMetadata): CheckpointMetadata {
    return { ...metadata, id: this.shown(metadata.id), sessionId: this.shown(metadata.sessionId) };
  }

  /** Translates the ids in errors of the store. */
  async asShown<T>(id: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (this.#prefix === '') throw thrown;
      if (isRekindleError(thrown, 'CHECKPOINT_NOT_FOUND')) throw checkpointNotFound(id);
      if (isRekindleError(thrown, 'SESSION_NOT_FOUND')) throw sessionNotFound(id);
      throw thrown;
    }
  }

  /** A plain context of the owner. @throws CHECKPOINT_NOT_FOUND also for a whole agent */
  async plain(checkpointId: string): Promise<string> {
    const stored = this.stored(checkpointId);
    const { kind } = await this.service.metadata({ checkpointId: stored });
    if (kind !== null) throw checkpointNotFound(checkpointId);
    return stored;
  }

  /** The newest plain context of one of the owner's sessions. */
  async newest(sessionId: string): Promise<string> {
    const { checkpoints } = await this.service.list({
      sessionId: this.stored(sessionId),
      kind: null,
      limit: 1,
    });
    if (checkpoints[0]) return checkpoints[0].id;
    throw noneLeft(sessionId);
  }
}

function saveTool(bound: BoundCheckpoints): ToolDefinition {
  return {
    name: 'workflow_checkpoint_save',
    description:
      'Saves the context of a workflow, to go back to it later. Gives the id of the checkpoint, and the session id: give that for the next checkpoint of the same workflow. Saves nothing when the context is the same as in the newest checkpoint.',
    inputSchema: inputObject(
      {
        sessionId: {
          type: 'string',
          description: `The workflow session, one of your own. Left out, it is ${bound.session === null ? 'derived from the context' : JSON.stringify(bound.session)}.`,
        },
        context: { type: 'object', description: 'The context to save, as a whole.' },
        metadata: {
          type: 'object',
          description: 'What to find it by.',
          properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
        },
        force: {
          type: 'boolean',
          description: 'Save even if nothing changed since the newest checkpoint.',
          default: false,
        },
      },
      ['context'],
    ),
    async execute(args) {
      const { context, sessionId, metadata, force } = args as unknown as SaveArgs;
      const session = sessionId ?? bound.session ?? derivedSessionId(null, contextContent(context).hash);
      const saved = await bound.service.save({
        context,
        sessionId: bound.stored(session),
        ...(metadata === undefined ? {} : { metadata }),
        ...(force === undefined ? {} : { force }),
        ...(bound.agentId === null ? {} : { agentId: bound.agentId }),
      });
      const { status, checkpointId, removed, warnings } = saved;
      return {
        status,
        checkpointId: bound.shown(checkpointId),
        sessionId: session,
        contextSizeBytes: saved.metadata.contextSizeBytes,
        storedBytes: saved.metadata.storedBytes,
        removed: removed.map(({ id }) => bound.shown(id)),
        warnings,
      };
    },
  };
}

function loadTool(bound: BoundCheckpoints): ToolDefinition {
  return {
    name: 'workflow_checkpoint_load',
    description:
      'Loads a context exactly as it was saved: one checkpoint by its id, or the newest one of a session.',
    inputSchema: {
      ...inputObject({
        checkpointId: { type: 'string', description: 'The checkpoint. Not together with sessionId.' },
        sessionId: {
          type: 'string',
          description: `The session whose newest checkpoint is wanted. Not together with checkpointId.${bound.session === null ? '' : ` With neither: ${JSON.stringify(bound.session)}.`}`,
        },
      }),
      ...(bound.session === null
        ? { oneOf: [{ required: ['checkpointId'] }, { required: ['sessionId'] }] }
        : {}),
    },
    idempotent: true,
    async execute(args) {
      const { checkpointId, sessionId } = args as { checkpointId?: string; sessionId?: string };
      if (checkpointId !== undefined && sessionId !== undefined)
        throw refusedParam('checkpointId', 'give it or a sessionId, not both');
      return bound.asShown(checkpointId ?? bound.named(sessionId), async () => {
        const id = await (checkpointId === undefined
          ? bound.newest(bound.named(sessionId))
          : bound.plain(checkpointId));
        const { context, metadata } = await bound.service.load({ checkpointId: id });
        return { context, metadata: bound.shownMetadata(metadata) };
      });
    },
  };
}

function listTool(bound: BoundCheckpoints): ToolDefinition {
  return {
    name: 'workflow_checkpoint_list',
    description: 'Lists the checkpoints of a session, newest first, without their contexts.',
    inputSchema: bound.sessionInput('The session.', {
      limit: {
        type: 'number',
        description: 'At most so many.',
        default: LIMIT,
        minimum: 1,
        maximum: LIMIT_MAX,
      },
      offset: {
        type: 'number',
        description: 'Leave out so many at the beginning.',
        default: 0,
        minimum: 0,
      },
    }),
    idempotent: true,
    async execute(args) {
      const given = args as { sessionId?: string; limit?: number; offset?: number };
      const { limit = LIMIT, offset = 0 } = given;
      const sessionId = bound.named(given.sessionId);
      return bound.asShown(sessionId, async () => {
        const query = { sessionId: bound.stored(sessionId), kind: null, limit, offset };
        const { checkpoints, ...page } = await bound.service.list(query);
        return { checkpoints: checkpoints.map((metadata) => bound.shownMetadata(metadata)), ...page };
      });
    },
  };
}

function markTool(bound: BoundCheckpoints): ToolDefinition {
  return {
    name: 'workflow_mark_critical',
    description:
      'Marks a key of the context as critical: from now on no budgeted view of this session leaves it out or cuts it. For goals and final answers.',
    inputSchema: bound.sessionInput(
      'The session.',
      {
        contextKey: { type: 'string', description: 'A key at the top of the newest context of the session.' },
      },
      ['contextKey'],
    ),
    async execute(args) {
      const given = args as { sessionId?: string; contextKey: string };
      const { contextKey } = given;
      const sessionId = bound.named(given.sessionId);
      return bound.asShown(sessionId, async () => {
        await bound.newest(sessionId); // a model must not mark sessions of whole agents
        await bound.service.markCritical({ sessionId: bound.stored(sessionId), contextKey });
        const { criticalKeys } = await bound.service.session(bound.stored(sessionId));
        return { sessionId, contextKey, criticalKeys };
      });
    },
  };
}
