/** A short text about the state for a prompt. */
import type { JsonValue } from '../../core/json.js';

/** Limits of a summary. */
export interface SummaryOptions {
  /** Default 20. */
  readonly maxKeys?: number;
  /** Longest text, in characters. Default 4,000. */
  readonly maxChars?: number;
}

/** A summary of the state for a prompt: most recent changes first. */
export interface StateSummary {
  readonly text: string;
  readonly shown: readonly string[];
  /** Keys that did not fit, most recently changed first. */
  readonly leftOut: readonly string[];
}

interface Summarized {
  readonly key: string;
  readonly value: JsonValue;
  readonly version: number;
  readonly updatedBy: string;
  readonly globalVersion: number;
}

export function summarize(
  entries: readonly Summarized[],
  { maxKeys = 20, maxChars = 4_000 }: SummaryOptions,
): StateSummary {
  const recent = entries.toSorted((a, b) => b.globalVersion - a.globalVersion);
  const lines: string[] = [];
  const shown: string[] = [];
  let room = maxChars;
  for (const { key, value, version, updatedBy } of recent.slice(0, maxKeys)) {
    const line = `- ${JSON.stringify(key)} (version ${version}, by ${JSON.stringify(updatedBy)}): ${JSON.stringify(value)}\n`;
    const rest = recent.length - shown.length - 1;
    if (line.length + (rest > 0 ? noteOn(rest).length : 0) > room) break;
    room -= line.length;
    lines.push(line);
    shown.push(key);
  }
  const leftOut = recent.slice(shown.length).map(({ key }) => key);
  const note = leftOut.length > 0 ? noteOn(leftOut.length) : '';
  return {
    text: entries.length === 0 ? 'The state is empty.\n' : `${lines.join('')}${note}`,
    shown,
    leftOut,
  };
}

function noteOn(count: number): string {
  return `(${count} more ${count === 1 ? 'key is' : 'keys are'} not shown; read them with state_get.)\n`;
}
