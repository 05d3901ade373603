/** The command line as a person runs it, in a folder of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createAgent } from '../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../src/agent/model/scripted-model.js';
import type { JsonObject } from '../../src/core/json.js';
import type { ToolDefinition } from '../../src/core/tool-definition.js';
import { encodeNameSegment } from '../../src/storage/name-encoding.js';
import { CLI_BUILD } from '../support/build-cli.js';
import { runHosted } from './cli-host.js';

const MAIN = path.join(CLI_BUILD, 'cli', 'main.js');
/** Each command is a process, on a machine that may be busy. */
export const CLI_TIMEOUT_MS = 90_000;

export interface CliOptions {
  /** What is piped into it. Default: nothing, and closed. */
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function startCli(args: readonly string[], options: CliOptions = {}): ChildProcessWithoutNullStreams {
  const { REKINDLE_MEMORY_DIR: _, AUTOBYTEUS_MEMORY_DIR: __, ...env } = process.env;
  return spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd ?? os.tmpdir(),
    env: { ...env, ...options.env },
  });
}

/** Runs a command that ends by itself. Where nothing is piped into it, this is in a process that runs others, too. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return options.input === undefined ? runHosted({ args, ...options }) : runCliProcess(args, options);
}

/** Runs a command as a process of its own. */
export async function runCliProcess(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = startCli(args, options);
  child.stdin.end(options.input ?? '');
  return resultOf(child);
}

/** What a process says until it ends. */
export async function resultOf(child: ChildProcessWithoutNullStreams): Promise<CliResult> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return {
    code,
    stdout: Buffer.concat(stdout).toString('utf8'),
    stderr: Buffer.concat(stderr).toString('utf8'),
  };
}

export async function tempFolder(): Promise<string> {
  return fs.mkdtemp(path.join(await fs.realpath(os.tmpdir()), 'rekindle-cli-'));
}

/** Runs a test in a folder of its own; so tests may run at the same time. */
export async function inFolder(run: (dir: string) => Promise<void>): Promise<void> {
  const dir = await tempFolder();
  try {
    await run(dir);
  } finally {
    await removeFolder(dir);
  }
}

export function removeFolder(dir: string): Promise<void> {
  return fs.rm(dir, { recursive: true, force: true });
}

/** An agent that had this conversation and was stopped. */
export async function conversation(dir: string, agentId: string, requests: readonly string[]): Promise<void> {
  const answers = requests.map((request) => ({ text: `Answered: ${request}` }));
  const agent = createAgent({
    agentId,
    memoryDir: dir,
    systemPrompt: 'You are brief.',
    model: new ScriptedModel(answers),
  });
  await agent.start();
  for (const request of requests) await agent.send(request);
  await agent.stop();
}

/** The folder of an agent that was killed while its tool `work` ran, copied to `dir`. */
export async function killedInTool(dir: string, agentId: string, request: string): Promise<void> {
  const original = await tempFolder();
  const work: ToolDefinition = {
    name: 'work',
    description: 'Works.',
    inputSchema: { type: 'object' },
    execute: () => fs.cp(original, dir, { recursive: true, preserveTimestamps: true }),
  };
  const agent = createAgent({
    agentId,
    memoryDir: original,
    systemPrompt: 'You are brief.',
    model: new ScriptedModel([
      { text: 'First answer.' },
      { text: 'I start.', calls: [{ id: 'call_work', name: 'work', arguments: {} }] },
      { text: 'Done.' },
    ]),
    tools: [work],
  });
  await agent.start();
  await agent.send('First request.');
  await agent.send(request);
  await agent.stop();
  await removeFolder(original);
  await abandonLease(path.join(dir, 'agents', encodeNameSegment(agentId)));
}

/** As if its owner, on another machine, had been gone for a minute. */
async function abandonLease(agentFolder: string): Promise<void> {
  const file = path.join(agentFolder, 'lease', '000001.json');
  const owner = { pid: 1, processStart: null, host: 'elsewhere', nonce: 'n' };
  await fs.writeFile(file, `${JSON.stringify({ owner, ttl_ms: 300, unsafe_fence: 0 })}\n`);
  const minuteAgo = new Date(Date.now() - 60_000);
  await fs.utimes(file, minuteAgo, minuteAgo);
}

/** Every entry below a folder, with the bytes of files. */
export async function entriesBelow(dir: string): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  for (const entry of await fs.readdir(dir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const content = entry.isFile() ? (await fs.readFile(file)).toString('latin1') : '(folder)';
    entries.set(path.relative(dir, file), content);
  }
  return new Map([...entries].sort(([a], [b]) => a.localeCompare(b)));
}

/** The rows of an agent's live trace file. */
export async function traceRows(dir: string, agentId: string): Promise<JsonObject[]> {
  const text = await fs.readFile(path.join(dir, 'agents', agentId, 'raw_traces.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
}

/** Changes one word of a file, in place and without changing its length. */
export async function damage(file: string, word: string): Promise<void> {
  const text = await fs.readFile(file, 'utf8');
  const changed = text.replace(word, 'x'.repeat(word.length));
  if (changed === text) throw new RangeError(`${file} does not hold ${word}`);
  await fs.writeFile(file, changed);
}
