/** `history` lists turns, and `fork` makes a new agent from one of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../src/agent/model/scripted-model.js';
import {
  CLI_TIMEOUT_MS,
  conversation,
  entriesBelow,
  removeFolder,
  runCli,
  tempFolder,
} from './cli-fixture.js';

let dir: string;

beforeAll(async () => {
  dir = await tempFolder();
  await conversation(dir, 'ada', [
    'The parcel ships on Friday.',
    'The parcel is \u001b[31mred.',
    'Lunch is soup.',
  ]);
}, CLI_TIMEOUT_MS);

afterAll(() => removeFolder(dir));

const run = (...args: string[]) => runCli([...args, '--dir', dir]);

describe('rekindle history', () => {
  it(
    'lists turns, newest first, with their records, and escapes what a terminal would obey',
    async () => {
      const before = await entriesBelow(dir);
      const { code, stdout } = await run('history', 'ada', '--limit', '2');
      expect(code).toBe(0);
      expect(stdout).toMatch(/^turn 3 {2}\S+Z {2}records \d+-\d+\n {2}user: Lunch is soup\.\n {2}answer: /);
      expect(stdout).toContain('There is more: --before 2');
      expect(stdout).not.toContain('\u001b');
      expect(await entriesBelow(dir)).toEqual(before);
    },
    CLI_TIMEOUT_MS,
  );
});

describe('rekindle fork', () => {
  it(
    'makes an agent from a turn, which then goes on by itself',
    async () => {
      const made = await run('fork', 'ada', '--at', '1', '--as', 'eva', '--json');
      expect(made).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(made.stdout)).toMatchObject({
        agentId: 'eva',
        forkedFrom: { agentId: 'ada', turn: 1 },
      });
      const agent = await openAgent('eva', { memoryDir: dir, model: new ScriptedModel([{ text: 'Now.' }]) });
      await agent.send('And now?');
      await agent.stop();
      const { stdout } = await run('history', 'eva', '--json');
      const { turns } = JSON.parse(stdout) as { turns: { turn: number; agentId: string; request: string }[] };
      expect(turns.map(({ turn, agentId, request }) => [turn, agentId, request])).toEqual([
        [2, 'eva', 'And now?'],
        [1, 'ada', 'The parcel ships on Friday.'],
      ]);
      expect((await run('verify', 'eva')).code).toBe(0);
    },
    CLI_TIMEOUT_MS,
  );

  it(
    'is refused for a turn that does not exist, with what to do',
    async () => {
      const { code, stderr } = await run('fork', 'ada', '--at', '40');
      expect(code).toBe(2);
      expect(stderr).toContain('has no turn 40. `rekindle history` lists its turns');
    },
    CLI_TIMEOUT_MS,
  );
});
