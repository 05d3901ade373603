/** What each project does with the package: opens a context, has a turn, closes it, and finds the turn in a second one. */
const assert = require('node:assert/strict');

exports.roundTrip = async ({ openWorkingContext }, place) => {
  const agentId = `agent-${Math.random().toString(36).slice(2)}`;
  const first = await openWorkingContext({ agentId, system: 'You are kind.', ...place });
  await first.beginTurn('I like green tea.');
  await first.endTurn([{ role: 'assistant', content: 'Noted.' }]);
  await first.close();
  const second = await openWorkingContext({ agentId, ...place });
  assert.deepEqual(
    second.messages.slice(-2).map(({ role, content }) => [role, content]),
    [
      ['user', 'I like green tea.'],
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
