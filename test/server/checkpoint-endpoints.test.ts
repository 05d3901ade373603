/** Checkpoints over HTTP: they are looked at, and nothing is saved or removed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { applyPatch, type JsonPatchStep } from '../../src/core/json-patch.js';
import { type CheckpointWorld, checkpointWorld, dayOf } from './checkpoint-world.js';
import { folderPrint, PROBLEM_TYPE, type ServerKit } from './server-kit.js';

/** One server for the tests of a group that only ask. */
function sharedWorld(fill: (world: CheckpointWorld) => Promise<unknown>): () => CheckpointWorld {
  const ends: (() => Promise<void>)[] = [];
  let world: CheckpointWorld;
  beforeAll(async () => {
    world = await checkpointWorld({}, { onTestFinished: (end) => ends.unshift(end) });
    await fill(world);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => world;
}

async function idsOf(kit: ServerKit, query: string): Promise<string[]> {
  const { status, json, text } = await kit.get(`/checkpoints${query}`);
  if (status !== 200) throw new RangeError(text);
  return (json['checkpoints'] as JsonObject[]).map(({ id }) => String(id));
}

describe('sessions with checkpoints', () => {
  it('are told with what they take, the one that was used last first', async () => {
    const { kit, save, service } = await checkpointWorld();
    await save({ sessionId: 'a', context: { n: 1 }, workflowId: 'w', metadata: { tags: ['y', 'x'] } });
    await save({ sessionId: 'b', context: { n: 1 } });
    await save({ sessionId: 'b', context: { n: 2 } });
    await service.markCritical({ sessionId: 'b', contextKey: 'n' });
    const { status, json } = await kit.get('/checkpoints/sessions');
    const sessions = json['sessions'] as JsonObject[];
    expect([status, sessions.map(({ id }) => id)]).toEqual([200, ['b', 'a']]);
    expect(sessions[1]).toEqual({
      id: 'a',
      created_at: dayOf(0),
      last_accessed_at: dayOf(0),
      workflow_id: 'w',
      tags: ['x', 'y'],
      total_size_bytes: expect.any(Number),
      context_size_bytes: 7,
      checkpoints: 1,
      encrypted: false,
      critical_keys: [],
    });
    expect(sessions[0]).toMatchObject({ checkpoints: 2, critical_keys: ['n'], last_accessed_at: dayOf(2) });
    const sizes = sessions.map((session) => session['total_size_bytes'] as number);
    expect(json['total_size_bytes']).toBe(sizes.reduce((sum, size) => sum + size, 0));
    expect(json['max_total_size']).toBe(1024 ** 3);
    await kit.get('/checkpoints/a@1/context');
    const after = (await kit.get('/checkpoints/sessions')).json['sessions'] as JsonObject[];
    expect(after.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('are none in an empty folder, and none without a checkpoint', async () => {
    const { kit, save, service } = await checkpointWorld();
    const before = await folderPrint(kit.dir);
    expect((await kit.get('/checkpoints/sessions')).json).toMatchObject({
      sessions: [],
      total_size_bytes: 0,
    });
    expect((await kit.get('/checkpoints')).json).toEqual({ total: 0, checkpoints: [], problems: [] });
    expect(await folderPrint(kit.dir)).toEqual(before);
    const id = await save({ sessionId: 'gone', context: {} });
    await service.delete(id);
    expect((await kit.get('/checkpoints/sessions')).json).toMatchObject({
      sessions: [],
      total_size_bytes: 0,
    });
    expect((await kit.get('/checkpoints?session=gone')).json).toEqual({
      total: 0,
      checkpoints: [],
      problems: [],
    });
    expect((await kit.get(`/checkpoints/${id}`)).json).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
  });
});

describe('the list of checkpoints', () => {
  const shared = sharedWorld(async ({ save }) => {
    await save({ sessionId: 'a', context: { n: 1 }, agentId: 'ada', metadata: { name: 'one', tags: ['t'] } });
    await save({ sessionId: 'a', context: { n: 2 }, agentId: 'bob', metadata: { tags: ['t', 'u+v'] } });
    await save({ sessionId: 'b', context: { n: 3 }, agentId: 'ada' });
    await save({ sessionId: 'a', context: { n: 4 } });
  });

  it('has the newest of all sessions first, without their contexts', async () => {
    const { kit } = shared();
    const { json, text } = await kit.get('/checkpoints');
    const { total, checkpoints } = json as { total: number; checkpoints: JsonObject[] };
    expect([total, checkpoints.map(({ id }) => id)]).toEqual([4, ['a@3', 'b@1', 'a@2', 'a@1']]);
    expect(text).not.toContain('"n":');
    expect((await kit.get('/checkpoints/a@1')).json).toEqual(checkpoints[3]);
  });

  it.each([
    ['?session=a', ['a@3', 'a@2', 'a@1']],
    ['?tag=t', ['a@2', 'a@1']],
    ['?tag=u%2Bv', ['a@2']],
    ['?tag=none', []],
    ['?agent=ada', ['b@1', 'a@1']],
    ['?agent=ada&session=a', ['a@1']],
    ['?after=2026-02-03T00:00:00Z', ['a@3', 'b@1']],
    ['?before=2026-02-03T00:00:00Z', ['a@2', 'a@1']],
    ['?after=2026-02-02T01:00:00%2B01:00&before=2026-02-03', ['a@2']],
    ['?session=a&after=2026-02-02&tag=t', ['a@2']],
    ['?session=a&limit=1', ['a@3']],
    ['?session=a&limit=1&offset=1', ['a@2']],
    ['?limit=1000&offset=3', ['a@1']],
    ['?offset=4', []],
  ])('takes %s', async (query, wanted) => {
    expect(await idsOf(shared().kit, query)).toEqual(wanted);
  });

  it('counts all that were asked for, whatever the page', async () => {
    for (const [query, total] of [
      ['?limit=1', 4],
      ['?session=a&limit=1&offset=9', 3],
      ['?tag=t&limit=1', 2],
    ] as const)
      expect((await shared().kit.get(`/checkpoints${query}`)).json['total'], query).toBe(total);
  });

  it.each([
    ...['limit=0', 'limit=1001', 'limit=x', 'limit=-1', 'limit=1.5', 'limit=', 'offset=-1', 'offset=1e1'],
    ...['after=yesterday', 'before=2026-02-30T99:00', 'after=', 'session=', 'session=a%2Fb', 'session=..'],
  ])('refuses %s', async (query) => {
    const { kit } = shared();
    const refused = await kit.get(`/checkpoints?${query}`);
    expect([refused.status, refused.headers['content-type']]).toEqual([400, PROBLEM_TYPE]);
    expect(['INVALID_ARGUMENT', 'INVALID_NAME']).toContain(refused.json['code']);
    expect(kit.unexpected).toEqual([]);
  });

  it('of a session that is not there is a problem', async () => {
    const { kit } = shared();
    const missing = await kit.get('/checkpoints?session=nobody');
    expect([missing.status, missing.headers['content-type']]).toEqual([404, PROBLEM_TYPE]);
    expect(missing.json).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { sessionId: 'nobody' } });
  });
});

describe('one checkpoint', () => {
  it('is told without its context', async () => {
    const { kit, save } = await checkpointWorld();
    const about = { agentId: 'ada', workflowId: 'w', kind: 'own', critical: true };
    const metadata = { name: 'first', tags: ['t'] };
    const context = { goal: 'ship', note: 'secret' };
    await save({ sessionId: 's', context, metadata, ...about });
    const { status, json, text } = await kit.get('/checkpoints/s@1');
    expect([status, json]).toEqual([
      200,
      {
        id: 's@1',
        session_id: 's',
        number: 1,
        name: 'first',
        agent_id: 'ada',
        workflow_id: 'w',
        created_at: dayOf(0),
        tags: ['t'],
        context_size_bytes: Buffer.byteLength(JSON.stringify(context)),
        context_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        stored_bytes: expect.any(Number),
        compression: 'none',
        encrypted: false,
        status: 'active',
        critical: true,
        kind: 'own',
        left_out_keys: [],
        classification_summary: { CRITICAL: { keys: 1, bytes: 6 }, USEFUL: { keys: 1, bytes: 8 } },
      },
    ]);
    expect(text).not.toContain('secret');
  });

  it('has its context exactly as it was saved', async () => {
    const { kit, save } = await checkpointWorld();
    const text =
      '{"half":"\\ud800","\\udfffkey":[1e-7,0.1],"__proto__":{"toJSON":1},"b":"\\u0000\\u001b[31m</script>","a":null}';
    const context = JSON.parse(text) as JsonObject;
    await save({ sessionId: 's', context });
    const answer = await kit.get('/checkpoints/s@1/context');
    expect(Object.keys(answer.json)).toEqual(['checkpoint', 'context']);
    expect(JSON.stringify(answer.json['context'])).toBe(JSON.stringify(context));
    expect(answer.json['checkpoint']).toEqual((await kit.get('/checkpoints/s@1')).json);
    expect(answer.headers['content-type']).toBe('application/json');
  });

  it('has a view within a budget, which says what it left out', async () => {
    const { kit, save, service } = await checkpointWorld();
    const messages = Array.from({ length: 40 }, (_, index) => `message ${index} of many`);
    const context = { goal: 'ship', messages, kept: ['a', 'b'], debug: 'x '.repeat(500) };
    await save({ sessionId: 's', context });
    await service.markCritical({ sessionId: 's', contextKey: 'kept' });
    const { status, json } = await kit.get('/checkpoints/s@1/context?budget=100');
    const view = json['view'] as { tokens: number; budget: number; keys: JsonObject[] };
    expect([status, view.budget]).toEqual([200, 100]);
    expect(view.tokens).toBeLessThanOrEqual(100);
    expect(json['context']).toMatchObject({ goal: 'ship', kept: ['a', 'b'] });
    const shown = Object.fromEntries(view.keys.map((key) => [key['key'], key['shown']]));
    expect(shown).toMatchObject({ goal: 'whole', messages: 'cut', kept: 'whole' });
    expect(view.keys.find(({ key }) => key === 'kept')).toMatchObject({ marked: true });
    expect(json['checkpoint']).toMatchObject({ id: 's@1' });
    const whole = await kit.get('/checkpoints/s@1/context?budget=100000');
    expect(whole.json['context']).toEqual(context);
  });

  it('refuses a budget that is not a number of tokens', async () => {
    const { kit, save } = await checkpointWorld();
    await save({ sessionId: 's', context: { n: 1 } });
    for (const budget of ['0', '-1', 'x', '1.5', '', '99999999999999999']) {
      const refused = await kit.get(`/checkpoints/s@1/context?budget=${budget}`);
      expect(refused.json, budget).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' });
    }
  });
});

describe('the difference of two checkpoints', () => {
  it('leads from one to the other, and back', async () => {
    const { kit, save } = await checkpointWorld();
    const first = { same: [1, { a: 'ü' }], 'a/b~c': 1, gone: true, list: [1, 2, 3] };
    const second = { same: [1, { a: 'ü' }], 'a/b~c': 2, list: [1, 3], 'new key': { deep: [] } };
    await save({ sessionId: 's', context: first });
    await save({ sessionId: 'other', context: second });
    for (const [from, to, start, end] of [
      ['s@1', 'other@1', first, second],
      ['other@1', 's@1', second, first],
    ] as const) {
      const { status, json } = await kit.get(`/checkpoints/${from}/diff/${to}`);
      expect([status, json['from'], json['to']]).toEqual([200, from, to]);
      const changes = json['changes'] as unknown as JsonPatchStep[];
      expect(applyPatch(start, changes)).toEqual(end);
      expect(changes.map((change) => change.path)).not.toContain('/same');
    }
    expect((await kit.get('/checkpoints/s@1/diff/s@1')).json['changes']).toEqual([]);
  });
});

describe('an id', () => {
  const shared = sharedWorld(({ save }) => save({ sessionId: 's', context: {} }));

  it.each([
    'a b',
    '50%',
    'q?x=1',
    'a#b',
    'at@2',
    'x+y',
    'ü',
    '\u{1f600}',
    '"<b>\'',
    '__proto__',
    ';=&:',
    '%2e',
  ])('is taken percent-encoded: %s', async (sessionId) => {
    const { kit, save } = shared();
    const id = await save({ sessionId, context: { of: sessionId, n: 1 } });
    const next = await save({ sessionId, context: { of: sessionId, n: 2 } });
    const at = `/checkpoints/${encodeURIComponent(id)}`;
    expect((await kit.get(at)).json).toMatchObject({ id, session_id: sessionId });
    expect((await kit.get(`${at}/context`)).json).toMatchObject({ context: { of: sessionId, n: 1 } });
    const diff = await kit.get(`${at}/diff/${encodeURIComponent(next)}`);
    expect(diff.json).toMatchObject({
      from: id,
      to: next,
      changes: [{ op: 'replace', path: '/n', value: 2 }],
    });
    expect(await idsOf(kit, `?session=${encodeURIComponent(sessionId)}`)).toEqual([next, id]);
  });

  it('that means none is a problem, and makes nothing', async () => {
    const { kit } = shared();
    const before = await folderPrint(kit.dir);
    for (const [id, status, code] of [
      ...['nobody', 'nobody@1', '@1', 's@0', 's@01', 's@2', 's@9999999999999999', 's@1@', 's@-1', '*'].map(
        (none) => [none, 404, 'CHECKPOINT_NOT_FOUND'] as const,
      ),
      ...['a%2Fb@1', '..%2F..%2Fs@1', '%00@1', '%1B@1', '..@1', `${'x'.repeat(300)}@1`].map(
        (bad) => [bad, 400, 'INVALID_NAME'] as const,
      ),
      ['%FF@1', 400, 'INVALID_ARGUMENT'] as const,
    ])
      for (const target of [
        id,
        `${id}/context`,
        `${id}/context?budget=9`,
        `${id}/diff/s@1`,
        `s@1/diff/${id}`,
      ]) {
        const missing = await kit.get(`/checkpoints/${target}`);
        expect([target, missing.status, missing.json['code']]).toEqual([target, status, code]);
        expect(missing.headers['content-type']).toBe(PROBLEM_TYPE);
      }
    expect(kit.unexpected).toEqual([]);
    // When a session was read last is noted beside it.
    const known = (lines: readonly string[]) => lines.filter((line) => !line.includes('access.json'));
    expect(known(await folderPrint(kit.dir))).toEqual(known(before));
  });
});
