import { beforeAll, describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../../src/core/text-tokens.js';
import type { ContextRequest } from '../../../src/workspace/context/context-request.js';
import { selectContext } from '../../../src/workspace/context/selective-context.js';
import { workspaceTools } from '../../../src/workspace/tools/workspace-tools.js';
import { Workspace } from '../../../src/workspace/workspace.js';
import { longestHold, SlowStorage, until, writeEntries } from '../many-entries.js';
import { SHOPS } from '../workspace-kit.js';

const [FEW, MANY] = [2_000, 20_000];

interface Filled {
  readonly workspace: Workspace;
  readonly request: ContextRequest;
}

/** The best of some runs, or the first that is good enough: a busy machine makes single ones longer, and none shorter. */
async function best(times: number, measure: () => Promise<number>, enough = 0): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < times && least >= enough; n += 1) least = Math.min(least, await measure());
  return least;
}

async function cpuMs(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function filled(make: (typeof SHOPS)[number]['make'], count: number): Promise<Filled> {
  const { backend } = await make();
  const optional = await writeEntries(backend, count);
  const workspace = new Workspace(backend);
  return { workspace, request: { agent: 'reader', dependencies: { required: [], optional } } };
}

describe('the context of many entries', () => {
  let few: Filled;
  let many: Filled;

  beforeAll(async () => {
    const { make } = SHOPS.find(({ name }) => name === 'memory')!;
    [few, many] = [await filled(make, FEW), await filled(make, MANY)];
    await loadTokenizer();
  });

  it.each([
    ['without a budget', {}],
    ['within a budget that shows most of them', { budget: { total: 1_000_000 } }],
    ['within a budget that shows few of them', { budget: { total: 2_000 } }],
  ])('takes time in proportion to the entries %s', async (_, options) => {
    const timeOf = ({ workspace, request }: Filled) =>
      best(4, () => cpuMs(() => selectContext(workspace, { ...request, ...options })));
    await timeOf(few); // compiled by now
    const [short, long] = [await timeOf(few), await timeOf(many)];
    expect(long / short).toBeLessThan(20); // the tenfold, and what a larger heap costs
  });

  it('holds the event loop for no more than a slice at a time', async () => {
    const { workspace, request } = many;
    const tools = workspaceTools({ workspace, agent: 'reader' });
    const context = { callId: 'c', turnId: 't', idempotencyKey: 'k', signal: new AbortController().signal };
    const runs = [
      () => selectContext(workspace, request),
      ...tools.slice(0, 2).map((tool) => async () => tool.execute({}, context)),
    ];
    // Slices of 8 ms, steps that are not divided, and whatever else the machine does.
    for (const run of runs) expect(await best(20, () => longestHold(run), 60)).toBeLessThan(60);
  });
});

describe('a caller that has gone', () => {
  it.each(['get_workspace_context', 'get_workspace_summary'])(
    'ends %s while entries are read',
    async (name) => {
      const storage = new SlowStorage();
      await writeEntries(storage, FEW);
      const workspace = new Workspace(storage);
      await workspace.keys();
      [storage.isSlow, storage.read] = [true, 0];
      const [caller, tools] = [new AbortController(), workspaceTools({ workspace, agent: 'reader' })];
      const context = { callId: 'c', turnId: 't', idempotencyKey: 'k', signal: caller.signal };
      const called = tools.find((tool) => tool.name === name)!.execute({}, context);
      const refused = expect(called).rejects.toMatchObject({ code: 'ABORTED' });
      await until(() => storage.read > 20);
      caller.abort();
      await refused;
      expect([storage.read < FEW, storage.reading]).toEqual([true, 0]);
    },
  );

  it('ends the selection between two slices, with ABORTED', async () => {
    const shop = await SHOPS[1]!.make();
    const required = await writeEntries(shop.backend, MANY / 4);
    const caller = new AbortController();
    const request = { agent: 'reader', dependencies: { required }, signal: caller.signal };
    const selected = selectContext(new Workspace(shop.backend), request);
    setTimeout(() => caller.abort(), 1);
    await expect(selected).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
