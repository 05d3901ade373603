/** kill -9 while an answer is streamed: what a person has read is in the restored context. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf } from '../../../src/messages/message.js';
import { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { agentFixture, outline } from '../agent-fixture.js';
import { storyOf } from './story.js';
import type { StreamedBy } from './stream-child.js';

const CHILD = fileURLToPath(new URL('./stream-child.ts', import.meta.url));
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const SEED = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);

/** Runs the child until it has printed so many characters, kills it, and returns all that it printed. */
async function killedAfter(dir: string, way: StreamedBy, characters: number): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', CHILD, dir, way], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let read = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    read += String(chunk);
    if (read.length >= characters) child.kill('SIGKILL');
  });
  await closed;
  return read;
}

const WAYS: readonly StreamedBy[] = ['agent', 'ai-sdk', 'openai-chat'];
/** By way: the folder that the child left, and what it printed. */
const left = new Map<StreamedBy, { readonly dir: string; readonly read: string }>();

beforeAll(async () => {
  console.log(`killed streams: REKINDLE_SEED=${SEED}`);
  const random = new SeededRandom(SEED);
  const kill = async (way: StreamedBy) => {
    const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-stream-'));
    left.set(way, { dir, read: await killedAfter(dir, way, 50 + random.below(4_000)) });
  };
  await Promise.all(WAYS.map(kill));
}, 60_000);

afterAll(async () => {
  for (const { dir } of left.values()) await fs.rm(dir, { recursive: true, force: true });
});

describe.each(WAYS)('a process that is killed while it streams by %s', (way) => {
  it('has left everything that was delivered, marked as cut off', async () => {
    const { dir, read } = left.get(way)!;
    const fixture = await agentFixture();
    await fs.cp(dir, fixture.dir, { recursive: true, preserveTimestamps: true });
    const agent = fixture.restored([{ text: 'and so on.' }]);
    await agent.start();
    const kept = textOf(agent.messages.at(-1)!);
    expect(kept.startsWith(read)).toBe(true);
    expect(storyOf(3_000).startsWith(kept)).toBe(true);
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', status: 'failed' });
    expect(agent.restoreReport).toMatchObject({
      cutOffAnswers: [{ turnId: 'turn_0001', characters: kept.length, isCutOff: true }],
      frontier: { kind: 'awaiting_assistant' },
    });
    expect((await agent.resume()).text).toBe('and so on.');
    expect(outline(agent.messages).slice(-2)).toEqual([`assistant: ${kept}`, 'assistant: and so on.']);
  });
});
