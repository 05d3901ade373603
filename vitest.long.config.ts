import { defineConfig } from 'vitest/config';
import usual from './vitest.config.js';

/** The tests that `npm test` leaves out. */
export default defineConfig({
  ...usual,
  test: { ...usual.test, include: ['test/**/*.long.test.ts'], exclude: [] },
});
