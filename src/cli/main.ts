#!/usr/bin/env node
/** The command line. Its version is known without any command, and without what reads the commands. */
import { packageVersion } from './package-version.js';

// A closed pipe (`rekindle list | head -1`) is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
});

const first = process.argv[2];
if (first === '--version' || first === '-V') process.stdout.write(`${packageVersion()}\n`);
else await (await import('./program.js')).runProgram();
