/**
 * The part of a workspace that one agent needs, as a block for its prompt: required keys first, each in the declared order, within
 * the agent's budget of tokens. The same workspace and the same request give the same text. Takes time in proportion to the entries, in
 * slices between which the event loop goes on.
 */

import { type CountTokens, loadTokenizer } from '../../core/text-tokens.js';
import { TimeSlices } from '../../core/time-slices.js';
import type { Workspace } from '../workspace.js';
import { ContextBlock, type WantedKey } from './context-block.js';
import type { ContextRequest, SelectiveContext } from './context-request.js';

/** @throws ABORTED when `request.signal` is aborted */
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

/** Only the text: without a budget nothing is counted. @throws as `selectContext` */
export async function contextText(workspace: Workspace, request: ContextRequest): Promise<string> {
  const count = request.budget ? await loadTokenizer() : () => 0;
  return (await blockOf(workspace, request, count)).text;
}

async function blockOf(
  workspace: Workspace,
  request: ContextRequest,
  count: CountTokens,
): Promise<ContextBlock> {
  const slices = new TimeSlices(request.signal);
  const block = new ContextBlock(count, request);
  const wanted = keysOf(request);
  const entries = await workspace.readMany(
    wanted.map(({ key }) => key),
    request.signal ? { signal: request.signal } : {},
  );
  for (const one of wanted) {
    await slices.breathe();
    const entry = entries.get(one.key) ?? null;
    block.add(one, entry, entry ? workspace.ageSeconds(entry) : 0);
  }
  return block;
}

/** Each key once, in order; a key that is both is required. */
function keysOf({ dependencies }: ContextRequest): WantedKey[] {
  const required = new Set(dependencies.required);
  const optional = [...new Set(dependencies.optional ?? [])].filter((key) => !required.has(key));
  return [
    ...[...required].map((key) => ({ key, required: true })),
    ...optional.map((key) => ({ key, required: false })),
  ];
}
