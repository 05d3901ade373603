/** Checks the tools and compiles their schemas. */
import type { AgentContext } from '../context/agent-context.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { BootstrapStep } from './bootstrap-step.js';

export class ToolsStep implements BootstrapStep {
  readonly name = 'tools';

  async execute({ config, state }: AgentContext): Promise<void> {
    state.registry = new ToolRegistry(config.tools);
  }
}
