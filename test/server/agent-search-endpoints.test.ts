/** The search in an agent's past over HTTP: ranked, filtered, a page at a time; nothing is written. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { createAgent, ScriptedModel } from '../../src/index.js';
import { folderPrint, PROBLEM_TYPE, type ServerKit, serverKit } from './server-kit.js';

/** It was told of a parcel, weighed it with a tool, and heard of lunch. */
async function withAgent(): Promise<ServerKit> {
  const kit = await serverKit();
  const agent = createAgent({
    agentId: 'ada',
    memoryDir: kit.dir,
    model: new ScriptedModel([
      { calls: [{ name: 'weigh', arguments: { parcel: 4711 } }] },
      { text: 'The parcel is heavy.' },
      { text: 'Enjoy the soup.' },
    ]),
    tools: [
      {
        name: 'weigh',
        description: 'Weighs a parcel.',
        inputSchema: { type: 'object' },
        execute: () => 'zebra scale: 12 kilos',
      },
    ],
  });
  await agent.start();
  await agent.send('Weigh parcel 4711.');
  await agent.send('Lunch is soup.');
  await agent.stop();
  return kit;
}

const rowsOf = (json: JsonObject, name = 'results') => json[name] as JsonObject[];

describe('a search in the past of an agent', () => {
  it('finds the best match first, and says who said it, when and where', async () => {
    const kit = await withAgent();
    const { status, json } = await kit.get('/agents/ada/search?q=zebra%20kilos');
    expect(status).toBe(200);
    expect(json).toMatchObject({ agent_id: 'ada', next_offset: null, searched_passages: 6 });
    expect(rowsOf(json)[0]).toEqual({
      record: expect.any(Number),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      turn_id: 'turn_0001',
      speaker: 'tool',
      tool_name: 'weigh',
      text: 'zebra scale: 12 kilos',
    });
  });

  it('gives each result on one page only', async () => {
    const kit = await withAgent();
    const all = rowsOf((await kit.get('/agents/ada/search?q=parcel')).json);
    const paged: JsonObject[] = [];
    for (let offset: unknown = 0; offset !== null; ) {
      const { json } = await kit.get(`/agents/ada/search?q=parcel&limit=2&offset=${offset}`);
      expect(rowsOf(json).length).toBeLessThanOrEqual(2);
      paged.push(...rowsOf(json));
      offset = json['next_offset'];
    }
    expect(all.length).toBeGreaterThan(2);
    expect(paged).toEqual(all);
  });

  it.each([
    ['a speaker', 'speaker=user', ['user']],
    ['the model with its calls', 'speaker=assistant', ['assistant', 'call']],
    ['a tool', 'tool=weigh', ['call', 'tool']],
    ['a time that has not come', 'since=2999-01-01', []],
    ['a time that is long over', 'until=1999-01-01', []],
  ])('is narrowed to %s', async (_what, filter, speakers) => {
    const kit = await withAgent();
    const { json } = await kit.get(`/agents/ada/search?q=parcel%20zebra&${filter}`);
    const found = rowsOf(json).map(({ speaker }) => String(speaker));
    expect([...new Set(found)].sort()).toEqual(speakers);
  });

  it('finds nothing for words that do not occur', async () => {
    const kit = await withAgent();
    const { json } = await kit.get('/agents/ada/search?q=unicorn');
    expect(json).toMatchObject({ results: [], next_offset: null });
  });

  it.each([
    '',
    '?q=',
    '?q=%20',
    `?q=${'x'.repeat(501)}`,
    '?q=a&limit=0',
    '?q=a&limit=51',
    '?q=a&offset=-1',
    '?q=a&offset=1001',
    '?q=a&speaker=nobody',
    '?q=a&speaker=constructor',
    '?q=a&since=soon',
    '?q=a&until=later',
    '?q=a&q=b',
    '?q=a&words=b',
  ])('refuses %j', async (query) => {
    const kit = await withAgent();
    const answer = await kit.get(`/agents/ada/search${query}`);
    expect(answer.json).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' });
    expect(answer.headers['content-type']).toBe(PROBLEM_TYPE);
  });
});

describe('passages', () => {
  const textsOf = (json: JsonObject) => rowsOf(json, 'passages').map(({ text }) => text);

  it('are what stands around a record, in order', async () => {
    const kit = await withAgent();
    const found = rowsOf((await kit.get('/agents/ada/search?q=zebra&speaker=tool')).json);
    const { json } = await kit.get(`/agents/ada/passages?record=${found[0]?.['record']}&before=1&after=1`);
    expect(textsOf(json)).toEqual(['parcel: 4711', 'zebra scale: 12 kilos', 'The parcel is heavy.']);
    expect(json).toMatchObject({ agent_id: 'ada', next_record: null });
  });

  it('are what was said in turns', async () => {
    const kit = await withAgent();
    const one = await kit.get('/agents/ada/passages?from_turn=2');
    expect(textsOf(one.json)).toEqual(['Lunch is soup.', 'Enjoy the soup.']);
    const both = await kit.get('/agents/ada/passages?from_turn=1&to_turn=2');
    expect(textsOf(both.json)).toEqual(expect.arrayContaining(['Weigh parcel 4711.', 'Enjoy the soup.']));
  });

  it('are none where there is no such record or turn', async () => {
    const kit = await withAgent();
    for (const place of ['record=900', 'from_turn=900'])
      expect(textsOf((await kit.get(`/agents/ada/passages?${place}`)).json)).toEqual([]);
  });

  it.each([
    '',
    '?before=1',
    '?to_turn=2',
    '?record=0',
    '?record=x',
    '?record=1&before=51',
    '?record=1&after=51',
    '?record=1&from_turn=1',
    '?record=1&to_turn=1',
    '?from_turn=0',
    '?from_turn=1&before=1',
    '?from_turn=2&to_turn=1',
    '?from_turn=1&to_turn=21',
  ])('refuse %j', async (query) => {
    const kit = await withAgent();
    expect((await kit.get(`/agents/ada/passages${query}`)).json).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
    });
  });
});

describe('both', () => {
  it('leave every file as it is, and an agent that is not there is a problem', async () => {
    const kit = await withAgent();
    const before = await folderPrint(kit.dir);
    for (const target of ['search?q=parcel', 'passages?record=1', 'passages?from_turn=1']) {
      expect((await kit.get(`/agents/ada/${target}`)).status).toBe(200);
      expect((await kit.get(`/agents/nobody/${target}`)).json).toMatchObject({ code: 'AGENT_NOT_FOUND' });
    }
    expect(await folderPrint(kit.dir)).toEqual(before);
    expect(kit.unexpected).toEqual([]);
  });
});
