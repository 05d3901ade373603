import { defineConfig } from 'vitest/config';
import usual from '../../vitest.config.js';

/** For the tests that must catch a mutant, long ones among them; PostgreSQL is there already where it is needed. */
export default defineConfig({
  ...usual,
  root: new URL('../..', import.meta.url).pathname,
  test: { ...usual.test, exclude: [], globalSetup: [], maxWorkers: 1 },
});
