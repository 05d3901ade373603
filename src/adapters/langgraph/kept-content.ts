/** What stays of a thread when a part of it is removed. */
import { type CheckpointMetadata, TASKS } from '@langchain/langgraph-checkpoint';
import type { StoredValue } from './stored-value.js';
import type { CheckpointEntry, CheckpointName, ThreadContents, WriteEntry } from './thread-contents.js';

export interface KeptWrites extends CheckpointName {
  readonly entries: readonly WriteEntry[];
}

export interface KeptContent {
  readonly checkpoints: readonly CheckpointEntry[];
  readonly writes: readonly KeptWrites[];
}

export type LoadMetadata = (stored: StoredValue) => Promise<unknown>;

/** Older checkpoints have their pending sends in the writes of their parent. */
const SENDS_SINCE_V = 4;

export function wholeContent(contents: ThreadContents): KeptContent {
  return { checkpoints: contents.checkpoints(), writes: writesOf(contents, contents.written()) };
}

/** The newest checkpoint of each namespace with its writes. Null: nothing else is there. */
export async function newestContent(
  contents: ThreadContents,
  load: LoadMetadata,
): Promise<KeptContent | null> {
  const newest = contents.namespaces().flatMap((ns) => contents.checkpoint(ns) ?? []);
  const kept = await withHistory(contents, newest, load);
  return contentOf(contents, kept, () => false);
}

/** What is left without the checkpoints of some runs and their writes. Null: they have none. */
export async function contentWithoutRuns(
  contents: ThreadContents,
  runs: ReadonlySet<string>,
  load: LoadMetadata,
): Promise<KeptContent | null> {
  const others: CheckpointEntry[] = [];
  for (const entry of contents.checkpoints()) {
    const { run_id: run } = Object(await load(entry.metadata)) as { run_id?: unknown };
    if (typeof run !== 'string' || !runs.has(run)) others.push(entry);
  }
  if (others.length === contents.checkpoints().length) return null;
  const kept = await withHistory(contents, others, load);
  return contentOf(contents, kept, ({ ns, id }) => contents.checkpoint(ns, id) === undefined);
}

/** @param isFree whether writes without a kept checkpoint stay */
function contentOf(
  contents: ThreadContents,
  kept: ReadonlySet<CheckpointEntry>,
  isFree: (name: CheckpointName) => boolean,
): KeptContent | null {
  const isKept = ({ ns, id }: CheckpointName) => {
    const entry = contents.checkpoint(ns, id);
    return entry ? kept.has(entry) : isFree({ ns, id });
  };
  const written = contents.written();
  const own = written.filter(isKept);
  if (kept.size === contents.checkpoints().length && own.length === written.length) return null;
  const parents = [...kept].flatMap(({ ns, parent, v }) =>
    v < SENDS_SINCE_V && parent !== undefined && !isKept({ ns, id: parent }) ? [{ ns, id: parent }] : [],
  );
  const sends = writesOf(contents, parents).map(({ entries, ...name }) => {
    return { ...name, entries: entries.filter(({ channel }) => channel === TASKS) };
  });
  return { checkpoints: [...kept], writes: [...writesOf(contents, own), ...sends] };
}

function writesOf(contents: ThreadContents, names: readonly CheckpointName[]): KeptWrites[] {
  return names.map(({ ns, id }) => ({ ns, id, entries: contents.writes(ns, id) }));
}

/**
 * Adds the ancestors from which a delta channel is rebuilt: back to the nearest one that has a value of the channel.
 * Without them, LangGraph would rebuild an empty value and report nothing.
 */
async function withHistory(
  contents: ThreadContents,
  entries: readonly CheckpointEntry[],
  load: LoadMetadata,
): Promise<Set<CheckpointEntry>> {
  const kept = new Set(entries);
  const walked = new Map<string, Set<CheckpointEntry>>();
  for (const entry of entries) {
    const metadata = Object(await load(entry.metadata)) as Partial<CheckpointMetadata>;
    for (const channel of Object.keys(metadata.counters_since_delta_snapshot ?? {})) {
      const seen = walked.get(channel) ?? new Set();
      walked.set(channel, seen);
      for (let at: CheckpointEntry | undefined = entry; at && !seen.has(at); at = parentOf(contents, at)) {
        seen.add(at);
        kept.add(at);
        if (typeof at.channels.get(channel)?.seq === 'number') break;
      }
    }
  }
  return kept;
}

function parentOf(contents: ThreadContents, { ns, parent }: CheckpointEntry): CheckpointEntry | undefined {
  return parent === undefined ? undefined : contents.checkpoint(ns, parent);
}
