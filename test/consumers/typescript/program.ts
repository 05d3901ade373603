import { openWorkingContext, RekindleError, type RestoreReport } from 'rekindle';
import { MemoryManager } from 'rekindle/memory';
import { checkHistory, type Message } from 'rekindle/messages';
import { StateManager } from 'rekindle/state';
import { Workspace } from 'rekindle/workspace';

async function main(): Promise<void> {
  const context = await openWorkingContext({ agentId: `a-${Date.now()}`, system: 'You are kind.' });
  await context.beginTurn('I like green tea.');
  await context.endTurn([{ role: 'assistant', content: 'Noted.' }]);
  const messages: readonly Message[] = context.messages;
  const report: RestoreReport = context.report;
  const facts: string[] = [report.source, String(messages[1]?.content)];
  await context.close();
  if (checkHistory(messages).length > 0 || facts[1] !== 'I like green tea.')
    throw new RekindleError('AGENT_STATE', 'lost');
  if ([MemoryManager, StateManager, Workspace].some((named) => typeof named !== 'function'))
    process.exitCode = 1;
}

void main();
