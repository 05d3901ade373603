/**
 * The tools with which a model keeps facts. The owner is fixed here: no parameter names an agent, a scope or a source.
 * What a model remembers is the agent's fact, never the user's.
 */
import type { JsonObject } from '../../core/json.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { MemoryManager } from '../memory-manager.js';
import { assertAgentExists, openMemory } from '../open-memory.js';
import type { Fact } from './fact.js';
import { textKey } from './fact-key.js';
import { toolOriginsOfTurn } from './fact-traces.js';
import { FACT_LIMITS, type Facts } from './facts.js';

/** For tools of a running agent. */
export interface FactToolOptions {
  /** Returns the memory of the running agent once it is open: `() => agent.memory`. */
  readonly memory: () => MemoryManager;
}

/**
 * For agents that do not run here: the memory is opened for each call, under the agent's lease. LEASE_HELD while the
 * agent runs.
 */
export interface StoredFactToolOptions {
  readonly backend: StorageBackend;
  readonly agentId: string;
  /** See `MemoryOptions.scope`. */
  readonly scope?: string;
}

type WithMemory = <T>(work: (memory: MemoryManager) => Promise<T>) => Promise<T>;

/** How long a call waits for an agent that another process has open, in milliseconds. */
const WAIT_MS = 2_000;
const ID: JsonObject = {
  type: 'string',
  pattern: '\\S',
  maxLength: FACT_LIMITS.text,
  description: 'The id of the fact, or its whole text as your memory has it.',
};
const NAMES: ReadonlySet<string> = new Set(['remember', 'forget', 'pin']);

/** The tools `remember`, `forget` and `pin`, for the agent loop and MCP. */
export function factTools(options: FactToolOptions | StoredFactToolOptions): ToolDefinition[] {
  const withMemory = memoryOf(options);
  return [rememberTool(withMemory), forgetTool(withMemory), pinTool(withMemory)];
}

function memoryOf(options: FactToolOptions | StoredFactToolOptions): WithMemory {
  if ('memory' in options) return (work) => work(options.memory());
  const { backend, agentId, scope } = options;
  return async (work) => {
    await assertAgentExists(backend, agentId);
    const given = scope === undefined ? {} : { scope };
    const opened = await openMemory(backend, agentId, { compaction: null, waitMs: WAIT_MS, ...given });
    try {
      return await work(opened.memory);
    } finally {
      await opened.close();
    }
  };
}

function rememberTool(withMemory: WithMemory): ToolDefinition {
  return {
    name: 'remember',
    description:
      'Keeps a fact beyond this conversation, as your own note. A fact with the same key, or the same text, is replaced. Gives its id.',
    inputSchema: inputObject(
      {
        text: { type: 'string', pattern: '\\S', maxLength: FACT_LIMITS.text, description: 'One fact.' },
        category: { type: 'string', pattern: '\\S', maxLength: FACT_LIMITS.category },
        key: {
          type: 'string',
          pattern: '\\S',
          maxLength: FACT_LIMITS.key,
          description: 'What it is about, where a later fact is to replace it.',
        },
      },
      ['text'],
    ),
    execute: ({ text, category, key }) =>
      withMemory(async ({ facts, store }) => {
        const fact = await facts.remember(String(text), {
          source: 'agent',
          origins: ['agent', ...(await toolOriginsOfTurn(store, NAMES))],
          ...(typeof category === 'string' ? { category } : {}),
          ...(typeof key === 'string' ? { key } : {}),
        });
        return shown(fact);
      }),
  };
}

function forgetTool(withMemory: WithMemory): ToolDefinition {
  return {
    name: 'forget',
    description: 'A fact that is wrong, or not wanted any more, no longer comes into your memory.',
    inputSchema: inputObject({ id: ID }, ['id']),
    idempotent: true,
    execute: ({ id }) =>
      withMemory(async ({ facts }) => shown(await facts.forget(await idOf(facts, String(id))))),
  };
}

function pinTool(withMemory: WithMemory): ToolDefinition {
  return {
    name: 'pin',
    description: 'A pinned fact comes into your memory before the others, where there is no room for all.',
    inputSchema: inputObject(
      { id: ID, pinned: { type: 'boolean', description: 'False takes the pin off. Default true.' } },
      ['id'],
    ),
    idempotent: true,
    execute: ({ id, pinned }) =>
      withMemory(async ({ facts }) => {
        const known = await idOf(facts, String(id));
        return shown(await (pinned === false ? facts.unpin(known) : facts.pin(known)));
      }),
  };
}

/** A memory message shows texts instead of ids. */
async function idOf(facts: Facts, given: string): Promise<string> {
  const wanted = textKey(given);
  return (await facts.list()).findLast(({ text }) => textKey(text) === wanted)?.id ?? given;
}

function shown({ id, text, category, key, source, pinned, replacedBy, gone }: Fact): JsonObject {
  return { id, text, category, key, source, pinned, replaced_by: replacedBy, gone };
}
