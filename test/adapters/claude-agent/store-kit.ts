/** A store of the Claude Agent SDK in tests, and a stand-in for the SDK's `foldSessionSummary`. */
import {
  type FoldSessionSummary,
  RekindleSessionStore,
  type RekindleSessionStoreOptions,
  type SessionKey,
  type SessionStoreEntry,
} from '../../../src/adapters/claude-agent/index.js';
import type { StorageBackend } from '../../../src/storage/ports.js';

export const MAIN: SessionKey = {
  projectKey: '-work-shop',
  sessionId: '0b6f1c2e-5a4d-4a27-9f6e-1d2c3b4a5f60',
};
export const AGENT_1: SessionKey = { ...MAIN, subpath: 'subagents/agent-1' };
export const AGENT_2: SessionKey = { ...MAIN, subpath: 'subagents/agent-2' };

export function entry(rest: Record<string, unknown>): SessionStoreEntry {
  return { type: 'user', ...rest };
}

export class OpenStores {
  readonly #opened: RekindleSessionStore[] = [];

  over(storage: StorageBackend, options: Partial<RekindleSessionStoreOptions> = {}): RekindleSessionStore {
    const store = new RekindleSessionStore({ storage, ...options });
    this.#opened.push(store);
    return store;
  }

  async closeAll(): Promise<void> {
    for (const store of this.#opened.splice(0)) await store.close();
  }
}

/** The last title wins, the first prompt stays, and all entries are counted. */
export const fold: FoldSessionSummary = (before, { sessionId }, entries, { mtime } = {}) => {
  const data = { count: 0, ...before?.data };
  for (const { customTitle, prompt } of entries) {
    data['count'] += 1;
    if (customTitle !== undefined) Object.assign(data, { title: customTitle });
    if (prompt !== undefined)
      Object.assign(data, { prompt: (data as { prompt?: unknown }).prompt ?? prompt });
  }
  return { sessionId, mtime: mtime ?? before?.mtime ?? 0, data };
};
