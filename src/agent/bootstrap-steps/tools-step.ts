import type { ToolDefinition } from '../../core/tool-definition.js';
import { lookBackTools } from '../../memory/tools/memory-tools.js';
import type { AgentContext } from '../context/agent-context.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { BootstrapStep } from './bootstrap-step.js';

/** Checks the tools and compiles their schemas. @throws TOOL_INVALID */
export class ToolsStep implements BootstrapStep {
  readonly name = 'tools';

  async execute(context: AgentContext): Promise<void> {
    context.state.registry = new ToolRegistry(toolsOf(context));
  }
}

/**
 * An agent whose context may shrink always gets the look-back tools, so that its tool list never changes
 * during a conversation.
 */
function toolsOf({ agentId, config, storage }: AgentContext): readonly ToolDefinition[] {
  const { tools = [], memory } = config;
  if (tools.length === 0 || memory?.compaction === null) return tools;
  const own = new Set(tools.map((tool) => tool?.name));
  return [...tools, ...lookBackTools({ backend: storage, agentId }).filter(({ name }) => !own.has(name))];
}
