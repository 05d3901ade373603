/** Real sessions of the corpus, and how they are told to an agent's memory step by step. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MemoryManager } from '../src/memory/memory-manager.js';
import { openMemory } from '../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { contextOf, openTranscript } from '../src/messages/importers/read-transcript.js';
import { folderOf, sourceOf } from '../src/messages/importers/source.js';
import { repairHistory } from '../src/messages/legality/history.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../src/messages/message.js';
import { MemoryStorage } from '../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../src/storage/ports.js';

const CORPUS = fileURLToPath(new URL('../../shared/corpus/', import.meta.url));
const FOLDERS = [
  'claude-code',
  'codex-rollout',
  'gemini-cli',
  'pi',
  'opencode',
  'cline',
  'openai-chat',
  'swe-agent',
  'inspect-ai',
];
export const AGENT = 'a';

export interface Session {
  readonly name: string;
  readonly messages: readonly Message[];
}

/** Spread over the folders when a limit leaves some out. Empty where the corpus is not there. */
export async function sessions(only: string, limit: number): Promise<Session[]> {
  const found: Session[] = [];
  for (const folder of FOLDERS) {
    const base = path.join(CORPUS, folder);
    if (!existsSync(base)) continue;
    for (const name of readdirSync(base)) {
      if (!`${folder}/${name}`.includes(only)) continue;
      const source = sourceAt(path.join(base, name), name);
      const messages = await openTranscript(source)
        .then(contextOf)
        .catch(() => []);
      const legal = repairHistory(messages).messages;
      if (legal.length >= 10) found.push({ name: `${folder}/${name}`, messages: legal });
    }
  }
  return found.slice(0, limit);
}

function sourceAt(full: string, name: string) {
  if (statSync(full).isFile()) return sourceOf(readFileSync(full), name);
  const files = readdirSync(full, { recursive: true, encoding: 'utf8' })
    .filter((inner) => statSync(path.join(full, inner)).isFile())
    .map((inner) => sourceOf(readFileSync(path.join(full, inner)), inner));
  return folderOf(files, name);
}

export interface Replay {
  readonly memory: MemoryManager;
  readonly backend: StorageBackend;
  readonly close: () => Promise<void>;
  /** Records the message as an agent would. */
  readonly tell: (message: Message) => Promise<void>;
}

export async function openReplay(budget: number, system = ''): Promise<Replay> {
  const backend = new MemoryStorage();
  const { memory, close } = await openMemory(backend, AGENT, { compaction: { inputBudgetTokens: budget } });
  await new WorkingContextSnapshotBootstrapper().bootstrap(memory, system.slice(0, budget));
  let turnId = memory.startTurn();
  const tell = async (message: Message) => {
    if (message.role === 'user') turnId = memory.startTurn();
    await tellIn(memory, turnId, message);
  };
  return { memory, backend, close: async () => void (await close()), tell };
}

export function systemOf({ messages }: Session): string {
  return messages[0]?.role === 'system' ? (messages[0].content ?? '') : '';
}

async function tellIn(memory: MemoryManager, turnId: string, message: Message): Promise<void> {
  const parts = message.parts ? { parts: message.parts } : {};
  if (message.role === 'user') {
    await memory.ingestUserMessage(
      { parts: message.parts ?? [{ type: 'text', text: textOf(message) }] },
      turnId,
    );
  } else if (message.role === 'assistant') {
    const { content, reasoning, origin } = message;
    const said = { content, ...parts, ...(reasoning ? { reasoning } : {}), ...(origin ? { origin } : {}) };
    await memory.ingestAssistantResponse({ ...said, toolCalls: toolCallsOf(message), final: false }, turnId);
  } else {
    const result = toolResultOf(message);
    if (!result) return;
    const { toolCallId: callId, toolName, toolResult, toolError } = result;
    const given = { callId, toolName, result: toolResult, error: toolError, ...parts };
    await memory.ingestToolResults([given], turnId);
  }
}
