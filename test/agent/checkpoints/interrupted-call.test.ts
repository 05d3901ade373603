/** A checkpoint of an agent that was killed in a tool, and what a branch makes of the open call. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { OUTCOME_UNKNOWN_TEXT } from '../../../src/messages/legality/pairing-rule.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import { TARGETS } from '../../../src/messages/projections/targets.js';
import { callsWork, filesBelow, gate, outline, tool } from '../agent-fixture.js';
import { answers, BranchPlace, bytesOf } from './branch-kit.js';

/** `ada`, dropped while its tool runs, after one turn. */
async function killedInTool() {
  const place = await BranchPlace.make();
  const started = gate();
  const execute = () => {
    started.open();
    return new Promise<never>(() => {});
  };
  const script = [{ text: 'Hello.' }, callsWork({ n: 1 }, { n: 2 })];
  const agent = await place.started(script, { tools: [tool({ execute })], systemPrompt: 'Be exact.' });
  await agent.send('Hi.');
  agent.send('Pay.').catch(() => {});
  await started.opened;
  return place;
}

describe('a checkpoint that is taken while a call is open', () => {
  it('changes nothing of the agent', async () => {
    const place = await killedInTool();
    const before = await place.files();
    await place.save();
    expect(await place.files()).toEqual(before);
  });

  it('gives a branch in which the call is closed with an unknown outcome', async () => {
    const place = await killedInTool();
    const branch = place.branch('branch', (await place.save()).checkpointId);
    await branch.start();
    expect(outline(branch.messages)).toEqual([
      'system: Be exact.',
      'user: Hi.',
      'assistant: Hello.',
      'user: Pay.',
      'call: work{"n":1}',
      'call: work{"n":2}',
      `error: ${OUTCOME_UNKNOWN_TEXT}`,
      expect.stringMatching(/^error: /),
    ]);
    expect(branch.messages.filter(({ role }) => role === 'tool').every(({ synthetic }) => synthetic)).toBe(
      true,
    );
  });

  it('runs no tool in the branch and calls no model, until the branch is resumed', async () => {
    const place = await killedInTool();
    let ran = 0;
    const tools = [tool({ execute: () => ++ran })];
    const branch = place.branch('branch', (await place.save()).checkpointId, answers(1), { tools });
    await branch.start();
    expect(branch.restoreReport).toMatchObject({ frontier: { kind: 'awaiting_assistant' } });
    expect((await branch.resume()).text).toBe('Answer 1.');
    expect(ran).toBe(0);
  });

  it.each(TARGETS)('gives a list that is legal for %s', async (target) => {
    const place = await killedInTool();
    const branch = place.branch('branch', (await place.save()).checkpointId);
    await branch.start();
    expect(checkHistory(branch.messages)).toEqual([]);
    expect(checkRequest(target, project(target, branch.messages).request)).toEqual([]);
  });

  it('gives what a restore of the agent gives', async () => {
    const place = await killedInTool();
    const branch = place.branch('branch', (await place.save()).checkpointId);
    await branch.start();
    const other = await BranchPlace.make();
    await fs.cp(path.join(place.dir, 'agents'), path.join(other.dir, 'agents'), {
      recursive: true,
      filter: (file) => !file.includes(`${path.sep}lease`),
    });
    const restored = other.restored('ada');
    await restored.start();
    expect(bytesOf(branch)).toBe(bytesOf(restored));
  });

  it('is the same each time: a second one of the same agent is skipped', async () => {
    const place = await killedInTool();
    expect(await place.save()).toMatchObject({ status: 'SAVED', checkpointId: 'ada@1' });
    const before = await filesBelow(place.dir);
    expect(await place.save()).toMatchObject({ status: 'SKIPPED_UNCHANGED', checkpointId: 'ada@1' });
    expect(await filesBelow(place.dir)).toEqual(before);
  });
});
