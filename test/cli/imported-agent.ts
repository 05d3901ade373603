/** An agent that was imported from a dump of OpenAI chat messages, without a process of its own. */
import { importTranscript } from '../../src/memory/importing/import-transcript.js';
import { sourceOf } from '../../src/messages/importers/source.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';

/** A system prompt, a question, a call and its result, an answer. */
export const CHAT: readonly Readonly<Record<string, unknown>>[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Look at a.ts.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"a.ts"}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'It is short.' },
  { role: 'assistant', content: 'It is a short file.' },
];

/** The same, without the result. */
export const UNANSWERED_CHAT = CHAT.filter(({ role }) => role !== 'tool');

export async function importedAgent(dir: string, agentId: string, chat: typeof CHAT): Promise<void> {
  const storage = new FileStorage(dir);
  try {
    await importTranscript(storage, agentId, sourceOf(JSON.stringify(chat)));
  } finally {
    await storage.close();
  }
}
