import { canonicalJson } from '../../../src/core/canonical-json.js';
import { isJsonObject, type JsonObject, tryParseJson } from '../../../src/core/json.js';
import { traceFromJson, traceToJson } from '../../../src/memory/models/trace-serializer.js';
import { applyTrace, emptyMemoryState } from '../../../src/memory/working-context-reducer.js';
import { repairHistory } from '../../../src/messages/legality/history.js';
import { expectThat, type FuzzTarget } from '../fuzz-target.js';
import { AGENT, expectUsable, newStore, restoreTwice } from '../restored.js';
import { TRACE_FILES } from '../seed-files.js';

const WORDS = [
  'trace_type',
  'user',
  'assistant',
  'tool_call',
  'tool_result',
  'boundary',
  'compaction',
  'turn_id',
  'turn_0001',
  'tool_call_id',
  'tool_name',
  'tool_args',
  'tool_result',
  'tool_error',
  'content',
  'message',
  'messages',
  'base',
  'repair',
  'system',
  'media',
  'parts',
  'reasoning',
  'message_id',
];
const ROWS = TRACE_FILES.flatMap((text) => text.split('\n').filter(Boolean));

/** One row at a time. */
export const traceRows: FuzzTarget = {
  name: 'trace-rows',
  weight: 10,
  seeds: ROWS,
  words: WORDS,
  take(input, random) {
    const row = tryParseJson(input);
    if (!isJsonObject(row)) return false;
    const trace = traceFromJson(row);
    const stored = JSON.parse(JSON.stringify(traceToJson(trace))) as JsonObject;
    expectThat(
      canonicalJson(traceToJson(traceFromJson(stored)) as never) === canonicalJson(stored),
      'a trace is read as another one',
    );
    const state = emptyMemoryState();
    applyTrace(state, trace);
    expectUsable(repairHistory(state.snapshot.buildMessages()).messages, random);
    return true;
  },
};

/** A whole journal, and the restore of its agent. */
export const traceFiles: FuzzTarget = {
  name: 'trace-files',
  weight: 1,
  seeds: TRACE_FILES,
  words: WORDS,
  async take(input, random) {
    const rows = input
      .split('\n')
      .map(tryParseJson)
      .filter(isJsonObject)
      .map(({ _seq: _, _crc: __, _segment: ___, _lost: ____, ...row }) => row);
    if (rows.length === 0) return false;
    const { storage, later } = newStore();
    const journal = await storage.openJournal(['agents', AGENT, 'raw_traces']);
    await journal.append(rows);
    await journal.close();
    later();
    expectUsable(await restoreTwice(storage), random);
    return true;
  },
};
