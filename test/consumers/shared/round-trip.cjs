/** What each project does with the package: opens a context, has a turn, closes it, and finds the turn in a second one. */
const assert = require('node:assert/strict');

const SAID = 'I like green tea. '.repeat(200);
/** Little enough for the tokens to be counted, and enough for them. */
const BUDGET = { inputBudgetTokens: 2_000 };

exports.roundTrip = async ({ openWorkingContext }, place) => {
  const agentId = `agent-${Math.random().toString(36).slice(2)}`;
  const first = await openWorkingContext({ agentId, system: 'You are kind.', ...place });
  await first.beginTurn(SAID);
  await first.requestFor('openai-chat', { budget: BUDGET });
  await first.endTurn([{ role: 'assistant', content: 'Noted.' }]);
  await first.close();
  const second = await openWorkingContext({ agentId, ...place });
  assert.deepEqual(
    second.messages.slice(-2).map(({ role, content }) => [role, content]),
    [
      ['user', SAID],
      ['assistant', 'Noted.'],
    ],
  );
  await second.close();
};

exports.roundTripInSqlite = async (rekindle, { SqliteStorage }, file = 'agents.db') => {
  const storage = new SqliteStorage(file);
  try {
    await exports.roundTrip(rekindle, { storage });
  } finally {
    await storage.close();
  }
};
