/**
 * An agent that remembers. Run it, run it again, kill it in between: it goes on where it was.
 *
 *     npx tsx examples/restart.ts "Order 4711 ships on Friday."
 *     npx tsx examples/restart.ts "When does it ship?"
 *
 * The offline model needs no key; it shows what is in the context. Memory is in `./memory`.
 */
import { OfflineModel, openAgent } from '../src/index.js'; // in your program: from 'rekindle'

const agent = await openAgent('desk', {
  model: new OfflineModel(), // or aiSdkModel(openai('gpt-5-mini')) from 'rekindle/ai-sdk'
  systemPrompt: 'You are an order desk.',
});

const turn = await agent.send(process.argv[2] ?? 'Order 4711 ships on Friday.'); // on disk when it resolves
console.log(turn.text);
console.log(agent.restoreReport?.source ?? 'a new agent', agent.messages.length, 'messages');
await agent.stop();
