/** Options for the limits of shared states, for commands that write them. */
import type { Command } from 'commander';
import { SHARED_LIMITS, SHARED_LIMITS_MAX, type SharedLimits } from '../state/shared/shared-limits.js';
import { wholeNumber } from './value-text.js';

/** The values of the options, as commander names them. */
export interface SharedLimitOptions {
  readonly stateKeys?: string;
  readonly stateValueBytes?: string;
  readonly stateTotalBytes?: string;
  readonly stateDepth?: string;
  readonly stateBatch?: string;
  readonly stateBatchBytes?: string;
  readonly stateHistory?: string;
}

interface LimitOption {
  readonly flag: string;
  readonly option: keyof SharedLimitOptions;
  readonly limit: keyof SharedLimits;
  readonly text: string;
}

const LIMIT_OPTIONS: readonly LimitOption[] = [
  { flag: '--state-keys', option: 'stateKeys', limit: 'keys', text: 'keys of a shared state' },
  { flag: '--state-value-bytes', option: 'stateValueBytes', limit: 'valueBytes', text: 'bytes of one value' },
  { flag: '--state-total-bytes', option: 'stateTotalBytes', limit: 'totalBytes', text: 'bytes of one state' },
  { flag: '--state-depth', option: 'stateDepth', limit: 'depth', text: 'nesting of one value' },
  { flag: '--state-batch', option: 'stateBatch', limit: 'batch', text: 'operations of one batch' },
  { flag: '--state-batch-bytes', option: 'stateBatchBytes', limit: 'batchBytes', text: 'bytes of one batch' },
  { flag: '--state-history', option: 'stateHistory', limit: 'history', text: 'minimum of changes to keep' },
];

/** As `addSubcommand` takes them. */
export const LIMIT_SUBCOMMAND_OPTIONS = LIMIT_OPTIONS.map(
  ({ flag, limit, text }) => [`${flag} <n>`, `${text} (default: ${SHARED_LIMITS[limit]})`] as const,
);

export function withLimitOptions(command: Command): Command {
  for (const [flags, text] of LIMIT_SUBCOMMAND_OPTIONS) command.option(flags, text);
  return command;
}

/** The given limits. @throws INVALID_ARGUMENT for a limit that is not a number, or too large to store */
export function limitsOf(options: SharedLimitOptions): Partial<SharedLimits> {
  const limits: { -readonly [Name in keyof SharedLimits]?: number } = {};
  for (const { flag, option, limit } of LIMIT_OPTIONS) {
    const given = options[option];
    if (given !== undefined) limits[limit] = wholeNumber(given, flag, 0, SHARED_LIMITS_MAX[limit]);
  }
  return limits;
}
