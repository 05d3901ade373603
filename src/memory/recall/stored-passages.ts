/** The passages of a trace, including the whole text of a result that was stored separately. */
import { storedOf } from '../fit/store-apart.js';
import type { Trace } from '../models/trace.js';
import type { MemoryStore } from '../store/memory-store.js';
import { type Passage, passagesOf } from './passage.js';

export async function passagesIn(trace: Trace, seq: number, store: MemoryStore): Promise<Passage[]> {
  const stored = trace.type === 'tool_result' ? storedOf(trace.result.extra?.['stored']) : null;
  const digest = stored?.ref.slice('sha256:'.length);
  const bytes = digest ? await store.artifacts.get(digest).catch(() => null) : null;
  return passagesOf(trace, seq, bytes ? new TextDecoder().decode(bytes) : undefined);
}
