/** `workspace calls`, `prune` and `sessions`: what was done in a workspace. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { SessionManager } from '../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../src/workspace/tool-calls/tool-call-log.js';
import { batchOf, HOSTILE, HOSTILE_SHOWN, jsonOf, linesOf, OBEYED, rowsOf } from './cli-batch.js';
import { CLI_TIMEOUT_MS, entriesBelow, removeFolder, tempFolder } from './cli-fixture.js';

const NOON = Date.parse('2026-03-02T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('calls and sessions', { timeout: CLI_TIMEOUT_MS }, () => {
  let dir: string;
  let current: string;
  let ended: string;
  let workspace: ReturnType<typeof batchOf>;

  beforeAll(async () => {
    dir = await tempFolder();
    workspace = batchOf('workspace', dir);
    const storage = new FileStorage(dir);
    const sessions = new SessionManager(storage);
    ended = (await sessions.create({ title: 'first', agents: [{ name: 'planner', agentId: 'planner-1' }] }))
      .id;
    await sessions.end(ended);
    current = (await sessions.create({ title: HOSTILE, agents: [{ name: 'builder', agentId: 'builder-1' }] }))
      .id;
    await sessions.close();

    const log = new ToolCallLog(storage);
    const wanted = {
      tool: 'search',
      agent: 'planner',
      session: ended,
      input: { q: 'Cats' },
      output: ['a cat'],
      error: null,
      startedMs: NOON,
      durationMs: 3,
    };
    // Each of the others differs in one thing that can be asked for.
    const others = [
      { callId: 'tool', tool: 'fetch' },
      { callId: 'agent', agent: 'builder' },
      { callId: 'session', session: current },
      { callId: 'status', output: null, error: 'no cats on the disk' },
      { callId: 'text', input: { q: 'dogs' }, output: ['a dog'] },
      { callId: 'early', startedMs: NOON - 2 * HOUR },
      { callId: 'late', startedMs: NOON + 2 * HOUR },
      { callId: 'yesterday', startedMs: NOON - DAY, output: 'x'.repeat(5_000) },
      { callId: 'odd', startedMs: NOON + 3 * HOUR, tool: HOSTILE, agent: HOSTILE, error: HOSTILE },
    ];
    for (const call of [{ callId: 'wanted' }, ...others]) await log.record({ ...wanted, ...call });
    await log.close();
    await storage.close();
  }, CLI_TIMEOUT_MS);
  afterAll(() => removeFolder(dir));

  it('calls takes every filter; all of them have to hold', async () => {
    const filters = ['--tool', 'search', '--agent', 'planner', '--session', ended, '--status', 'ok'];
    const times = ['--since', '2026-03-02T11:00:00Z', '--until', '2026-03-02T13:00:00Z', '--text', 'CAT'];
    const [shown, failed, none] = await workspace(
      ['calls', ...filters, ...times],
      ['calls', '--status', 'error', '--limit', '2', '--json'],
      ['calls', '--tool', 'nothing'],
    );
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(shown)).toEqual(['TIME  planner  search  3 ms', '  {"q":"Cats"}', '  => ["a cat"]', '']);
    const { calls } = jsonOf(failed) as { calls: JsonObject[] };
    expect(calls.map(({ callId }) => callId)).toEqual(['odd', 'status']);
    expect(none).toEqual({ code: 0, stdout: 'No calls found.\n', stderr: '' });
  });

  it('calls refuses filters that mean nothing', async () => {
    const [status, since] = await workspace(['calls', '--status', 'bad'], ['calls', '--since', 'yesterday']);
    expect(status).toMatchObject({ code: 2, stdout: '' });
    expect(status.stderr).toContain('--status must be ok or error. (INVALID_ARGUMENT)');
    expect(since).toMatchObject({ code: 2, stdout: '' });
    expect(since.stderr).toContain('--since must be a time such as 2026-03-01T10:00:00Z.');
  });

  it('sessions are newest first, with the current one marked, and can be filtered', async () => {
    const [shown, json] = await workspace(
      ['sessions'],
      ['sessions', '--status', 'ended', '--agent', 'planner-1', '--json'],
    );
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(rowsOf(shown).slice(1)).toEqual([
      [`${current} *`, expect.stringMatching(/^red\\u001b/), 'active', 'TIME', 'builder (builder-1)'],
      [ended, 'first', 'ended', 'TIME', 'planner (planner-1)'],
    ]);
    expect(shown.stdout).not.toMatch(OBEYED);
    expect(jsonOf(json)).toMatchObject({ current, sessions: [{ id: ended, title: 'first' }] });
  });

  it('a hostile call is shown in three lines, and not obeyed', async () => {
    const [shown] = await workspace(['calls', '--limit', '1']);
    expect(shown.stdout).not.toMatch(OBEYED);
    expect(linesOf(shown)).toEqual([
      `TIME  ${HOSTILE_SHOWN}  ${HOSTILE_SHOWN}  3 ms`,
      '  {"q":"Cats"}',
      `  failed: ${HOSTILE_SHOWN}`,
      '',
    ]);
  });

  it('prune has to be told what stays, and says what went', async () => {
    const before = await entriesBelow(dir);
    const [unsaid] = await workspace(['prune']);
    expect(unsaid).toMatchObject({ code: 2, stdout: '' });
    expect(unsaid.stderr).toContain('Give what to keep: --calls, --days, or both.');
    expect(await entriesBelow(dir)).toEqual(before);

    const [pruned, all] = await workspace(['prune', '--calls', '9'], ['prune', '--days', '0', '--json']);
    expect(pruned).toMatchObject({ code: 0, stderr: '' });
    expect(pruned.stdout).toMatch(
      /^Removed 1 call and 1 stored value \([\d,]+ bytes\), of 2026-03-01; 9 kept\.\n$/,
    );
    expect(jsonOf(all)).toMatchObject({ callsRemoved: 9, callsKept: 0, chunks: ['2026-03-02'] });
  });
});
