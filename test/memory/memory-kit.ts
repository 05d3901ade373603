/** One agent's memory in a place that outlives its processes, and short forms to talk to it and to look at it. */
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import { ManualClock } from '../../src/core/clock.js';
import type { JsonObject } from '../../src/core/json.js';
import type { TokenCounter } from '../../src/memory/compaction/token-counter.js';
import { tokenBound } from '../../src/memory/compaction/token-counter.js';
import type { MemoryManager } from '../../src/memory/memory-manager.js';
import { type MemoryOptions, openMemory } from '../../src/memory/open-memory.js';
import type { RestoreReport } from '../../src/memory/restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  type WorkingContextSnapshotBootstrapOptionsInit,
  WorkingContextSnapshotBootstrapper,
} from '../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import type { Message } from '../../src/messages/message.js';
import { messageToJson } from '../../src/messages/message-serializer.js';
import { FileStorage, type FileStorageOptions } from '../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { Lease, StorageBackend } from '../../src/storage/ports.js';
import { type ProcessIdentity, systemIdentity } from '../../src/storage/process-identity.js';

export const AGENT = 'agent-a';

/** A process to which every other one is gone: who still holds a lease was killed. */
export const survivor: ProcessIdentity = { ...systemIdentity, state: () => 'gone' };

export async function tempFolder(): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-memory-'));
  onTestFinished(() => fs.rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Place {
  /** A store as a new process opens it. Those before count as killed, unless they let go. */
  storage(): StorageBackend;
}

export interface FilePlace extends Place {
  readonly root: string;
  storage(options?: FileStorageOptions): FileStorage;
  /** A file of the agent. */
  file(name: string): string;
  text(name: string): Promise<string>;
  /** The lines of a journal's live file. */
  lines(name: string): Promise<string[]>;
  put(name: string, content: string | Uint8Array): Promise<void>;
  /** Names in the agent's folder, sorted, without leases. */
  names(): Promise<string[]>;
}

export async function filePlace(agentId = AGENT): Promise<FilePlace> {
  const root = await tempFolder();
  return filePlaceAt(root, agentId);
}

export function filePlaceAt(root: string, agentId = AGENT): FilePlace {
  const folder = path.join(root, 'agents', agentId);
  const file = (name: string) => path.join(folder, name);
  return {
    root,
    storage(options = {}) {
      const storage = new FileStorage(root, { durability: 'relaxed', identity: survivor, ...options });
      onTestFinished(() => storage.close().catch(() => {}));
      return storage;
    },
    file,
    text: (name) => fs.readFile(file(name), 'utf8'),
    lines: async (name) => (await fs.readFile(file(name), 'utf8')).split('\n').filter((line) => line !== ''),
    async put(name, content) {
      await fs.mkdir(folder, { recursive: true });
      await fs.writeFile(file(name), content);
    },
    names: async () => (await fs.readdir(folder)).filter((name) => name !== 'lease').sort(),
  };
}

export function memoryPlace(): Place {
  const clock = new ManualClock();
  const storage = new MemoryStorage({ clock });
  return {
    storage() {
      clock.advance(60_000); // whoever held a lease is past its time
      return storage;
    },
  };
}

export const PLACES: readonly { readonly name: string; readonly make: () => Promise<Place> }[] = [
  { name: 'files', make: () => filePlace() },
  { name: 'memory', make: async () => memoryPlace() },
];

export interface OpenOptions {
  readonly agentId?: string;
  /** Null (default): what the agent had. */
  readonly system?: string | null;
  readonly readOnly?: boolean;
  readonly memory?: MemoryOptions;
  readonly restore?: WorkingContextSnapshotBootstrapOptionsInit;
  readonly storage?: StorageBackend;
}

export interface OpenAgent {
  readonly memory: MemoryManager;
  readonly report: RestoreReport;
  readonly storage: StorageBackend;
  readonly lease: Lease | null;
  close(): Promise<void>;
}

/** Opens and restores the agent, or begins it. Not to close it is to be killed. */
export async function openAgent(place: Place, options: OpenOptions = {}): Promise<OpenAgent> {
  const storage = options.storage ?? place.storage();
  const { memory, lease, close } = await openMemory(storage, options.agentId ?? AGENT, {
    compaction: null,
    ...options.memory,
    readOnly: options.readOnly ?? false,
  });
  try {
    const report = await new WorkingContextSnapshotBootstrapper().bootstrap(
      memory,
      options.system ?? null,
      new WorkingContextSnapshotBootstrapOptions(options.restore),
    );
    return { memory, report, storage, lease, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** A whole turn without tools. */
export async function talk(memory: MemoryManager, question: string, answer: string): Promise<string> {
  const turnId = memory.startTurn();
  await memory.ingestUserMessage(question, turnId);
  await memory.ingestAssistantResponse({ content: answer }, turnId);
  return turnId;
}

/** A turn up to its calls. */
export async function ask(memory: MemoryManager, question: string, ...ids: string[]): Promise<string> {
  const turnId = memory.startTurn();
  await memory.ingestUserMessage(question, turnId);
  if (ids.length > 0)
    await memory.ingestAssistantResponse({ content: null, toolCalls: ids.map(call) }, turnId);
  return turnId;
}

export function call(id: string): { id: string; name: string; arguments: JsonObject } {
  return { id, name: `tool_${id}`, arguments: { of: id } };
}

export function answer(callId: string, result: unknown = `result of ${callId}`) {
  return { callId, toolName: `tool_${callId}`, result };
}

export function contextText(memory: MemoryManager): string {
  return canonicalJson(memory.getWorkingContextMessages().map(messageToJson));
}

/** One line a message, to be read in a test. */
export function sketch(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    const payload = message.toolPayload;
    if (payload && 'toolCalls' in payload) {
      const said = message.content ? `: ${message.content}` : '';
      return `assistant calls ${payload.toolCalls.map(({ id }) => id).join(' ')}${said}`;
    }
    if (payload && 'toolCallId' in payload) {
      const value =
        payload.toolError === null ? JSON.stringify(payload.toolResult) : `error ${payload.toolError}`;
      return `${message.synthetic ? 'synthetic ' : ''}tool ${payload.toolCallId} = ${value}`;
    }
    const text =
      message.content ??
      message.parts?.map((part) => (part.type === 'text' ? part.text : '[media]')).join('');
    return `${message.kind ?? message.role}: ${text}`;
  });
}

export function sketchOf(memory: MemoryManager): string[] {
  return sketch(memory.getWorkingContextMessages());
}

/** Cheap and exact enough: what a message is at most. */
export const byteCounter: TokenCounter = {
  countMessages: async (messages) => messages.reduce((sum, message) => sum + tokenBound(message), 0),
};

/** Every file below a folder with its bytes' hash and its modification time. */
export async function folderState(
  root: string,
  options: { readonly leases?: boolean } = {},
): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  for (const entry of await fs.readdir(root, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(root, file);
    if (!options.leases && name.split(path.sep).includes('lease')) continue;
    const { mtimeMs } = await fs.stat(file);
    // A folder's time changes when a lease comes into it; its names are listed anyway.
    if (entry.isDirectory()) state[name] = options.leases ? `folder ${mtimeMs}` : 'folder';
    else
      state[name] = `${createHash('sha256')
        .update(await fs.readFile(file))
        .digest('hex')} ${mtimeMs}`;
  }
  return state;
}
