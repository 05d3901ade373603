import type { ToolDefinition } from '../../core/tool-definition.js';
import { embedderOptions } from '../../memory/recall/embedder-options.js';
import { lookBackTools } from '../../memory/tools/memory-tools.js';
import type { AgentContext } from '../context/agent-context.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { BootstrapStep } from './bootstrap-step.js';

/** Checks the tools, with those of the durable documents, and compiles their schemas. @throws TOOL_INVALID, INVALID_ARGUMENT */
export class ToolsStep implements BootstrapStep {
  readonly name = 'tools';

  async execute(context: AgentContext): Promise<void> {
    context.state.registry = new ToolRegistry(toolsOf(context, await documentTools(context)));
  }
}

/**
 * An agent whose context may shrink always gets the look-back tools, so that its tool list never changes
 * during a conversation.
 */
function toolsOf(
  { agentId, config, storage }: AgentContext,
  ofDocuments: readonly ToolDefinition[],
): readonly ToolDefinition[] {
  const { memory } = config;
  const tools = [...(config.tools ?? []), ...ofDocuments];
  if (tools.length === 0 || memory?.compaction === null) return tools;
  const own = new Set(tools.map((tool) => tool?.name));
  const lookBack = lookBackTools({ backend: storage, agentId, ...embedderOptions(memory?.recall) });
  return [...tools, ...lookBack.filter(({ name }) => !own.has(name))];
}

/** Loaded only where they are used. */
async function documentTools({
  agentId,
  config: { state, name },
}: AgentContext): Promise<readonly ToolDefinition[]> {
  if (!state) return [];
  const { stateTools } = await import('../../state/durable/tools/state-tools.js');
  const { documents, by = name ?? agentId, tokens } = state;
  return stateTools(documents, { by, ...(tokens === undefined ? {} : { readTokens: tokens }) });
}
