import type { AgentContext } from '../context/agent-context.js';
import type { BootstrapStep } from './bootstrap-step.js';

/** Resolves `config.systemPrompt`, which may be a function. */
export class SystemPromptStep implements BootstrapStep {
  readonly name = 'system-prompt';

  async execute({ config, state }: AgentContext): Promise<void> {
    const { systemPrompt } = config;
    const text = typeof systemPrompt === 'function' ? await systemPrompt() : systemPrompt;
    state.systemPrompt = text === undefined ? null : text.toWellFormed();
  }
}
