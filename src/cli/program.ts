/** Registers the commands. Each one has its own file. */
import { Command, CommanderError } from 'commander';
import { EXIT } from './exit-codes.js';
import { packageVersion } from './package-version.js';
import { safeText } from './safe-text.js';

/** In the order of the help. */
const COMMANDS: ReadonlyMap<string, () => Promise<(program: Command) => void>> = new Map([
  ['demo', async () => (await import('./demo-command.js')).addDemoCommand],
  ['chat', async () => (await import('./chat-command.js')).addChatCommand],
  ['list', async () => (await import('./list-command.js')).addListCommand],
  ['inspect', async () => (await import('./restore-command.js')).addInspectCommand],
  ['search', async () => (await import('./search-command.js')).addSearchCommand],
  ['history', async () => (await import('./fork-command.js')).addHistoryCommand],
  ['fork', async () => (await import('./fork-command.js')).addForkCommand],
  ['restore', async () => (await import('./restore-command.js')).addRestoreCommand],
  ['verify', async () => (await import('./verify-command.js')).addVerifyCommand],
  ['repair', async () => (await import('./repair-command.js')).addRepairCommand],
  ['rebuild', async () => (await import('./repair-command.js')).addRebuildCommand],
  ['seal', async () => (await import('./seal-command.js')).addSealCommand],
  ['scan', async () => (await import('./scan-command.js')).addScanCommand],
  ['doctor', async () => (await import('./doctor-command.js')).addDoctorCommand],
  ['unlock', async () => (await import('./unlock-command.js')).addUnlockCommand],
  ['compact', async () => (await import('./compact-command.js')).addCompactCommand],
  ['import', async () => (await import('./import-command.js')).addImportCommand],
  ['export', async () => (await import('./export-command.js')).addExportCommand],
  ['copy', async () => (await import('./copy-command.js')).addCopyCommand],
  ['erase', async () => (await import('./erase-command.js')).addEraseCommand],
  ['check', async () => (await import('./check-command.js')).addCheckCommand],
  ['state', async () => (await import('./state-command.js')).addStateCommand],
  ['migrate', async () => (await import('./migrate-command.js')).addMigrateCommand],
  ['workspace', async () => (await import('./workspace-command.js')).addWorkspaceCommand],
  ['checkpoint', async () => (await import('./checkpoint-command.js')).addCheckpointCommand],
  ['session', async () => (await import('./session-command.js')).addSessionCommand],
  ['shared', async () => (await import('./shared-command.js')).addSharedCommand],
  ['memory', async () => (await import('./memory-command.js')).addMemoryCommand],
  ['approvals', async () => (await import('./approvals-command.js')).addApprovalsCommand],
  ['token', async () => (await import('./token-command.js')).addTokenCommand],
  ['audit', async () => (await import('./audit-command.js')).addAuditCommand],
  ['serve', async () => (await import('./serve-command.js')).addServeCommand],
  ['mcp', async () => (await import('./mcp-command.js')).addMcpCommand],
  ['repair-history', async () => (await import('./repair-history-command.js')).addRepairHistoryCommand],
]);

export async function runProgram(): Promise<void> {
  const program = newProgram();
  // Load only the used command: the readers of fifteen formats take longer to load than most commands to run.
  const named = COMMANDS.get(process.argv[2] ?? '');
  for (const load of named ? [named] : COMMANDS.values()) (await load())(program);
  try {
    await program.parseAsync();
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    process.exitCode = thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

function newProgram(): Command {
  return new Command('rekindle')
    .description('Restores an AI agent after its process ended: the exact working context, with a report.')
    .version(packageVersion())
    .configureOutput({ outputError: (text, write) => write(safeText(text)) }) // it echoes arguments
    .showHelpAfterError('(see: rekindle --help)')
    .enablePositionalOptions() // `--version` after a command belongs to the command
    .exitOverride();
}
