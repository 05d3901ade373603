/** What every command shares: where memory is, how results and errors are shown. */
import type { Command } from 'commander';
import { isRekindleError, messageOf, type RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { escapeUnsafe } from '../core/unsafe-characters.js';
import { resolveMemoryBaseDir } from '../storage/memory-base-dir.js';
import { openStorage } from '../storage/open-storage.js';
import type { StorageBackend } from '../storage/ports.js';
import { EXIT, exitCodeFor } from './exit-codes.js';
import { excerpt, safeText } from './safe-text.js';

export interface CommonOptions {
  readonly dir?: string;
  readonly json?: boolean;
}

export interface CommandContext {
  readonly storage: StorageBackend;
  readonly json: boolean;
  /** Prints lines for people, or the value as JSON with `--json`. */
  print(lines: readonly string[], value: unknown): void;
  /** A line about progress, for people only, on standard error. */
  note(line: string): void;
}

const DIR_TEXT =
  'base folder of the memory, or a URL: sqlite:FILE, postgres://… (default: REKINDLE_MEMORY_DIR, else ./memory)';

/** Adds the options that every command has. */
export function withCommonOptions(command: Command): Command {
  return command.option('-d, --dir <place>', DIR_TEXT).option('--json', 'print JSON');
}

/** Runs a command: opens the storage, shows a typed error as a person can use it, sets the exit code. */
export async function runCommand(
  options: CommonOptions,
  run: (context: CommandContext) => Promise<number | undefined>,
): Promise<void> {
  const json = options.json ?? false;
  let storage: StorageBackend;
  try {
    storage = openStorage(resolveMemoryBaseDir(options.dir));
  } catch (thrown) {
    showError(thrown, json);
    process.exitCode = exitCodeFor(thrown);
    return;
  }
  const context: CommandContext = {
    storage,
    json,
    print: (lines, value) => {
      process.stdout.write(json ? `${jsonText(value)}\n` : `${lines.map(safeText).join('\n')}\n`);
    },
    note: (line) => {
      if (!json && process.stderr.isTTY) process.stderr.write(`${line}\n`);
    },
  };
  try {
    process.exitCode = (await run(context)) ?? EXIT.ok;
  } catch (thrown) {
    showError(thrown, json);
    process.exitCode = exitCodeFor(thrown);
  } finally {
    await storage.close().catch((thrown: unknown) => {
      // What the command met comes first.
      if (process.exitCode !== EXIT.ok) return;
      showError(thrown, json);
      process.exitCode = exitCodeFor(thrown);
    });
  }
}

/** Terminals obey C1 controls and marks of direction, which JSON leaves as they are: they become `\u` escapes, the same JSON. */
function jsonText(value: unknown): string {
  return escapeUnsafe(JSON.stringify(value, null, 2));
}

/** The same in one line: for commands that print JSON line by line. */
export function jsonLine(value: unknown): string {
  return `${escapeUnsafe(JSON.stringify(value))}\n`;
}

const DETAIL_LENGTH_MAX = 1_000;

/** What the advice points to: `details.reason` alone, or all of them for plain `details`. */
function adviceDetails({ advice, details }: RekindleError): string[] {
  const named = [...advice.matchAll(/\bdetails(?:\.(\w+))?/g)].map(([, key]) => key);
  const keys = named.includes(undefined) ? Object.keys(details) : [...new Set(named as string[])];
  return keys
    .filter((key) => details[key] !== undefined)
    .map(
      (key) => `  details.${excerpt(key, 80)}: ${excerpt(JSON.stringify(details[key]), DETAIL_LENGTH_MAX)}`,
    );
}

export function showError(thrown: unknown, json: boolean): void {
  if (json) {
    process.stdout.write(`${jsonText({ error: errorToJson(thrown) })}\n`);
    return;
  }
  if (isRekindleError(thrown)) {
    const lines = [`${safeText(thrown.message)} (${thrown.code})`, thrown.advice, ...adviceDetails(thrown)];
    process.stderr.write(`${lines.join('\n')}\n`);
  } else {
    process.stderr.write(
      `Unexpected error: ${safeText(thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown))}\n`,
    );
  }
}

export function errorToJson(thrown: unknown): JsonObject {
  return isRekindleError(thrown) ? thrown.toJSON() : { code: 'UNEXPECTED', message: messageOf(thrown) };
}
