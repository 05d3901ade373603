import { defineConfig } from 'vitest/config';
import usual from './vitest.config.js';

/** The tests that `npm test` leaves out, those of adapters on every store, and those with random inputs with all of these. */
export default defineConfig({
  ...usual,
  test: {
    ...usual.test,
    testTimeout: 120_000,
    include: [
      'test/**/*.long.test.ts',
      'test/adapters/**/*.test.ts',
      'test/property/**/*.test.ts',
      'test/messages/**/*.test.ts',
    ],
    exclude: [],
    env: { REKINDLE_TEST_TARGETS: 'all', REKINDLE_RUNS_SHARE: '1' },
  },
});
