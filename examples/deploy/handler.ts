/**
 * One message of a conversation, for a serverless platform or a server: it opens the agent, runs a turn, and lets the agent go.
 * So any process may get the next message.
 *
 * `REKINDLE_MEMORY_DIR` is the store: a folder, `postgres://...`, `s3://...`. Check the user before you call this.
 */
import { isRekindleError, OfflineModel, openAgent } from '../../src/index.js';
import { openStorage } from '../../src/storage/index.js';

export const storage = openStorage(process.env['REKINDLE_MEMORY_DIR'] ?? 'memory'); // once per process: it keeps connections
const model = new OfflineModel({ wordMs: 30 }); // yours: aiSdkModel(...) from 'rekindle/ai-sdk'

/** POST `{ conversation, text }` gives `{ text, messages }`. */
export async function handle(request: Request): Promise<Response> {
  const { conversation, text } = (await request.json()) as { conversation: string; text: string };
  const config = { model, systemPrompt: 'You are an order desk.', storage };
  try {
    const agent = await openAgent(conversation, { ...config, waitMs: 30_000 }); // waits while another process has it
    try {
      if (agent.memory.frontier.kind !== 'idle') await agent.resume(); // a process died in its turn
      const turn = await agent.send(text);
      return Response.json({ text: turn.text, messages: agent.messages.length });
    } finally {
      await agent.stop();
    }
  } catch (thrown) {
    if (!isRekindleError(thrown)) throw thrown;
    const isInput = ['INVALID_NAME', 'MESSAGE_INVALID'].includes(thrown.code);
    return Response.json({ error: thrown.code }, { status: isInput ? 400 : 503 });
  }
}
