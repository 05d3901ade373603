/** The tools with which an agent saves and loads its context. */
import type { JsonObject } from '../../core/json.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import type { CheckpointService } from '../checkpoint-service.js';

const LIMIT = 20;
const LIMIT_MAX = 100;

interface SaveArgs {
  readonly sessionId?: string;
  readonly context: JsonObject;
  readonly metadata?: { readonly name?: string; readonly tags?: readonly string[] };
  readonly force?: boolean;
}

/** Tool definitions as the agent loop and MCP mount them. @param agentId noted on what is saved */
export function checkpointTools(service: CheckpointService, agentId: string | null = null): ToolDefinition[] {
  const tools = [saveTool(service, agentId), loadTool(service), listTool(service), markTool(service)];
  return tools.map((tool) => ({ ...tool, returnsJson: true })); // a context comes back exactly as it was saved
}

function saveTool(service: CheckpointService, agentId: string | null): ToolDefinition {
  return {
    name: 'workflow_checkpoint_save',
    description:
      'Saves the context of a workflow, to go back to it later. Gives the id of the checkpoint, and the session id: give that for the next checkpoint of the same workflow. Saves nothing when the context is the same as in the newest checkpoint.',
    inputSchema: inputObject(
      {
        sessionId: {
          type: 'string',
          description: 'The workflow session. Left out, it is derived from the context.',
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
      const saved = await service.save({
        context,
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(metadata === undefined ? {} : { metadata }),
        ...(force === undefined ? {} : { force }),
        ...(agentId === null ? {} : { agentId }),
      });
      const { status, checkpointId, removed, warnings } = saved;
      return {
        status,
        checkpointId,
        sessionId: saved.sessionId,
        contextSizeBytes: saved.metadata.contextSizeBytes,
        storedBytes: saved.metadata.storedBytes,
        removed: removed.map(({ id }) => id),
        warnings,
      };
    },
  };
}

function loadTool(service: CheckpointService): ToolDefinition {
  return {
    name: 'workflow_checkpoint_load',
    description:
      'Loads a context exactly as it was saved: one checkpoint by its id, or the newest one of a session.',
    inputSchema: {
      ...inputObject({
        checkpointId: { type: 'string', description: 'The checkpoint. Not together with sessionId.' },
        sessionId: {
          type: 'string',
          description: 'The session whose newest checkpoint is wanted. Not together with checkpointId.',
        },
      }),
      oneOf: [{ required: ['checkpointId'] }, { required: ['sessionId'] }],
    },
    idempotent: true,
    async execute(args) {
      const { checkpointId, sessionId } = args as { checkpointId?: string; sessionId?: string };
      return service.load(checkpointId === undefined ? { sessionId: sessionId! } : { checkpointId });
    },
  };
}

function listTool(service: CheckpointService): ToolDefinition {
  return {
    name: 'workflow_checkpoint_list',
    description: 'Lists the checkpoints of a session, newest first, without their contexts.',
    inputSchema: inputObject(
      {
        sessionId: { type: 'string', description: 'The session.' },
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
      },
      ['sessionId'],
    ),
    idempotent: true,
    async execute(args) {
      const {
        sessionId,
        limit = LIMIT,
        offset = 0,
      } = args as { sessionId: string; limit?: number; offset?: number };
      return service.list({ sessionId, limit, offset });
    },
  };
}

function markTool(service: CheckpointService): ToolDefinition {
  return {
    name: 'workflow_mark_critical',
    description:
      'Marks a key of the context as critical: from now on no budgeted view of this session leaves it out or cuts it. For goals and final answers.',
    inputSchema: inputObject(
      {
        sessionId: { type: 'string', description: 'The session.' },
        contextKey: { type: 'string', description: 'A key at the top of the context.' },
      },
      ['sessionId', 'contextKey'],
    ),
    async execute(args) {
      const { sessionId, contextKey } = args as { sessionId: string; contextKey: string };
      await service.markCritical({ sessionId, contextKey });
      const { criticalKeys } = await service.session(sessionId);
      return { sessionId, contextKey, criticalKeys };
    },
  };
}
