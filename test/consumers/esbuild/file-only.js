const { roundTrip } = require('./round-trip.cjs');

roundTrip(require('rekindle'), { dir: 'memory' });
