/** Which agents read which entries, as the newest calls of the tool-call log show it. */
import { isJsonObject } from '../../core/json.js';
import type { ToolCallLog } from './tool-call-log.js';

/** An agent's reads of one entry. */
export interface KeyReader {
  readonly agent: string;
  /** Null: it asked for all that it may see. */
  readonly key: string | null;
  readonly reads: number;
  /** ISO 8601, UTC. */
  readonly lastReadAt: string;
}

/** The tools that read entries. */
const READING = ['read_from_workspace', 'get_workspace_context', 'get_workspace_summary'];

/** Sorted by agent, then by key. @param callsMax newest calls of each tool that are looked at */
export async function keyReaders(log: ToolCallLog, callsMax = 1_000): Promise<KeyReader[]> {
  const found = new Map<string, KeyReader>();
  for (const tool of READING)
    for (const { agent, input, startedAt } of await log.search({ tool, status: 'ok', limit: callsMax }))
      for (const key of keysIn(input)) {
        const place = JSON.stringify([agent, key]);
        const before = found.get(place);
        const isNewer = before === undefined || startedAt > before.lastReadAt;
        const lastReadAt = isNewer ? startedAt : before.lastReadAt;
        found.set(place, { agent, key, reads: (before?.reads ?? 0) + 1, lastReadAt });
      }
  const order = ({ agent, key }: KeyReader) => `${agent}\n${key ?? ''}`;
  return [...found.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** [null] for all. */
function keysIn(input: unknown): (string | null)[] {
  if (!isJsonObject(input)) return [null];
  const { key, keys } = input;
  if (typeof key === 'string') return [key];
  return Array.isArray(keys) ? keys.filter((one) => typeof one === 'string') : [null];
}
