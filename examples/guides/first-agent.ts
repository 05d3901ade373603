/**
 * The first agent: it is killed in the middle of an answer, and the next process goes on with it.
 *
 *     npx tsx examples/guides/first-agent.ts
 *
 * The offline model needs no key. It answers with what it finds in the context.
 */
import assert from 'node:assert/strict';
import { OfflineModel, openAgent } from '../../src/index.js';
import { lives } from '../support/lives.js';

/** Opens the agent if it exists, else makes it. */
function open() {
  return openAgent('desk', {
    model: new OfflineModel(), // or aiSdkModel(openai('gpt-5-mini')) from 'rekindle/ai-sdk'
    systemPrompt: 'You are an order desk.',
    memoryDir: 'memory',
  });
}

await lives(
  async (die) => {
    const agent = await open();
    const turn = await agent.send('Order 4711 ships on Friday.'); // on disk when it resolves
    console.log(turn.text);

    for await (const event of agent.stream('When does it ship?')) {
      if (event.type !== 'text_delta') continue;
      process.stdout.write(event.delta); // on disk before you see it
      if (event.delta.includes('ship')) await die(); // kill -9
    }
  },
  async () => {
    const agent = await open();
    const report = agent.restoreReport!;
    console.log('source:', report.source); // the saved context, and what was recorded after it
    console.log('messages:', report.messages);
    console.log('stopped at:', report.frontier.kind);
    console.log('answers that were cut off:', report.cutOffAnswers.length);

    const rest = await agent.resume(); // a restore runs nothing by itself
    console.log(rest.status, rest.text);
    await agent.stop();

    const first = agent.messages.find(({ role }) => role === 'user');
    assert.equal(first?.content, 'Order 4711 ships on Friday.');
    assert.equal(report.cutOffAnswers.length, 1);
    assert.equal(rest.status, 'completed');
  },
);
