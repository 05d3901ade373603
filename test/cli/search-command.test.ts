/** `search`: finds words in what agents said and did, and changes nothing. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import {
  CLI_TIMEOUT_MS,
  conversation,
  entriesBelow,
  inFolder,
  removeFolder,
  runCli,
  tempFolder,
} from './cli-fixture.js';
import { CHAT, importedAgent } from './imported-agent.js';

const HOSTILE = 'A zebra \u001b[31mred\u001b]0;title\u0007 \u009b2J \u202edrow';
/** What a terminal would obey. Newlines may stay. */
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

interface Found extends JsonObject {
  readonly agentId: string;
  readonly text: string;
  readonly score: number;
}

interface Page {
  readonly query: string;
  readonly results: Found[];
  readonly nextOffset: number | null;
  readonly searchedPassages: number;
  readonly problems: { readonly agentId: string; readonly error: { readonly code: string } }[];
}

let dir: string;

beforeAll(async () => {
  dir = await tempFolder();
  await conversation(dir, 'ada', ['The parcel ships on Friday.', 'The parcel is red.', 'Lunch is soup.']);
  await conversation(dir, 'bob', ['The parcel weighs a ton.', HOSTILE]);
  await importedAgent(dir, 'eve', CHAT);
}, CLI_TIMEOUT_MS);

afterAll(() => removeFolder(dir));

async function pageOf(...args: string[]): Promise<Page> {
  const { code, stdout, stderr } = await runCli(['search', ...args, '--dir', dir, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Page;
}

describe('search in one agent', { timeout: CLI_TIMEOUT_MS }, () => {
  it('shows turn, time, speaker, record and text of what it finds, best first', async () => {
    const { code, stdout, stderr } = await runCli(['search', 'ada', 'ships Friday', '-d', dir]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head, text] = stdout.split('\n');
    expect(head).toMatch(/^turn_0001 {2}\d{4}-\d\d-\d\dT[\d:.]+Z {2}(user|assistant) {2}record \d+$/);
    expect(text).toMatch(/^ {4}.*The parcel ships on Friday\.$/);
  });

  it('prints the same as JSON', async () => {
    const page = await pageOf('ada', 'ships Friday', '--speaker', 'user', '--limit', '1');
    expect(page).toEqual({
      query: 'ships Friday',
      results: [
        {
          agentId: 'ada',
          record: expect.any(Number),
          at: expect.stringMatching(/^\d{4}-.*Z$/),
          turnId: 'turn_0001',
          speaker: 'user',
          toolName: null,
          text: 'The parcel ships on Friday.',
          score: expect.any(Number),
        },
      ],
      nextOffset: expect.any(Number),
      searchedPassages: 6,
      problems: [],
    });
  });

  it('finds only what a tool was asked and gave, with --tool', async () => {
    const { results } = await pageOf('eve', 'short file a.ts', '--tool', 'look');
    expect(results.map(({ speaker, toolName }) => [speaker, toolName]).sort()).toEqual([
      ['call', 'look'],
      ['tool', 'look'],
    ]);
  });

  it('finds nothing before the agent was there, and says so with exit code 0', async () => {
    const args = ['search', 'ada', 'parcel', '--until', '1999-01-01', '-d', dir];
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'Nothing found in 6 passages.\n',
      stderr: '',
    });
  });

  it('shows what a terminal would obey, and wraps what is long', async () => {
    const { stdout } = await runCli(['search', 'bob', 'zebra', '-d', dir]);
    expect(stdout).toContain('zebra \\u001b[31mred\\u001b]0;title\\u0007 \\u009b2J \\u202edrow');
    expect(stdout).not.toMatch(OBEYED);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  it('ends with exit code 3 for an agent that is not there', async () => {
    const { code, stderr } = await runCli(['search', 'nobody', 'parcel', '-d', dir]);
    expect(code).toBe(3);
    expect(stderr).toContain('AGENT_NOT_FOUND');
  });

  it.each([
    [['ada', ' ']],
    [['ada', 'x'.repeat(501)]],
    [['ada', 'x', '--limit', '0']],
    [['ada', 'x', '--limit', '51']],
    [['ada', 'x', '--offset', 'y']],
    [['ada', 'x', '--speaker', 'nobody']],
    [['ada', 'x', '--since', 'soon']],
    [['ada', 'x', 'y']],
    [[]],
  ])('ends with exit code 2 for %j', async (args) => {
    expect((await runCli(['search', ...args, '-d', dir])).code).toBe(2);
  });
});

describe('search in all agents', { timeout: CLI_TIMEOUT_MS }, () => {
  it('begins with the best of each agent that has one, and names the agent', async () => {
    const { results } = await pageOf('parcel');
    expect(
      results
        .slice(0, 2)
        .map(({ agentId }) => agentId)
        .sort(),
    ).toEqual(['ada', 'bob']);
    expect(results[0]!.score).toBeGreaterThanOrEqual(results[1]!.score);
    const { stdout } = await runCli(['search', 'parcel', '-d', dir]);
    expect(stdout).toMatch(new RegExp(`^${results[0]!.agentId} {2}turn_`));
  });

  it('gives each result on one page only', async () => {
    const all = await pageOf('parcel', '--limit', '50');
    const paged: Found[] = [];
    for (let offset: number | null = 0; offset !== null; ) {
      const page: Page = await pageOf('parcel', '--limit', '3', '--offset', String(offset));
      paged.push(...page.results);
      offset = page.nextOffset;
    }
    expect(all.results.length).toBeGreaterThan(3);
    expect(paged).toEqual(all.results);
  });

  it('tells which agent cannot be read, and finds what the others have', () =>
    inFolder(async (place) => {
      for (const agentId of ['ada', 'bad', 'eve']) await conversation(place, agentId, ['The parcel is red.']);
      const traces = path.join(place, 'agents', 'bad', 'raw_traces.jsonl');
      await fs.rm(traces);
      await fs.mkdir(traces);
      const { code, stdout } = await runCli(['search', 'parcel', '-d', place]);
      expect(code).toBe(0);
      for (const agentId of ['ada', 'eve'])
        expect(stdout).toMatch(new RegExp(`^${agentId} {2}turn_0001`, 'm'));
      expect(stdout).toMatch(/^Left out: bad: .+ \(PATH_REFUSED\)$/m);
    }));

  it('changes nothing, and leaves no file', async () => {
    const before = await entriesBelow(dir);
    await pageOf('parcel');
    expect(await entriesBelow(dir)).toEqual(before);
  });

  it('finds nothing in a folder without agents, and does not make it', () =>
    inFolder(async (cwd) => {
      const { code, stdout } = await runCli(['search', 'parcel', '-d', path.join(cwd, 'none')]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'Nothing found in 0 passages.\n' });
      expect((await entriesBelow(cwd)).size).toBe(0);
    }));
});
