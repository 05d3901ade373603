/**
 * The inbox of approvals: a person decides in another process than the one that runs the agent.
 *
 *     npx tsx examples/guides/approvals.ts
 *
 * A script stands for the model.
 */
import assert from 'node:assert/strict';
import { decideApproval, waitingApprovals } from '../../src/agent/index.js';
import { FileStorage, openAgent, ScriptedModel, type ToolDefinition } from '../../src/index.js';
import { lives } from '../support/lives.js';

const pay: ToolDefinition = {
  name: 'pay',
  description: 'Pays an invoice.',
  inputSchema: { type: 'object', required: ['amount'] },
  needsApproval: ({ amount }) => Number(amount) > 100,
  execute: ({ amount }) => `paid ${String(amount)}`,
};

function open(script: ConstructorParameters<typeof ScriptedModel>[0]) {
  return openAgent('desk', {
    model: new ScriptedModel(script),
    tools: [pay],
    approve: 'inbox', // wait for a decision from anywhere
    approvalExpiresMs: 7 * 24 * 3_600_000, // after a week it counts as denied
    memoryDir: 'memory',
  });
}

await lives(
  async (die) => {
    const agent = await open([{ calls: [{ name: 'pay', arguments: { amount: 120 } }] }]);
    agent.events.on('tool_approval_requested', () => die());
    await agent.send('Pay the invoice.'); // never resolves
  },
  async (die) => {
    const storage = new FileStorage('memory');
    for (const call of await waitingApprovals(storage)) {
      const { agentId, callId, argumentsHash } = call;
      console.log(`${agentId} wants to run ${call.toolName}${JSON.stringify(call.arguments)}`);
      await decideApproval(storage, { agentId, callId, argumentsHash, approved: true, by: 'the editor' });
    }
    await storage.close();
    await die();
  },
  async () => {
    const agent = await open([{ text: 'The invoice is paid.' }]);
    const turn = await agent.resume(); // takes the decision, runs the call, and continues the turn
    console.log(turn.text);
    await agent.stop();
    assert.equal(turn.text, 'The invoice is paid.');
    assert.match(JSON.stringify(agent.messages), /paid 120/);
  },
);
