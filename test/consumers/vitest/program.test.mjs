import * as rekindle from 'rekindle';
import * as sqlite from 'rekindle/storage/sqlite';
import { test } from 'vitest';
import { roundTrip, roundTripInSqlite } from './round-trip.cjs';

test('an agent is kept in files', () => roundTrip(rekindle, { dir: 'memory' }));
test('an agent is kept in SQLite', () => roundTripInSqlite(rekindle, sqlite));
