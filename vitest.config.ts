import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build-cli.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Child processes and real disks: two files at a time are enough for two cores.
    maxWorkers: 2,
  },
});
