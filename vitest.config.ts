import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Those that wait for long, or repeat much, have a run of their own: `npm run test:long`.
    exclude: ['test/**/*.long.test.ts'],
    globalSetup: ['test/support/build-cli.ts', 'test/support/postgres-global.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Child processes and real disks: two files at a time are enough for two cores.
    maxWorkers: 2,
    // No test changes its process or a module for good, so a worker keeps what it has loaded: a process for each file, which
    // loads everything again, takes a tenth of the time. No threads: they cannot set the umask.
    pool: 'forks',
    isolate: false,
    // A quarter of the random inputs; `npm run test:long` tries all of them.
    env: { REKINDLE_RUNS_SHARE: process.env['REKINDLE_RUNS_SHARE'] ?? '0.25' },
  },
});
