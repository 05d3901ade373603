/** What each folder of fixtures has to give: what its `expected.json` says, dry and for real, and again. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Expected } from '../fixtures/making/fixture.js';
import { sketch } from '../fixtures/making/sketch.js';
import { checkHistory } from '../src/messages/legality/history.js';
import {
  contextText,
  filePlaceAt,
  folderState,
  type OpenAgent,
  openAgent,
  tempFolder,
} from './memory/memory-kit.js';

async function copyOf(folder: string, name: string) {
  const expected = JSON.parse(
    await fs.readFile(path.join(folder, name, 'expected.json'), 'utf8'),
  ) as Expected;
  const root = await tempFolder();
  await fs.cp(path.join(folder, name, 'agents'), path.join(root, 'agents'), { recursive: true });
  return { expected, place: filePlaceAt(root, expected.agentId), root };
}

function optionsOf(expected: Expected) {
  return { agentId: expected.agentId, system: expected.systemPrompt, restore: expected.restore ?? {} };
}

function found({
  memory,
  report,
}: OpenAgent): Omit<Expected, 'title' | 'agentId' | 'systemPrompt' | 'restore'> {
  return {
    source: report.source,
    cacheRefused: report.cacheRefused?.reason ?? null,
    epochId: report.epochId,
    tracesReplayed: report.tracesReplayed,
    tracesIgnored: report.tracesIgnored,
    damage: report.damage.map(({ reason }) => reason),
    repairs: report.repairs.map(({ code }) => code),
    interruptedCalls: report.interruptedCalls.map((call) =>
      [call.callId, call.verdict, call.approvalPending && 'approval pending', call.leftOpen && 'left open']
        .filter(Boolean)
        .join(' '),
    ),
    unknown: report.unknown.length,
    promptChanged: report.promptChanged,
    nextTurn: memory.startTurn(),
    messages: sketch(memory.getWorkingContextMessages()),
  };
}

async function expectRefused(folder: string, name: string): Promise<void> {
  const { expected, place, root } = await copyOf(folder, name);
  const before = await folderState(root);
  for (const readOnly of [true, false]) {
    await expect(openAgent(place, { ...optionsOf(expected), readOnly })).rejects.toMatchObject({
      code: expected.error,
    });
  }
  expect(await folderState(root)).toStrictEqual(before);
}

/** One test suite a fixture in the folder. */
export async function checkFixtures(folder: string): Promise<void> {
  const names = (await fs.readdir(folder)).sort();
  describe.each(names)('fixture %s', (name) => {
    it('is restored as it says, without a change in a dry restore', async () => {
      const { expected, place, root } = await copyOf(folder, name);
      if (expected.error !== undefined) return expectRefused(folder, name);
      const { title: _, agentId: _id, systemPrompt: _prompt, restore: _options, ...claims } = expected;
      const before = await folderState(root, { leases: true });
      const dry = await openAgent(place, { ...optionsOf(expected), readOnly: true });
      expect(found(dry)).toMatchObject(claims);
      await dry.close();
      expect(await folderState(root, { leases: true })).toStrictEqual(before);
      const real = await openAgent(place, optionsOf(expected));
      expect(found(real)).toMatchObject(claims);
      const open = real.memory.openCalls().length;
      expect(checkHistory(real.memory.getWorkingContextMessages())).toHaveLength(open);
    });

    it('needs no repair the second time, and gives the same list, with the cache and without', async () => {
      const { expected, place } = await copyOf(folder, name);
      if (expected.error !== undefined) return;
      const first = await openAgent(place, optionsOf(expected));
      const text = contextText(first.memory);
      await first.memory.persistWorkingContextSnapshot();
      await first.close();
      for (const ignoreCache of [false, true]) {
        const options = optionsOf(expected);
        const next = await openAgent(place, { ...options, restore: { ...options.restore, ignoreCache } });
        expect(contextText(next.memory)).toBe(text);
        expect(next.report).toMatchObject({ repairs: [], tracesIgnored: 0, promptChanged: false });
        expect(next.report.interruptedCalls.filter(({ leftOpen }) => !leftOpen)).toStrictEqual([]);
        await next.close();
      }
    });

    it('goes on: a turn after the restore is there after the next one', async () => {
      const { expected, place } = await copyOf(folder, name);
      if (expected.error !== undefined) return;
      const first = await openAgent(place, optionsOf(expected));
      const turnId = first.memory.startTurn();
      await first.memory.ingestUserMessage('One more thing.', turnId);
      const killed = contextText(first.memory);
      const second = await openAgent(place, optionsOf(expected));
      expect(contextText(second.memory)).toBe(killed);
      await second.memory.ingestAssistantResponse({ content: 'Yes?' }, turnId);
      await second.close();
      const options = optionsOf(expected);
      for (const ignoreCache of [false, true]) {
        const next = await openAgent(place, { ...options, restore: { ...options.restore, ignoreCache } });
        expect(contextText(next.memory)).toBe(contextText(second.memory));
        await next.close();
      }
    });
  });
}
