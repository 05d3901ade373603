/** `rekindle approvals`, while this process runs the agent. */
import { expect, it, onTestFinished } from 'vitest';
import { openAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../src/agent/model/scripted-model.js';
import { toolResultOf } from '../../src/messages/message.js';
import { CLI_TIMEOUT_MS, inFolder, runCli } from './cli-fixture.js';

it(
  'approvals lists what waits, and a decision reaches the agent that runs',
  () =>
    inFolder(async (dir) => {
      const agent = await openAgent('desk', {
        memoryDir: dir,
        model: new ScriptedModel([
          {
            calls: [
              { id: 'one', name: 'pay', arguments: { to: '\u001b[31mred' } },
              { id: 'two', name: 'pay', arguments: { to: 'blue' } },
            ],
          },
          { text: 'ok' },
        ]),
        tools: [
          {
            ...{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, needsApproval: true },
            execute: ({ to }) => `paid ${String(to)}`,
          },
        ],
        approve: 'inbox',
      });
      onTestFinished(() => agent.stop({ graceMs: 0 }));
      const turn = agent.send('Pay both.');
      await expect
        .poll(async () => (await runCli(['approvals', 'list', '-d', dir])).stdout, { timeout: 20_000 })
        .toMatch(/^pay of agent desk \(call one, turn_0001\)\n(.+\n)+pay of agent desk \(call two, /);
      const { stdout } = await runCli(['approvals', 'list', 'desk', '-d', dir]);
      expect(stdout).toContain('to let it run: rekindle approvals approve desk one');
      expect(stdout).not.toContain('\u001b');

      const [approved, denied] = [
        await runCli(['approvals', 'approve', 'desk', 'one', '-d', dir]),
        await runCli(['approvals', 'deny', 'desk', 'two', '--reason', 'Not blue.', '--json', '-d', dir]),
      ];
      expect(approved).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(denied.stdout)).toMatchObject({
        decision: { approved: false, by: expect.stringMatching(/^user /) as string, reason: 'Not blue.' },
      });
      await turn;
      const results = agent.messages.flatMap((message) => toolResultOf(message) ?? []);
      expect(results).toMatchObject([
        { toolResult: 'paid \u001b[31mred' },
        { toolError: expect.stringContaining('Reason: Not blue.') as string },
      ]);
      const late = await runCli(['approvals', 'approve', 'desk', 'two', '-d', dir]);
      expect(late).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('APPROVAL_NOT_WAITING') as string,
      });
    }),
  CLI_TIMEOUT_MS,
);
