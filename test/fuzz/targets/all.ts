import type { FuzzTarget } from '../fuzz-target.js';
import { journalLines } from './journal-lines.js';
import { givenMessages, storedMessages } from './messages.js';
import { httpBodies, mcpArguments } from './server.js';
import { snapshots } from './snapshots.js';
import { commandArguments, frames, jsonTexts, mergePatches, rules } from './texts.js';
import { traceFiles, traceRows } from './traces.js';
import { transcripts } from './transcripts.js';

export const TARGETS: readonly FuzzTarget[] = [
  journalLines,
  traceRows,
  traceFiles,
  snapshots,
  transcripts,
  storedMessages,
  givenMessages,
  jsonTexts,
  mergePatches,
  frames,
  httpBodies,
  mcpArguments,
  rules,
  commandArguments,
];
