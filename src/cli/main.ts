#!/usr/bin/env node
/** The command line. One file a command; this one only puts them together. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addChatCommand } from './chat-command.js';
import { addCheckCommand } from './check-command.js';
import { addCompactCommand } from './compact-command.js';
import { addDemoCommand } from './demo-command.js';
import { EXIT } from './exit-codes.js';
import { addExportCommand } from './export-command.js';
import { addImportCommand } from './import-command.js';
import { addListCommand } from './list-command.js';
import { addRebuildCommand, addRepairCommand } from './repair-command.js';
import { addRepairHistoryCommand } from './repair-history-command.js';
import { addInspectCommand, addRestoreCommand } from './restore-command.js';
import { addVerifyCommand } from './verify-command.js';

const packageJson = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('rekindle')
  .description('Brings an AI agent back after its process died: the exact working context, with a report.')
  .version(packageJson.version)
  .showHelpAfterError('(see: rekindle --help)')
  .exitOverride();

addDemoCommand(program);
addChatCommand(program);
addListCommand(program);
addInspectCommand(program);
addRestoreCommand(program);
addVerifyCommand(program);
addRepairCommand(program);
addRebuildCommand(program);
addCompactCommand(program);
addImportCommand(program);
addExportCommand(program);
addCheckCommand(program);
addRepairHistoryCommand(program);

// A closed pipe (`rekindle list | head -1`) is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
});

try {
  await program.parseAsync();
} catch (thrown) {
  if (!(thrown instanceof CommanderError)) throw thrown;
  process.exitCode = thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
}
