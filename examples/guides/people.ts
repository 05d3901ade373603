/**
 * People in the loop: an approval that is asked for again after a kill, and messages that arrive while the agent works.
 *
 *     npx tsx examples/guides/people.ts
 *
 * A script stands for the model.
 */
import assert from 'node:assert/strict';
import { type Agent, type Approve, openAgent, ScriptedModel, type ToolDefinition } from '../../src/index.js';
import { lives } from '../support/lives.js';

type Script = ConstructorParameters<typeof ScriptedModel>[0];

let mails = 0;
const sendMail: ToolDefinition = {
  name: 'send_mail',
  description: 'Sends the news to all customers.',
  inputSchema: { type: 'object' },
  needsApproval: true,
  execute: () => {
    mails += 1;
    return 'sent';
  },
};

function open(script: Script, approve: Approve): Promise<Agent> {
  return openAgent('news', {
    model: new ScriptedModel(script),
    tools: [sendMail],
    approve,
    memoryDir: 'memory',
  });
}

await lives(
  async (die) => {
    const agent = await open([{ calls: [{ name: 'send_mail', arguments: {} }] }], async ({ toolName }) => {
      console.log(`a person is asked about ${toolName}, and does not answer`);
      // Meanwhile a message arrives. It is on disk when this resolves.
      await agent.enqueue('Then write the report.', { id: 'msg-1' });
      await agent.enqueue('Then write the report.', { id: 'msg-1' }); // the client tries again: stored once
      return die();
    });
    await agent.send('Send the news.'); // never resolves
  },
  async () => {
    const script = [
      { text: 'The news is out, with the new logo.' },
      { text: 'This is the report: one, two, three, four, five, six.', wordMs: 200 },
      { text: 'I stopped.' },
    ];
    const agent = await open(script, async ({ toolName }) => {
      console.log(`the person is asked about ${toolName} again, and agrees`);
      await agent.enqueue('And use the new logo.', { mode: 'steer' }); // joins the running turn
      return true;
    });
    const [waiting] = agent.restoreReport!.interruptedCalls;
    console.log(`${waiting?.toolName} waits for: ${waiting?.waitsFor}; it was ${waiting?.verdict}`);
    console.log(
      'queued:',
      (await agent.queuedInputs()).map(({ id }) => id),
    );

    const turn = await agent.resume(); // asks again, and continues the turn
    console.log(turn.text);

    agent.events.on('text_delta', ({ delta }) => {
      // Runs at once: the report is cut off, and what was written of it stays.
      if (delta.startsWith('three')) void agent.enqueue('Stop!', { mode: 'interrupt' });
    });
    await agent.runQueued(); // after a restart, queued messages wait for this call
    const said = agent.messages.flatMap(({ role, content }) =>
      content ? [`${role}: ${content.trim()}`] : [],
    );
    console.log(said.join('\n').replace(/three.*/, 'three'));
    await agent.stop();

    assert.equal(waiting?.verdict, 'not_started');
    assert.equal(mails, 1);
    assert.equal(said.filter((text) => text === 'user: Then write the report.').length, 1);
    const [report, stop, last] = said.slice(-3);
    assert.match(report!, /one, two, three/);
    assert.doesNotMatch(report!, /six/);
    assert.deepEqual([stop, last], ['user: Stop!', 'assistant: I stopped.']);
  },
);
