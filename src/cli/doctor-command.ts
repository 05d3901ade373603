/** `rekindle doctor`: checks a store and its environment, and advises what to change. */
import type { Command } from 'commander';
import { resolveMemoryBaseDir } from '../storage/memory-base-dir.js';
import { isStorageUrl } from '../storage/open-storage.js';
import { type CommonOptions, runCommand, withCommonOptions } from './command-context.js';
import { EXIT } from './exit-codes.js';
import { shellWord } from './shell-word.js';
import { checkFolder, checkGit, checkNode, checkParts, type Finding } from './store-checks.js';
import { tenantAddress } from './tenant-address.js';

export function addDoctorCommand(program: Command): void {
  withCommonOptions(
    program
      .command('doctor')
      .description(
        'check owners, modes and links of files, tokens, unfinished erasures and .gitignore; changes nothing',
      ),
  ).action((options: CommonOptions) =>
    runCommand(options, async ({ storage, print }) => {
      const place = resolveMemoryBaseDir(options.dir);
      const ofFolder = isStorageUrl(place) ? [] : [...(await checkFolder(place)), ...checkGit(place)];
      const findings = [checkNode(), ...ofFolder, ...(await checkParts(storage))];
      const counts = {
        problems: findings.filter(({ level }) => level === 'problem').length,
        warnings: findings.filter(({ level }) => level === 'warning').length,
      };
      const summary = `Problems: ${counts.problems}, warnings: ${counts.warnings}. rekindle verify checks the content.`;
      print([...findings.flatMap((finding) => linesOf(finding, options.dir)), summary], {
        findings,
        ...counts,
      });
      return counts.problems > 0 ? EXIT.problem : EXIT.ok;
    }),
  );
}

function linesOf({ level, message, advice, tenant }: Finding, dir: string | undefined): string[] {
  const lines = [`${level.padEnd(8)} ${message}`];
  if (advice === null) return lines;
  const where =
    tenant === undefined ? '' : ` (with --dir ${shellWord(tenantAddress(dir, tenant) ?? 'memory')})`;
  return [...lines, `${' '.repeat(9)}${advice}${where}`];
}
