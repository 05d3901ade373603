/** Shared by every command: the storage, and the output of results and errors. */
import type { Command } from 'commander';
import { type ErrorCode, isRekindleError, messageOf, type RekindleError } from '../core/errors.js';
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
  /** Prints lines, or the value as JSON with `--json`. */
  print(lines: readonly string[], value: unknown): void;
  /** A line about progress on standard error, for people only. */
  note(line: string): void;
}

const DIR_TEXT =
  'base folder of the memory, or a URL: sqlite:FILE, postgres://… (default: REKINDLE_MEMORY_DIR, else ./memory)';

/** Adds the options that every command has. */
export function withCommonOptions(command: Command): Command {
  return command.option('-d, --dir <place>', DIR_TEXT).option('--json', 'print JSON');
}

/** Runs a command: opens the storage, prints a typed error readably, sets the exit code. */
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
      // An error of the command itself takes precedence.
      if (process.exitCode !== EXIT.ok) return;
      showError(thrown, json);
      process.exitCode = exitCodeFor(thrown);
    });
  }
}

/**
 * Terminals obey C1 controls and direction marks, which JSON does not escape: they become `\u` escapes, which
 * is the same JSON.
 */
function jsonText(value: unknown): string {
  return escapeUnsafe(JSON.stringify(value, null, 2));
}

/** The same in one line, for commands that print JSON lines. */
export function jsonLine(value: unknown): string {
  return `${escapeUnsafe(JSON.stringify(value))}\n`;
}

const DETAIL_LENGTH_MAX = 1_000;

/** The details that the advice names: `details.reason` alone, or all of them for plain `details`. */
function adviceDetails({ code, advice, details, message }: RekindleError): string[] {
  const named = [...advice.matchAll(/\bdetails(?:\.(\w+))?/g)].map(([, key]) => key);
  const keys = named.includes(undefined) ? Object.keys(details) : [...new Set(named as string[])];
  const isShown = (value: unknown) => code in ADVICE && typeof value === 'string' && message.includes(value);
  return keys
    .filter((key) => details[key] !== undefined && !isShown(details[key]))
    .map((key) => `  ${excerpt(key, 80)}: ${excerpt(JSON.stringify(details[key]), DETAIL_LENGTH_MAX)}`);
}

/** Advice that differs on the command line, where there are no API calls and options. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  INVALID_ARGUMENT: 'Nothing was written.',
  AGENT_NOT_FOUND: 'Check the id and the base folder with `rekindle list`.',
  LEASE_HELD:
    'Close it where it is open, or try again later. `rekindle unlock` shows which process has an agent open.',
};

/** The details are printed below the advice, without the name of the API field. */
function adviceText({ code, advice }: RekindleError): string {
  return (ADVICE[code] ?? advice)
    .replace(/`details\.(\w+)`/g, '`$1`')
    .replace(/\b(?:in|see) `details`/g, (words) => (words.startsWith('see') ? 'see below' : 'below'))
    .replace(/`details`/g, 'the list below');
}

export function showError(thrown: unknown, json: boolean): void {
  if (json) {
    process.stdout.write(`${jsonText({ error: errorToJson(thrown) })}\n`);
    return;
  }
  if (isRekindleError(thrown)) {
    const lines = [
      `${safeText(thrown.message)} (${thrown.code})`,
      adviceText(thrown),
      ...adviceDetails(thrown),
    ];
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
