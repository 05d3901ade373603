/** Copies an agent from one backend to another, and verifies that it restores to the same context there. */
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import { messageToJson } from '../../messages/message-serializer.js';
import { type CopyOptions, type CopyResult, copyStorage } from '../../storage/copy-storage.js';
import type { StorageBackend } from '../../storage/ports.js';
import { agentExists, assertAgentExists, endBeginning, noteBeginning } from '../open-memory.js';
import { restoreDry } from './restore-dry.js';

/** What `copyAgent` copied. */
export interface AgentCopy extends CopyResult {
  readonly agentId: string;
  /** Messages of its working context, which is equal on both sides. */
  readonly messages: number;
}

/**
 * Copies journals, artifacts and cache, with record numbers and checksums. Holds the agent's lease on both sides
 * meanwhile. What the target already has, for example after an interrupted copy, is kept; different content under the
 * same name is never overwritten.
 * @throws AGENT_NOT_FOUND, LEASE_HELD while the agent runs, and as `copyStorage`
 */
export async function copyAgent(
  from: StorageBackend,
  to: StorageBackend,
  agentId: string,
  options: Pick<CopyOptions, 'onProgress'> = {},
): Promise<AgentCopy> {
  await assertAgentExists(from, agentId);
  const name = ['agents', agentId];
  const source = await from.leases.acquire(name);
  try {
    const before = await contextOf(from, agentId);
    const lease = await to.leases.acquire(name);
    try {
      const onBegin = async () => {
        if (!(await agentExists(to, agentId))) await noteBeginning(to, agentId, from.place, { copied: true });
      };
      const result = await copyStorage(from, to, { ...options, prefixes: [name], lease, onBegin });
      await endBeginning(to, agentId);
      return { agentId, ...result, messages: await sameContext(before.text, to, agentId) };
    } finally {
      await lease.release();
    }
  } finally {
    await source.release();
  }
}

async function sameContext(before: string, to: StorageBackend, agentId: string): Promise<number> {
  const after = await contextOf(to, agentId);
  if (before === after.text) return after.messages;
  const text = `The copy of ${agentId} restores to another context than the agent itself.`;
  throw new RekindleError('STORAGE_FAILED', text, { details: { agentId, target: to.place } });
}

async function contextOf(
  backend: StorageBackend,
  agentId: string,
): Promise<{ readonly text: string; readonly messages: number }> {
  return restoreDry(backend, agentId, (_memory, messages) => ({
    text: canonicalJson(messages.map(messageToJson)),
    messages: messages.length,
  }));
}
