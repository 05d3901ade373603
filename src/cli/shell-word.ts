/** Quotes commands that a person may copy into a shell. */

/** As one word. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A `rekindle` command for the same store, with an argument that a person may have chosen. */
export function commandLine(command: string, dir: string | undefined, argument: string): string {
  const where = dir === undefined ? '' : ` --dir ${shellWord(dir)}`;
  return `rekindle ${command}${where}${argument.startsWith('-') ? ' --' : ''} ${shellWord(argument)}`;
}
