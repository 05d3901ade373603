import * as rekindle from 'rekindle';
import { roundTrip } from './round-trip.cjs';

await roundTrip(rekindle, { dir: 'memory' });
