import { importTranscript } from '../../../src/memory/importing/import-transcript.js';
import { EXPORTERS } from '../../../src/messages/exporters/exporters.js';
import { contextOf, openTranscript } from '../../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import { repairHistory } from '../../../src/messages/legality/history.js';
import { SMALL_SAMPLES } from '../../messages/importers/small-samples.js';
import type { FuzzTarget } from '../fuzz-target.js';
import { AGENT, expectUsable, newStore, restoreTwice } from '../restored.js';
import { CORPUS_FILES, HISTORIES } from '../seed-files.js';

const EXPORTED = HISTORIES.flatMap((messages) =>
  EXPORTERS.filter(({ format }) => format !== 'markdown').map((exporter) =>
    [...exporter.write(repairHistory(messages).messages, { agentId: AGENT, startedAtMs: 0 })].join(''),
  ),
);

/** One of each tool that has no exporter here, as small as it can be. */
const SMALL = [
  // OpenAI Responses and Codex
  '{"input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"ok"}]}',
  '{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}\n{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}\n{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"c1"}}\n{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}',
  // Gemini
  '{"sessionId":"s","messages":[{"id":"1","timestamp":"2026-01-01T00:00:00Z","type":"user","content":"hi"},{"id":"2","timestamp":"2026-01-01T00:00:01Z","type":"gemini","content":"yes","toolCalls":[{"id":"c1","name":"f","args":{},"result":[{"functionResponse":{"id":"c1","name":"f","response":{"output":"ok"}}}],"status":"success"}]}]}',
  // LangGraph
  '{"values":{"messages":[{"type":"human","content":"hi","id":"1"},{"type":"ai","content":"","tool_calls":[{"id":"c1","name":"f","args":{}}],"id":"2"},{"type":"tool","content":"ok","tool_call_id":"c1","name":"f","id":"3"}]}}',
  // SWE-agent
  '{"history":[{"role":"system","content":"s","agent":"main"},{"role":"user","content":"hi","agent":"main"},{"role":"assistant","content":"t","thought":"t","action":"ls","agent":"main"}],"trajectory":[],"info":{}}',
];

export const transcripts: FuzzTarget = {
  name: 'transcripts',
  weight: 3,
  seeds: [...EXPORTED, ...SMALL, ...Object.values(SMALL_SAMPLES), ...CORPUS_FILES],
  words: [
    '"type"',
    '"role"',
    '"content"',
    '"tool_use"',
    '"tool_result"',
    '"tool_calls"',
    '"tool_call_id"',
    '"text"',
    '"message"',
    '"messages"',
    '"parts"',
    '"thinking"',
    '"signature"',
    '"uuid"',
    '"parentUuid"',
    '"payload"',
    '"image"',
    '"source"',
    '"assistant"',
    '"user"',
    '"system"',
    '"id"',
  ],
  async take(input, random) {
    const transcript = await openTranscript(sourceOf(input));
    const messages = await contextOf(transcript);
    expectUsable(repairHistory(messages).messages, random);
    if (random.below(8) === 0) await imported(input);
    return true;
  },
};

async function imported(input: string): Promise<void> {
  const { storage, later } = newStore();
  const { messages } = await importTranscript(storage, AGENT, sourceOf(input));
  later();
  if (messages > 0) await restoreTwice(storage);
}
