/** A temporary folder with agents in it, their events, and what stands on disk. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Agent } from '../../src/agent/agent.js';
import type { AgentConfig } from '../../src/agent/context/agent-config.js';
import { createAgent, restoreAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel, type ScriptStep } from '../../src/agent/model/scripted-model.js';
import { isRekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import type { ToolDefinition } from '../../src/core/tool-definition.js';
import type { WorkingContextSnapshotBootstrapOptionsInit } from '../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { type ProcessIdentity, systemIdentity } from '../../src/storage/process-identity.js';

export const AGENT_ID = 'ada';

export interface AgentFixture {
  readonly dir: string;
  /** A new agent `ada`, not started. Its model follows the script. Stopped after the test. */
  created(script: readonly ScriptStep[], config?: Partial<AgentConfig>): Agent;
  /** As `created`, started. */
  started(script: readonly ScriptStep[], config?: Partial<AgentConfig>): Promise<Agent>;
  /** Restores `ada`, not started. */
  restored(
    script: readonly ScriptStep[],
    config?: Partial<AgentConfig>,
    options?: WorkingContextSnapshotBootstrapOptionsInit,
  ): Agent;
  /** The rows of one of its journals as they stand on disk now, whatever segment they are in. */
  rows(journal?: 'raw_traces' | 'pending_calls' | 'answer_parts' | 'inputs'): Promise<JsonObject[]>;
  /** Every file below the folder with its bytes, leases left out. */
  files(): Promise<Map<string, string>>;
}

export async function agentFixture(): Promise<AgentFixture> {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-agent-'));
  const agents: Agent[] = [];
  onTestFinished(async () => {
    for (const agent of agents) await agent.stop({ graceMs: 0 }).catch(() => {});
    await fs.rm(dir, { recursive: true, force: true });
  });
  const kept = (agent: Agent): Agent => {
    agents.push(agent);
    return agent;
  };
  const configFor = (script: readonly ScriptStep[], config: Partial<AgentConfig>): AgentConfig => ({
    agentId: AGENT_ID,
    memoryDir: dir,
    model: new ScriptedModel(script),
    retry: { firstPauseMs: 1 },
    ...config,
  });
  const created: AgentFixture['created'] = (script, config = {}) =>
    kept(createAgent(configFor(script, config)));
  return {
    dir,
    created,
    started: async (script, config = {}) => {
      const agent = created(script, config);
      await agent.start();
      return agent;
    },
    restored: (script, config = {}, options = {}) =>
      kept(restoreAgent(AGENT_ID, configFor(script, config), null, options)),
    rows: (journal = 'raw_traces') => rowsOf(path.join(dir, 'agents', AGENT_ID), journal),
    files: () => filesBelow(dir),
  };
}

/** The rows of a journal as they stand on disk: also while an agent runs. Header lines and torn ends are left out. */
export async function rowsOf(folder: string, journal: string): Promise<JsonObject[]> {
  const names = (await fs.readdir(folder)).filter((name) => name.startsWith(`${journal}.`));
  const sealedFirst = names.filter((name) => /\.\d+(-\d+)?\.jsonl$/.test(name)).sort();
  const live = names.filter((name) => name === `${journal}.jsonl`);
  const rows: JsonObject[] = [];
  for (const name of [...sealedFirst, ...live]) {
    const text = await fs.readFile(path.join(folder, name), 'utf8');
    const lines = text.split('\n').slice(0, -1);
    rows.push(...lines.map((line) => JSON.parse(line) as JsonObject).filter(isSaid));
  }
  return rows;
}

/** No header: neither of a segment, nor of the traces. */
function isSaid(row: JsonObject): boolean {
  return !('_segment' in row) && row['trace_type'] !== 'journal';
}

/**
 * What the next process sees after a kill: every other owner of a lease counts as gone. A killed agent stands for one that is
 * dropped without `stop()`: nothing of it is flushed.
 */
export function storageAfterKill(dir: string): FileStorage {
  const identity: ProcessIdentity = { owner: systemIdentity.owner, state: () => 'gone' };
  return new FileStorage(dir, { identity });
}

/** Every file below a folder with its bytes, leases left out. */
export async function filesBelow(dir: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await fs.readdir(dir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(dir, file);
    if (!entry.isFile() || /(^|\/)lease\//.test(name)) continue;
    files.set(name, (await fs.readFile(file)).toString('latin1'));
  }
  return files;
}

export function tool(definition: Partial<ToolDefinition> & Pick<ToolDefinition, 'execute'>): ToolDefinition {
  return { name: 'work', description: 'Does some work.', inputSchema: { type: 'object' }, ...definition };
}

/** An answer that calls `work` once, or as often as arguments are given. */
export function callsWork(...args: readonly JsonObject[]): ScriptStep {
  const all = args.length === 0 ? [{}] : args;
  return { calls: all.map((one) => ({ name: 'work', arguments: one })) };
}

/** The list in short: `user: hi`, `call: work{"n":1}`, `result: 1`, `error: ...`, `assistant: done`. */
export function outline(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => {
    const result = toolResultOf(message);
    if (result?.toolError != null) return [`error: ${result.toolError}`];
    if (result) return [`result: ${JSON.stringify(result.toolResult)}`];
    const text = textOf(message);
    const calls = toolCallsOf(message).map((call) => `call: ${call.name}${JSON.stringify(call.arguments)}`);
    return text === '' && calls.length > 0 ? calls : [`${message.role}: ${text}`, ...calls];
  });
}

/** The code that a promise rejects with; what else was thrown as text; or that nothing was. */
export async function rejection(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  return isRekindleError(thrown) ? thrown.code : String(thrown);
}

/** Resolves when `condition` holds. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Still not so after ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A promise and what settles it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
