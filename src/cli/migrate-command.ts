/** `rekindle migrate`: migrates durable documents to the newest version of their schemas. */
import type { Command } from 'commander';
import type { JsonValue } from '../core/json.js';
import { type MigrationResult, migrateDocuments } from '../state/durable/migrate-documents.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { definitionsToLook, loadDefinitions, notRunLines } from './state-definitions.js';
import { changeLine, wholeNumber } from './value-text.js';

interface MigrateCommandOptions extends CommonOptions {
  readonly definitions?: string;
  readonly dryRun?: boolean;
  readonly to?: string;
}

export function addMigrateCommand(program: Command): void {
  withCommonOptions(
    program
      .command('migrate')
      .description('migrate durable documents to the newest version of their schemas')
      .option('--dry-run', 'only show what would change')
      .option('--to <version>', 'stop at this version')
      .option(
        '--definitions <folder>',
        'folder of the <name>.state.mjs files, which are executed (default: ./rekindle; none with --dry-run)',
      ),
  ).action((options: MigrateCommandOptions) =>
    runCommand(options, async ({ storage, print }) => {
      const { definitions, notRun } = options.dryRun
        ? await definitionsToLook(options.definitions)
        : { definitions: await loadDefinitions(options.definitions), notRun: [] };
      const results = await migrateDocuments(storage, definitions, {
        ...(options.dryRun ? { dryRun: true } : {}),
        ...(options.to === undefined ? {} : { to: wholeNumber(options.to, '--to') }),
      });
      const none = ['No documents here.'];
      const lines = results.length === 0 ? none : results.flatMap(describe);
      print([...lines, ...notRunLines(notRun)], { documents: results as unknown as JsonValue, notRun });
      return results.some(({ error }) => error !== null) ? EXIT.problem : EXIT.ok;
    }),
  );
}

function describe(result: MigrationResult): string[] {
  const { name, from, to, changes, error, quarantine } = result;
  const lines = changes.map((step) => `  ${changeLine(step)}`);
  switch (result.status) {
    case 'current':
      return [`${name}: at version ${from}. Nothing to do.`];
    case 'newer':
      return [`${name}: at version ${from}, which is newer. Not changed.`];
    case 'unknown':
      return [`${name}: no definition found. Not changed.`];
    case 'migrated':
      return [`${name}: version ${from} became ${to}.`, ...lines];
    case 'would-migrate':
      return [`${name}: version ${from} would become ${to}.`, ...lines];
    case 'refused':
      return [`${name}: stays at version ${from}. ${error?.message} (${error?.code})`];
    case 'would-fail':
      return [`${name}: would fail. ${error?.message} (${error?.code})`];
    case 'quarantined':
      return [
        `${name}: failed. ${error?.message} (${error?.code})`,
        quarantine === null
          ? '  Its journal still contains it; there is no file to move.'
          : `  It was moved to state/${quarantine}, with the reason next to it.`,
      ];
  }
}
