/** A store with something of everything, for the tests of `copy`. */
import path from 'node:path';
import { agentState } from '../../src/state/durable/documents/agent-state.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { conversation, entriesBelow, inFolder } from './cli-fixture.js';

/** Two agents, a state and the token of a server, in `memory`; commands run in the folder around it. */
export function withStore(run: (cwd: string, memory: string) => Promise<void>): () => Promise<void> {
  return () =>
    inFolder(async (cwd) => {
      const memory = path.join(cwd, 'memory');
      await conversation(memory, 'ada', ['Hello.', 'Go on.']);
      await conversation(memory, 'Bob B', ['Hi.']);
      const storage = new FileStorage(memory);
      await (await StateManager.open({ ...agentState, backend: storage })).close();
      await storage.documents.write(['server', 'token.json'], { token: 'secret' });
      await storage.close();
      await run(cwd, memory);
    });
}

/** Without leases: who copies holds them for a while. */
export async function keptBelow(dir: string): Promise<Map<string, string>> {
  const isLease = (name: string) => name.split(path.sep).some((part) => /^(?:.*\.)?lease$/.test(part));
  return new Map([...(await entriesBelow(dir))].filter(([name]) => !isLease(name)));
}

export async function withoutServer(dir: string): Promise<Map<string, string>> {
  return new Map([...(await keptBelow(dir))].filter(([name]) => !name.startsWith('server')));
}
