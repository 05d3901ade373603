#!/usr/bin/env node
/** The command line. The version is known without loading any command. */
import { packageVersion } from './package-version.js';

// A closed pipe (`rekindle list | head -1`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
});

const first = process.argv[2];
if (first === '--version' || first === '-V') process.stdout.write(`${packageVersion()}\n`);
else await (await import('./program.js')).runProgram();
