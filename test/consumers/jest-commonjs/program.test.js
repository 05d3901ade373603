const { roundTrip, roundTripInSqlite } = require('./round-trip.cjs');

test('an agent is kept in files', () => roundTrip(require('rekindle'), { dir: 'memory' }));
test('an agent is kept in SQLite', () =>
  roundTripInSqlite(require('rekindle'), require('rekindle/storage/sqlite')));
