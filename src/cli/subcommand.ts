/** A command below another: `rekindle state show`. */
import type { Command } from 'commander';
import { type CommonOptions, withCommonOptions } from './command-context.js';

/** The arguments of the usage, as commander gives them; then the options. */
export type SubcommandRun<Options> = (args: readonly string[], options: Options) => Promise<void>;

export function addSubcommand<Options extends CommonOptions>(
  parent: Command,
  usage: string,
  description: string,
  options: readonly (readonly [flags: string, description: string])[],
  run: SubcommandRun<Options>,
  dirText?: string,
): void {
  const command = parent.command(usage).description(description);
  for (const [flags, text] of options) command.option(flags, text);
  withCommonOptions(command, dirText).action(async (...given: unknown[]) => {
    const args = given.slice(0, -2).filter((arg) => typeof arg === 'string');
    await run(args, given.at(-2) as Options);
  });
}
