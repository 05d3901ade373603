/** Folders that are opened in place, our own journal, and a context that the host sets as a whole. */
import fc from 'fast-check';
import { formatTurnId } from '../../src/core/ids.js';
import type { JsonObject } from '../../src/core/json.js';
import { openMemory } from '../../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { SNAPSHOT_FILE } from '../../src/memory/store/working-context-snapshot-store.js';
import { repairHistory } from '../../src/messages/legality/history.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import { messageToJson } from '../../src/messages/message-serializer.js';
import type { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { expectThat } from '../fuzz/fuzz-target.js';
import { AGENT } from '../fuzz/restored.js';
import { faultyHistory } from '../messages/legality/histories.js';
import { exactText } from './compare.js';
import { conversation, digitsIn } from './conversations.js';
import type { WayIn } from './ways.js';

/** Of a row of the original project. */
const FOREIGN_ID = 'rt_1770900509509';

/** A snapshot's integers that no number holds are read as their digits. */
const any = fc
  .oneof(conversation, faultyHistory)
  .map((history): Message[] => JSON.parse(JSON.stringify(history), exactText));

/** To open it is the way in: a folder that gives a blank context is refused, and stays as it is. */
async function openInPlace(storage: MemoryStorage): Promise<void> {
  const { memory, close } = await openMemory(storage, AGENT, { compaction: null });
  try {
    await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null);
  } finally {
    await close();
  }
}

const snapshot: WayIn = {
  name: 'foreign snapshot',
  originals: any,
  async bring(history, storage) {
    const text = digitsIn({
      ...{ schema_version: 1, agent_id: AGENT, epoch_id: 1, last_compaction_ts: null },
      messages: history.map(messageToJson),
    });
    await storage.documents.writeBytes(['agents', AGENT, SNAPSHOT_FILE], Buffer.from(text));
    await openInPlace(storage);
    return [{ what: 'the repaired original', messages: repairHistory(history).messages }];
  },
  async expectUntouched(storage) {
    const journal = await storage.openJournal(['agents', AGENT, 'raw_traces']);
    expectThat((await journal.head()).seq === 0, 'a row of ours was written');
    await journal.close();
  },
};

const reset: WayIn = {
  name: 'reset',
  originals: any,
  async bring(history, storage) {
    const { memory, close } = await openMemory(storage, AGENT, { compaction: null });
    try {
      await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null);
      await memory.begin('');
      await memory.ingestUserMessage('before', memory.startTurn());
      await memory.resetWorkingContextSnapshot(history);
    } finally {
      await close();
    }
    return [{ what: 'the repaired original', messages: repairHistory(history).messages }];
  },
};

/**
 * Rows say texts, calls and results, and no system messages. Calls in a row are one response whose text may come behind them: what
 * follows calls before their first result (an answer, a result of nothing) cannot be told from it, so the rows do not have it.
 */
function saidByRows(history: readonly Message[]): Message[] {
  const said: Message[] = [];
  let turn = 0;
  for (const message of history) {
    const calls = toolCallsOf(said.at(-1) ?? message);
    const isCalled = said.length > 0 && calls.length > 0;
    const result = toolResultOf(message);
    const isAnswer = message.role === 'assistant';
    if (message.role === 'system' || (said.length === 0 && message.role !== 'user')) continue;
    if (isCalled && (isAnswer || (result && !calls.some(({ id }) => id === result.toolCallId)))) continue;
    const { role, toolPayload } = message;
    if (role === 'user') turn += 1;
    const turnId = formatTurnId(turn); // calls of two turns are never one response
    if (result) said.push({ role, content: null, toolPayload: result, turnId });
    else
      said.push({
        role,
        content: textOf(message),
        ...(isAnswer && toolPayload ? { toolPayload } : {}),
        turnId,
      });
  }
  return said;
}

class Rows {
  readonly rows: JsonObject[] = [];
  #turn = 0;
  #seq = 0;

  add(message: Message): void {
    const result = toolResultOf(message);
    if (message.role === 'user') {
      this.#turn += 1;
      this.#seq = 0;
      this.#row('user', { content: message.content });
    } else if (result) {
      const { toolCallId, toolResult, toolError } = result;
      const outcome = toolError === null ? { tool_result: toolResult } : { tool_error: toolError };
      this.#row('tool_result', { tool_name: 'read', tool_call_id: toolCallId, ...outcome });
    } else {
      for (const { id, name, arguments: args } of toolCallsOf(message))
        this.#row('tool_call', { content: '', tool_name: name, tool_call_id: id, tool_args: args });
      if (toolCallsOf(message).length === 0 || message.content !== '')
        this.#row('assistant', { content: message.content });
    }
  }

  #row(trace_type: string, fields: JsonObject): void {
    this.#seq += 1;
    this.rows.push({
      ...{ id: FOREIGN_ID, ts: 1770900509.5, turn_id: formatTurnId(this.#turn), seq: this.#seq },
      ...{ trace_type, source_event: 'E', ...fields },
    });
  }
}

async function appendRows(storage: MemoryStorage, rows: readonly JsonObject[]): Promise<void> {
  const journal = await storage.openJournal(['agents', AGENT, 'raw_traces']);
  await journal.append(rows);
  await journal.close();
}

const foreignRows: WayIn = {
  name: 'foreign rows',
  originals: conversation,
  async bring(history, storage) {
    const said = saidByRows(history);
    const rows = new Rows();
    for (const message of said) rows.add(message);
    if (rows.rows.length === 0) return null;
    await appendRows(storage, rows.rows);
    await openInPlace(storage);
    return [{ what: 'the repaired original', messages: repairHistory(said).messages }];
  },
  async expectUntouched(storage) {
    const journal = await storage.openJournal(['agents', AGENT, 'raw_traces']);
    for await (const entry of journal.read())
      expectThat(entry.kind === 'record' && entry.record['id'] === FOREIGN_ID, 'a row of ours was written');
    await journal.close();
  },
};

export const FOLDER_WAYS: readonly WayIn[] = [snapshot, foreignRows, reset];
