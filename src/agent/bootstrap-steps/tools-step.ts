/** Checks the tools and compiles their schemas. */
import type { ToolDefinition } from '../../core/tool-definition.js';
import { readResultTool } from '../../memory/tools/read-result.js';
import type { AgentContext } from '../context/agent-context.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { BootstrapStep } from './bootstrap-step.js';

export class ToolsStep implements BootstrapStep {
  readonly name = 'tools';

  async execute(context: AgentContext): Promise<void> {
    context.state.registry = new ToolRegistry(toolsOf(context));
  }
}

/** An agent whose results may be stored apart can read them: always, so that its list of tools never changes in the middle. */
function toolsOf({ agentId, config, storage }: AgentContext): readonly ToolDefinition[] {
  const { tools = [], memory } = config;
  const reader = readResultTool({ backend: storage, agentId });
  const isLeftOut =
    tools.length === 0 || memory?.compaction === null || tools.some((tool) => tool?.name === reader.name);
  return isLeftOut ? tools : [...tools, reader];
}
