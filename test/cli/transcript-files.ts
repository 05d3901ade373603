/** Transcripts of other tools, as files that a command is given. */
import fs from 'node:fs/promises';
import path from 'node:path';

const SESSION = { isSidechain: false, sessionId: 's' };
const MODEL = 'claude-test-1';

function record(seconds: number, uuid: string, parentUuid: string | null, message: object): object {
  const timestamp = `2026-01-02T03:04:0${seconds}.000Z`;
  return { type: (message as { role: string }).role, uuid, parentUuid, ...SESSION, timestamp, message };
}

function answer(id: string, ...content: object[]): object {
  return { id, role: 'assistant', model: MODEL, content };
}

/** A question, signed thinking and a call, its result, an answer; beside them a record of a sub-agent. */
export const SESSION_RECORDS: readonly object[] = [
  record(1, 'u1', null, { role: 'user', content: 'List the files.' }),
  record(2, 'a1', 'u1', answer('msg_1', { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' })),
  record(
    2,
    'a2',
    'a1',
    answer('msg_1', { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }),
  ),
  record(3, 'u2', 'a2', {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.ts' }],
  }),
  { ...record(3, 'side', null, { role: 'user', content: 'Sub-task.' }), isSidechain: true },
  record(4, 'a3', 'u2', answer('msg_2', { type: 'text', text: 'One file.' })),
];

/** The same session, stopped in a call. */
export const STOPPED_RECORDS: readonly object[] = [
  ...SESSION_RECORDS,
  record(
    5,
    'a4',
    'a3',
    answer('msg_3', { type: 'tool_use', id: 'toolu_2', name: 'Bash', input: { command: 'rm a.ts' } }),
  ),
];

export function chatCall(id: string): object {
  const call = { id, type: 'function', function: { name: 'look', arguments: '{"n": 1}' } };
  return { role: 'assistant', content: null, tool_calls: [call] };
}

function chatResult(id: string): object {
  return { role: 'tool', tool_call_id: id, content: 'seen' };
}

/** A dump of OpenAI chat messages with a call of this id. */
export function chatDump(callId = 'call_1'): object {
  return {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Look.' },
      chatCall(callId),
      chatResult(callId),
      { role: 'assistant', content: 'Done.' },
    ],
  };
}

export async function writeLines(file: string, records: readonly object[]): Promise<string> {
  await fs.writeFile(file, records.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return file;
}

export async function writeJson(file: string, document: unknown): Promise<string> {
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, JSON.stringify(document));
  return file;
}
