import { defineConfig } from 'vitest/config';
import usual from './vitest.config.js';

/** The tests that `npm test` leaves out, and those of adapters on every store. */
export default defineConfig({
  ...usual,
  test: {
    ...usual.test,
    include: ['test/**/*.long.test.ts', 'test/adapters/**/*.test.ts'],
    exclude: [],
    env: { REKINDLE_TEST_TARGETS: 'all' },
  },
});
