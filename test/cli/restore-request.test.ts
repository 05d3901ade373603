/** `restore --for`: the request that would be sent to each provider. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { checkRequest } from '../../src/messages/projections/project.js';
import { TARGETS } from '../../src/messages/projections/targets.js';
import { CLI_TIMEOUT_MS, entriesBelow, removeFolder, runCli, tempFolder } from './cli-fixture.js';
import { importedAgent, UNANSWERED_CHAT } from './imported-agent.js';

interface Shown {
  readonly target: string;
  readonly request: JsonObject;
  readonly notes: readonly { readonly code: string; readonly detail: string }[];
  readonly refused: readonly unknown[];
  readonly report: Record<string, unknown>;
}

let dir: string;

beforeAll(async () => {
  dir = await tempFolder();
  await importedAgent(dir, 'ann', UNANSWERED_CHAT);
}, CLI_TIMEOUT_MS);

afterAll(() => removeFolder(dir));

describe.concurrent('rekindle restore --for', { timeout: CLI_TIMEOUT_MS }, () => {
  it.each(TARGETS)('%s gives a request that this provider accepts, and changes nothing', async (target) => {
    const before = await entriesBelow(dir);
    const shown = await runCli(['restore', 'ann', '--for', target, '-d', dir, '--json']);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    const given = JSON.parse(shown.stdout) as Shown;
    expect(given).toMatchObject({ target, refused: [], report: { agentId: 'ann', dry: true } });
    expect(checkRequest(target, given.request)).toEqual([]);
    const text = JSON.stringify(given.request);
    for (const said of ['Be brief.', 'Look at a.ts.', 'It is a short file.', 'call_1'])
      expect(text).toContain(said);
    expect(await entriesBelow(dir)).toEqual(before);
  });

  it('says in its notes what the request has and the context has not', async () => {
    const shown = await runCli(['restore', 'ann', '--for', 'gemini', '-d', dir, '--json']);
    const { notes } = JSON.parse(shown.stdout) as Shown;
    expect(notes.map(({ code }) => code)).toContain('tool-stub-declared');
  });

  it('shows people the report, the notes, and the request as JSON', async () => {
    const shown = await runCli(['restore', 'ann', '--for', 'gemini', '-d', dir]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    const [report, request] = shown.stdout.split(/\n(?=\{\n)/) as [string, string];
    expect(report).toContain('The context of ann was restored');
    expect(report).toContain('Interrupted call look (call_1)');
    expect(report).toMatch(/\nNote: .*tool-stub-declared/);
    expect(checkRequest('gemini', JSON.parse(request) as JsonObject)).toEqual([]);
  });

  it('exits with 2 for a target that does not exist and names those that do', async () => {
    const shown = await runCli(['restore', 'ann', '--for', 'nonsense', '-d', dir]);
    expect(shown).toMatchObject({ code: 2, stdout: '' });
    expect(shown.stderr).toContain(`Unknown target "nonsense". Choose one of ${TARGETS.join(', ')}.`);
  });

  it('exits with 3 for an agent that does not exist', async () => {
    const shown = await runCli(['restore', 'nobody', '--for', 'gemini', '-d', dir]);
    expect(shown).toMatchObject({ code: 3, stdout: '' });
  });
});
