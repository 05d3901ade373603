/**
 * The loop of the OpenAI Agents SDK over a session of Rekindle: the process is killed between two runs, and the session has all items.
 *
 *     npx tsx examples/guides/own-loop.ts
 *
 * The scripted model of the SDK needs no key.
 */
import assert from 'node:assert/strict';
import { Agent, Runner } from '@openai/agents-core';
import { assistantMessage, ScriptedModel } from '@openai/agents-core/testing';
import { RekindleSession } from '../../src/adapters/openai-agents/index.js';
import { openStorage } from '../../src/storage/index.js';
import { lives } from '../support/lives.js';

/** One run over the stored session. Resolves with what the model answered, and with the number of items it was given. */
async function ask(question: string, answer: string): Promise<{ text: unknown; given: number }> {
  const model = new ScriptedModel([[assistantMessage(answer)]]);
  const agent = new Agent({ name: 'desk', instructions: 'You are an order desk.', model });
  const storage = openStorage('memory');
  const session = new RekindleSession({ sessionId: 'ann', storage });
  const runner = new Runner({ tracingDisabled: true });
  const { finalOutput } = await runner.run(agent, question, { session }); // its items are on disk when it resolves
  await session.close();
  await storage.close();
  const given = model.firstCall?.request.input as readonly unknown[];
  return { text: finalOutput, given: given.length };
}

await lives(
  async (die) => {
    console.log('first:', await ask('Where is order 4711?', 'It ships on Friday.'));
    await die();
  },
  async () => {
    const second = await ask('And order 4712?', 'On Monday.');
    console.log('second:', second);
    assert.equal(second.given, 3); // the first question, its answer, and the new question
  },
);
