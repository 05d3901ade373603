import { RekindleError } from '../../core/errors.js';
import { type TSchema, Type } from '../../core/schema.js';
import { lazySchema, type SchemaCheck } from '../../core/schema-check.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import { ConfigFile } from '../../storage/config-file.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import type { ContextBudget } from '../context/context-request.js';
import type { EntryRules, EntrySchemas } from '../entries/entry-check.js';

interface AgentBudget {
  readonly workspace_total_tokens?: number;
  readonly per_key_limits?: { readonly [key: string]: number };
}

const tokens = Type.Integer({ minimum: 0 });
/** Any key. `Type.Record` would leave keys with a line break unchecked. */
const byName = (value: TSchema) => Type.Object({}, { additionalProperties: value });
/** Names of tools by agent; `*` stands for every tool. An agent that is not listed may use all tools. */
const AgentTools = byName(Type.Array(Type.String({ minLength: 1 })));
const ContextBudgets = byName(
  Type.Object(
    { workspace_total_tokens: Type.Optional(tokens), per_key_limits: Type.Optional(byName(tokens)) },
    { additionalProperties: false },
  ),
);
/** JSON Schema (2020-12) by key, and whether other keys may be written. */
const EntrySchemaFile = Type.Object(
  {
    entries: byName(Type.Object({})),
    unknown_keys: Type.Optional(Type.Union([Type.Literal('allow'), Type.Literal('refuse')])),
  },
  { additionalProperties: false },
);
interface EntrySchemaFile {
  readonly entries: EntrySchemas;
  readonly unknown_keys?: 'allow' | 'refuse';
}
type AgentTools = { readonly [agent: string]: readonly string[] };
type ContextBudgets = { readonly [agent: string]: AgentBudget };

const checkTools = lazySchema(AgentTools);
const checkBudgets = lazySchema(ContextBudgets);
const checkEntries = lazySchema(EntrySchemaFile);

/**
 * The configuration files of a workspace, which people edit: `config/agent_tools.json` (the tools an agent
 * may use), `config/context_budgets.json` (tokens of the workspace that an agent is shown) and
 * `config/entry_schemas.json` (valid entries). They are read at each use, so a change applies at once,
 * everywhere. An invalid file is refused with its line, never ignored.
 */
export class WorkspaceConfig {
  readonly #budgets: ConfigFile<ContextBudgets>;
  readonly #tools: ConfigFile<AgentTools>;
  readonly #entries: ConfigFile<EntrySchemaFile>;

  constructor({ documents }: StorageBackend, folder: Name) {
    const file = (last: string, check: () => SchemaCheck) => {
      const name = [...folder, 'config', last];
      return { name, check, read: () => documents.readBytes(name) };
    };
    this.#budgets = new ConfigFile(file('context_budgets.json', checkBudgets));
    this.#tools = new ConfigFile(file('agent_tools.json', checkTools));
    this.#entries = new ConfigFile(file('entry_schemas.json', checkEntries));
  }

  /**
   * The rules for entries. Returns the same `schemas` object until the file changes. @throws DOCUMENT_DAMAGED
   * with line and column
   */
  async entryRules(): Promise<EntryRules> {
    const { entries, unknown_keys: unknownKeys } = (await this.#entries.read()) ?? {};
    return {
      ...(entries === undefined ? {} : { schemas: entries }),
      ...(unknownKeys === undefined ? {} : { unknownKeys }),
    };
  }

  /** The budget of an agent; undefined if none is set. @throws DOCUMENT_DAMAGED with line and column */
  async budgetOf(agent: string): Promise<ContextBudget | undefined> {
    const budgets = (await this.#budgets.read()) ?? {};
    if (!Object.hasOwn(budgets, agent)) return undefined;
    const { workspace_total_tokens: total, per_key_limits: perKey } = budgets[agent]!;
    return { ...(total === undefined ? {} : { total }), ...(perKey === undefined ? {} : { perKey }) };
  }

  /** Whether an agent may use a tool. @throws DOCUMENT_DAMAGED with line and column */
  async mayUse(agent: string, tool: string): Promise<boolean> {
    const allowed = (await this.#tools.read()) ?? {};
    if (!Object.hasOwn(allowed, agent)) return true;
    return allowed[agent]!.some((name) => name === '*' || name === tool);
  }

  /**
   * The tools that an agent may use now. Each one checks again when it is called, because the file may have
   * changed.
   */
  async toolsFor<Args>(
    agent: string,
    tools: readonly ToolDefinition<Args>[],
  ): Promise<ToolDefinition<Args>[]> {
    const allowed: ToolDefinition<Args>[] = [];
    for (const tool of tools)
      if (await this.mayUse(agent, tool.name)) allowed.push(this.guarded(agent, tool));
    return allowed;
  }

  /** Wraps a tool so that it throws TOOL_REFUSED if the agent may not use it. */
  guarded<Args>(agent: string, tool: ToolDefinition<Args>): ToolDefinition<Args> {
    const { needsApproval: asks } = tool;
    // A tool may be a class instance: inherited members are not copied automatically.
    return {
      ...tool,
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      ...(tool.idempotent === undefined ? {} : { idempotent: tool.idempotent }),
      ...(tool.returnsJson === undefined ? {} : { returnsJson: tool.returnsJson }),
      ...(tool.timeoutMs === undefined ? {} : { timeoutMs: tool.timeoutMs }),
      ...(asks === undefined ? {} : { needsApproval: typeof asks === 'function' ? asks.bind(tool) : asks }),
      execute: async (args, context) => {
        if (await this.mayUse(agent, tool.name)) return tool.execute(args, context);
        throw new RekindleError('TOOL_REFUSED', `${agent} may not use ${tool.name}.`, {
          details: { agent, tool: tool.name },
        });
      },
    };
  }
}
