/** The artifacts that only erased records use. */
import { hash } from 'node:crypto';
import type { JsonObject } from '../../core/json.js';
import { textOf } from '../../messages/message.js';
import { storedRecords } from '../../storage/erasure/journal-rows.js';
import type { StorageBackend } from '../../storage/ports.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import { MEMORY_JOURNALS, type MemoryJournalName } from '../store/memory-store.js';

/** A digest, or the start of one, as `read_result` gets it. */
const KEY = /(?<![0-9a-f])[0-9a-f]{16}(?:[0-9a-f]{48})?(?![0-9a-f])/g;
const KEY_DIGITS = 16;

export function artifactKeysIn(row: JsonObject): readonly string[] {
  return JSON.stringify(row).match(KEY) ?? [];
}

/** Whole texts that may have become artifacts: see `clearResult` and `shortenText`. A crash can leave one without a reference. */
export function textKeysOf(row: JsonObject): string[] {
  const trace = tryTraceFromJson(row);
  if (trace?.type === 'tool_result') {
    const { toolResult, toolError } = trace.result;
    const text = typeof toolResult === 'string' ? toolResult : JSON.stringify(toolResult);
    return [toolError, text].filter((one) => one !== null).map(keyOfText);
  }
  return trace?.type === 'user' || trace?.type === 'assistant' ? [keyOfText(textOf(trace.message))] : [];
}

function keyOfText(text: string): string {
  return hash('sha256', text, 'hex').slice(0, KEY_DIGITS);
}

/** Records of the agent that go, by journal. */
export type GoingRows = Readonly<Record<MemoryJournalName, { has(seq: number): boolean }>>;

/** The digests of artifacts among the candidates that nothing names that stays. @param added what the erasure appends */
export async function artifactsOnlyIn(
  backend: StorageBackend,
  agent: string,
  going: GoingRows,
  added: readonly JsonObject[],
  candidates: ReadonlySet<string>,
): Promise<string[]> {
  if (candidates.size === 0) return [];
  const used = new Set<string>();
  const use = (row: JsonObject) => {
    for (const key of artifactKeysIn(row)) used.add(key.slice(0, KEY_DIGITS));
  };
  for (const row of added) use(row);
  for (const journal of MEMORY_JOURNALS)
    for await (const { seq, record } of storedRecords(backend, ['agents', agent, journal]))
      if (!going[journal].has(seq)) use(record);
  const digests: string[] = [];
  for await (const { digest } of backend.blobs(['agents', agent, 'artifacts']).list()) {
    const key = digest.slice(0, KEY_DIGITS);
    if (candidates.has(key) && !used.has(key)) digests.push(digest);
  }
  return digests;
}
