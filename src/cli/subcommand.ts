/** A command below another, such as `rekindle state show`. */
import type { Command } from 'commander';
import { type CommonOptions, withCommonOptions } from './command-context.js';

/** The arguments as in the usage, then the options. */
export type SubcommandRun<Options> = (args: readonly string[], options: Options) => Promise<void>;

/** `repeated`: may be given several times; its value is a list. */
export type SubcommandOption = readonly [flags: string, description: string, repeated?: 'repeated'];

export function addSubcommand<Options extends CommonOptions>(
  parent: Command,
  usage: string,
  description: string,
  options: readonly SubcommandOption[],
  run: SubcommandRun<Options>,
): void {
  const command = parent.command(usage).description(description);
  for (const [flags, text, repeated] of options)
    if (repeated)
      command.option(flags, text, (value: string, before: readonly string[] = []) => [...before, value]);
    else command.option(flags, text);
  withCommonOptions(command).action(async (...given: unknown[]) => {
    const args = given.slice(0, -2).filter((arg) => typeof arg === 'string');
    await run(args, given.at(-2) as Options);
  });
}
