/**
 * Real folders of the seed's original project, where the shared corpus is there. They are read, never copied into the project.
 */
import { existsSync, readdirSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../src/core/json.js';
import { checkHistory } from '../src/messages/legality/history.js';
import { toolCallsOf, toolResultOf } from '../src/messages/message.js';
import {
  contextText,
  type FilePlace,
  filePlaceAt,
  folderState,
  openAgent,
  talk,
  tempFolder,
} from './memory/memory-kit.js';

const corpus = fileURLToPath(new URL('../../shared/corpus/autobyteus', import.meta.url));
const names = existsSync(corpus) ? readdirSync(corpus).sort() : [];
if (names.length === 0) console.log(`corpus: skipped, there is no ${corpus}`);

const SNAPSHOT = 'working_context_snapshot.json';

async function copyOf(
  name: string,
): Promise<{ place: FilePlace; agentId: string; snapshot: JsonObject | null }> {
  const source = path.join(corpus, name);
  const file = path.join(source, SNAPSHOT);
  const snapshot = existsSync(file) ? (JSON.parse(await fs.readFile(file, 'utf8')) as JsonObject) : null;
  const agentId = String(snapshot?.['agent_id'] ?? name);
  const root = await tempFolder();
  await fs.cp(source, path.join(root, 'agents', agentId), { recursive: true });
  return { place: filePlaceAt(root, agentId), agentId, snapshot };
}

async function rowsOf(name: string): Promise<JsonObject[]> {
  const file = path.join(corpus, name, 'raw_traces.jsonl');
  if (!existsSync(file)) return [];
  const lines = (await fs.readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => JSON.parse(line) as JsonObject);
}

describe.skipIf(names.length === 0)('a folder of the original project', () => {
  it.each(names)('%s is restored to a legal list without a change in a dry restore', async (name) => {
    const { place, agentId, snapshot } = await copyOf(name);
    const before = await folderState(place.root, { leases: true });
    const dry = await openAgent(place, { agentId, readOnly: true });
    expect(checkHistory(dry.memory.getWorkingContextMessages())).toStrictEqual([]);
    const { source, damage, unknown, interruptedCalls } = dry.report;
    expect({ source, damage }).toStrictEqual({ source: snapshot ? 'imported' : 'rebuilt', damage: [] });
    expect(unknown).toHaveLength(interruptedCalls.length); // nobody knows whether an open call took effect
    expect(interruptedCalls.every(({ verdict }) => verdict === 'outcome_unknown')).toBe(true);
    expect(await folderState(place.root, { leases: true })).toStrictEqual(before);
  });

  it.each(names)('%s keeps every message of its snapshot, in order', async (name) => {
    const { place, agentId, snapshot } = await copyOf(name);
    const { memory } = await openAgent(place, { agentId });
    const texts = memory.getWorkingContextMessages().flatMap(({ content }) => content ?? []);
    const saved = ((snapshot?.['messages'] ?? []) as JsonObject[]).flatMap(({ content }) =>
      typeof content === 'string' ? content : [],
    );
    expect(texts.slice(0, saved.length)).toStrictEqual(saved);
  });

  it.each(names)('%s has every call and every result of its traces, each once', async (name) => {
    const { place, agentId } = await copyOf(name);
    const { memory } = await openAgent(place, { agentId });
    const messages = memory.getWorkingContextMessages();
    const calls = messages.flatMap(toolCallsOf).map(({ id }) => id);
    const results = messages.flatMap((message) =>
      message.synthetic ? [] : (toolResultOf(message)?.toolCallId ?? []),
    );
    const ids = (rows: readonly JsonObject[], type: string) =>
      rows.filter((row) => row['trace_type'] === type).map((row) => row['tool_call_id'] as string);
    const rows = await rowsOf(name);
    expect(calls).toStrictEqual([...new Set(calls)]);
    expect(calls).toEqual(expect.arrayContaining(ids(rows, 'tool_call')));
    expect(results).toEqual(expect.arrayContaining(ids(rows, 'tool_result')));
    expect(results).toStrictEqual([...new Set(results)]);
  });

  it.each(names)('%s needs no repair the second time and gives the same list', async (name) => {
    const { place, agentId } = await copyOf(name);
    const first = await openAgent(place, { agentId });
    const text = contextText(first.memory);
    const second = await openAgent(place, { agentId });
    expect(contextText(second.memory)).toBe(text);
    expect(second.report.interruptedCalls).toStrictEqual([]);
    await second.memory.persistWorkingContextSnapshot();
    const third = await openAgent(place, { agentId });
    expect(third.report).toMatchObject({ source: 'cache', repairs: [], interruptedCalls: [] });
    expect(contextText(third.memory)).toBe(text);
  });

  it.each(names)('%s goes on: one more turn, then a restore without the cache', async (name) => {
    const { place, agentId } = await copyOf(name);
    const { memory } = await openAgent(place, { agentId });
    await talk(memory, 'One more thing.', 'Yes?');
    await fs.rm(place.file(SNAPSHOT));
    const next = await openAgent(place, { agentId });
    expect(next.report).toMatchObject({ source: 'rebuilt', repairs: [], damage: [] });
    expect(contextText(next.memory)).toBe(contextText(memory));
  });

  it.each(['gpt55-repro', 'openai-full-agent'].filter((name) => names.includes(name)))(
    '%s gets the result that its snapshot lacks',
    async (name) => {
      const { place, agentId, snapshot } = await copyOf(name);
      expect((snapshot!['messages'] as JsonObject[]).at(-1)).toMatchObject({ role: 'assistant' });
      const { memory, report } = await openAgent(place, { agentId });
      const last = toolResultOf(memory.getWorkingContextMessages().at(-1)!);
      const row = (await rowsOf(name)).find((found) => found['trace_type'] === 'tool_result')!;
      expect(last).toMatchObject({
        toolCallId: row['tool_call_id'],
        toolResult: row['tool_result'],
        toolError: null,
      });
      expect(report).toMatchObject({
        interruptedCalls: [],
        repairs: [],
        frontier: { kind: 'awaiting_assistant' },
      });
    },
  );
});
