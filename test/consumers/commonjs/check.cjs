const assert = require('node:assert/strict');
const rekindle = require('rekindle');
const sqlite = require('rekindle/storage/sqlite');
const { roundTrip, roundTripInSqlite } = require('./round-trip.cjs');

async function check() {
  assert.equal((await import('rekindle')).openWorkingContext, rekindle.openWorkingContext);
  await roundTrip(rekindle, { dir: 'memory' });
  await roundTripInSqlite(rekindle, sqlite);
}

void check();
