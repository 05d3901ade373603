import { type CountTokens, loadTokenizer } from '../../core/text-tokens.js';
import { TimeSlices } from '../../core/time-slices.js';
import type { Workspace } from '../workspace.js';
import { ContextBlock, type WantedKey } from './context-block.js';
import type { ContextDependencies, ContextRequest, SelectiveContext } from './context-request.js';

/**
 * The part of a workspace that one agent needs, as a text block for its prompt: required keys first, in the
 * declared order, within its token budget. The same workspace and request give the same text. Runs in time
 * slices, so that the event loop is not blocked.
 * @throws ABORTED when `request.signal` is aborted
 */
export async function selectContext(
  workspace: Workspace,
  request: ContextRequest,
): Promise<SelectiveContext> {
  const block = await blockOf(workspace, request, await loadTokenizer());
  const unmet = block.keys.filter(
    ({ required, status }) => required && (status === 'missing' || status === 'stale'),
  );
  return { text: block.text, tokens: block.tokens, keys: block.keys, unmet: unmet.map(({ key }) => key) };
}

/** Only the text; without a budget no tokens are counted. @throws as `selectContext` */
export async function contextText(workspace: Workspace, request: ContextRequest): Promise<string> {
  const count = request.budget ? await loadTokenizer() : () => 0;
  return (await blockOf(workspace, request, count)).text;
}

async function blockOf(
  workspace: Workspace,
  request: ContextRequest,
  count: CountTokens,
): Promise<ContextBlock> {
  const { dependencies, signal } = request;
  const slices = new TimeSlices(signal);
  const named = [...dependencies.required, ...(dependencies.optional ?? [])];
  const entries = await workspace.readMany(named, signal ? { signal } : {});
  const wanted = [...keysOf(dependencies)].map((one) => {
    const entry = entries.get(one.key) ?? null;
    return { one, entry, ageSeconds: entry ? workspace.ageSeconds(entry) : 0 };
  });
  const addTo = async (block: ContextBlock): Promise<void> => {
    for (const { one, entry, ageSeconds } of wanted.slice(block.keys.length)) {
      if (slices.isOver) await slices.pause();
      block.add(one, entry, ageSeconds);
    }
  };
  const block = new ContextBlock(count, request);
  await addTo(block);
  const tighter = block.noteLeftOut() ? null : block.tighter();
  if (!tighter) return block;
  await addTo(tighter);
  return tighter.noteLeftOut() && showsSameRequired(block, tighter) ? tighter : block;
}

/** The note about left-out keys may cost parts of values and optional keys, but no required key its place. */
function showsSameRequired({ keys }: ContextBlock, other: ContextBlock): boolean {
  return keys.every(({ required, status, tokens }, index) => {
    const { status: otherStatus, tokens: otherTokens } = other.keys[index]!;
    return !required || (status === otherStatus && tokens > 0 === otherTokens > 0);
  });
}

/** Each key once, in order; a key in both lists is required. */
function* keysOf({ required, optional = [] }: ContextDependencies): Generator<WantedKey> {
  const seen = new Set<string>();
  for (const [keys, isRequired] of [
    [required, true],
    [optional, false],
  ] as const)
    for (const key of keys) {
      if (seen.has(key)) continue;
      seen.add(key);
      yield { key, required: isRequired };
    }
}
