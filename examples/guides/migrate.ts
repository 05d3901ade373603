/**
 * Migrate: a list of messages as JSON, a session of Claude Code, and the threads of a LangGraph checkpointer.
 *
 *     npx tsx examples/guides/migrate.ts
 */
import assert from 'node:assert/strict';
import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  emptyCheckpoint,
  MemorySaver,
} from '@langchain/langgraph-checkpoint';
import { RekindleSaver } from '../../src/adapters/langgraph/index.js';
import { FileStorage, OfflineModel, openAgent } from '../../src/index.js';
import { importTranscript } from '../../src/memory/index.js';
import { sourceOf } from '../../src/messages/index.js';
import { inNewFolder } from '../support/lives.js';

inNewFolder();
const storage = new FileStorage('memory');

/** Makes an agent of a transcript, and says what came over. The format is detected from the content. */
async function bring(agentId: string, transcript: string): Promise<void> {
  const source = sourceOf(transcript);
  const { format, messages, openCalls, losses } = await importTranscript(storage, agentId, source);
  console.log(`${agentId}: ${format}, messages: ${messages}, calls without a result: ${openCalls}`);
  for (const { what, count } of losses.dropped) console.log(`  not carried over: ${what} (${count})`);
}

// Messages that your program kept as JSON. A call is without its result, because the process died.
const saved = [
  { role: 'system', content: 'You are an order desk.' },
  { role: 'user', content: 'Where is order 4711?' },
  {
    role: 'assistant',
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"order":4711}' } },
    ],
  },
];
await bring('desk', JSON.stringify(saved));

// A session of Claude Code, a file of ~/.claude/projects; or of Codex, a file of ~/.codex/sessions.
const session = [
  { type: 'user', uuid: 'a', parentUuid: null, message: { role: 'user', content: 'Name the files.' } },
  { type: 'progress', uuid: 'p', parentUuid: 'a', data: {} },
  {
    ...{ type: 'assistant', uuid: 'b', parentUuid: 'a' },
    message: { role: 'assistant', content: [{ type: 'text', text: 'a.ts and b.ts.' }] },
  },
].map((record) => JSON.stringify({ sessionId: 's1', timestamp: '2026-05-08T13:56:00.000Z', ...record }));
await bring('coder', session.join('\n'));

// An agent that was imported continues like any other. No tool runs by itself.
const model = new OfflineModel({ wordMs: 0 });
const desk = await openAgent('desk', { model, storage });
for (const { toolName, verdict } of desk.restoreReport!.interruptedCalls)
  console.log(`desk: ${toolName}, ${verdict}`);
console.log((await desk.send('And order 4712?')).text);
await desk.stop();

/** Copies a thread of a LangGraph checkpointer, oldest checkpoint first. */
async function copyThread(from: BaseCheckpointSaver, to: BaseCheckpointSaver, threadId: string) {
  const all: CheckpointTuple[] = [];
  for await (const tuple of from.list({ configurable: { thread_id: threadId } })) all.unshift(tuple);
  for (const { config, checkpoint, metadata, parentConfig, pendingWrites = [] } of all) {
    const parent = { ...config.configurable, checkpoint_id: parentConfig?.configurable?.['checkpoint_id'] };
    await to.put({ configurable: parent }, checkpoint, metadata!, checkpoint.channel_versions);
    for (const task of new Set(pendingWrites.map(([id]) => id))) {
      const writes = pendingWrites.flatMap(([id, ...write]) => (id === task ? [write] : []));
      await to.putWrites(config, writes, task);
    }
  }
}

const old = new MemorySaver(); // yours: of SQLite, PostgreSQL, ...
await fill(old);
const saver = new RekindleSaver({ storage });
await copyThread(old, saver, 't1');

const thread = { configurable: { thread_id: 't1' } };
const [before, after] = [await old.getTuple(thread), await saver.getTuple(thread)];
console.log('t1:', after?.checkpoint.channel_values, 'pending:', after?.pendingWrites);
assert.deepEqual(after?.checkpoint, before?.checkpoint);
assert.deepEqual(after?.pendingWrites, before?.pendingWrites);
assert.deepEqual(after?.parentConfig?.configurable, before?.parentConfig?.configurable);

/** Two steps of a graph, the second with writes that wait for the next one. */
async function fill(checkpointer: BaseCheckpointSaver): Promise<void> {
  let config: CheckpointTuple['config'] = { configurable: { thread_id: 't1', checkpoint_ns: '' } };
  for (const count of [1, 2]) {
    const checkpoint = { ...emptyCheckpoint(), channel_values: { count }, channel_versions: { count } };
    config = await checkpointer.put(
      config,
      checkpoint,
      { source: 'loop', step: count, parents: {} },
      { count },
    );
  }
  await checkpointer.putWrites(
    config,
    [
      ['count', 3],
      ['log', 'added'],
    ],
    'task-1',
  );
}
