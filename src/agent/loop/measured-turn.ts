/** A turn as a span of the GenAI conventions. */
import type { Telemetry } from '../../core/telemetry.js';
import type { TurnResult } from '../agent-events.js';

/** Runs it as `invoke_agent <id>`: the spans of its tools, of the model's own library and of its appends are children. */
export function measuredTurn(
  telemetry: Telemetry,
  agentId: string,
  run: () => Promise<TurnResult>,
): Promise<TurnResult> {
  const init = {
    operation: 'turn',
    name: `invoke_agent ${agentId}`,
    labels: { 'gen_ai.operation.name': 'invoke_agent' },
    attributes: { 'gen_ai.agent.id': agentId, 'gen_ai.conversation.id': agentId },
  } as const;
  return telemetry.measure(init, async (span) => {
    const result = await run();
    span?.setAttributes({
      'rekindle.turn.id': result.turnId,
      'rekindle.turn.status': result.status,
      'rekindle.turn.steps': result.steps,
    });
    for (const [type, tokens] of [
      ['input', result.usage.inputTokens],
      ['output', result.usage.outputTokens],
    ] as const) {
      if (tokens === undefined) continue; // the model did not report it
      span?.setAttributes({ [`gen_ai.usage.${type}_tokens`]: tokens });
      telemetry.count('turn.tokens', 'token', tokens, { 'gen_ai.token.type': type });
    }
    return result;
  });
}
