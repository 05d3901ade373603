import * as rekindle from 'rekindle';
import * as sqlite from 'rekindle/storage/sqlite';
import { roundTrip, roundTripInSqlite } from './round-trip.cjs';

await roundTrip(rekindle, { dir: 'memory' });
await roundTripInSqlite(rekindle, sqlite);
