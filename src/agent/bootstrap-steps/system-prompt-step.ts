import { RekindleError } from '../../core/errors.js';
import type { AgentStateOptions } from '../context/agent-config.js';
import type { AgentContext } from '../context/agent-context.js';
import type { BootstrapStep } from './bootstrap-step.js';

/**
 * Resolves `config.systemPrompt`, which may be a function, and adds the text of durable documents if `config.state`
 * wants it. @throws INVALID_ARGUMENT, and as `StateManager.load`
 */
export class SystemPromptStep implements BootstrapStep {
  readonly name = 'system-prompt';

  async execute({ config, state }: AgentContext): Promise<void> {
    const { systemPrompt } = config;
    const text = typeof systemPrompt === 'function' ? await systemPrompt() : systemPrompt;
    const documents = config.state ? await documentText(config.state, text) : '';
    state.systemPrompt = text === undefined ? null : `${text}${documents}`.toWellFormed();
  }
}

/** Empty if the documents are not wanted in the prompt. */
async function documentText(options: AgentStateOptions, prompt: string | undefined): Promise<string> {
  const { documents, inPrompt = false, tokens } = options;
  if (inPrompt === false || (inPrompt !== true && inPrompt.length === 0)) return '';
  // Without a prompt a restored agent keeps its own, which may hold an older text of the documents.
  if (prompt === undefined) throw promptNeeded();
  const { stateText } = await import('../../state/durable/tools/state-text.js'); // loaded only where it is used
  const text = await stateText(documents, {
    ...(inPrompt === true ? {} : { names: inPrompt }),
    ...(tokens === undefined ? {} : { tokens }),
  });
  return prompt === '' ? text : `\n\n${text}`;
}

function promptNeeded(): RekindleError {
  return new RekindleError(
    'INVALID_ARGUMENT',
    '`state.inPrompt` needs a `systemPrompt`, which may be empty.',
    {
      details: { field: 'systemPrompt' },
    },
  );
}
