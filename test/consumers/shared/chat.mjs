/** One agent per conversation. A model of the tests takes the place of a provider: it streams words, and a slow answer takes a minute. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openWorkingContext } from 'rekindle';

async function* answerOf(messages, signal) {
  const texts = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  yield `message ${texts.length}`;
  if (texts.at(-1) === 'slow') await sleep(60_000, undefined, { signal });
  yield ': done.';
}

/** The pieces of the answer. The agent is let go when they end, when they fail, and when the signal aborts. */
export async function* chat({ conversation, text }, signal) {
  const context = await openWorkingContext({
    agentId: conversation,
    system: 'You are kind.',
    waitMs: 30_000,
    signal,
  });
  let answer = '';
  try {
    await context.beginTurn(text);
    for await (const piece of answerOf(context.messages, signal)) {
      answer += piece;
      yield piece;
    }
    await context.endTurn([{ role: 'assistant', content: answer }]);
    answer = null;
  } finally {
    if (answer !== null) await context.abandonTurn();
    await context.close();
  }
}
