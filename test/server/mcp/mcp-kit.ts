/** A folder with sessions and an agent in it, and MCP clients that look at it, over whatever transport. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Client, type Transport } from '@modelcontextprotocol/client';
import { createAgent } from '../../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/core/json.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';

export const AGENT_ID = 'ada';
/** Two children of one root. The first is that of the agent. */
export const [SESSION_A, SESSION_B] = ['child_a', 'child_b'] as const;

/** A root of its own. */
export const OTHER_ROOT = 'other';

export interface Caller {
  readonly session?: string;
  readonly agent?: string;
}

/** How the clients of a test reach the server. */
export interface Door {
  transport(caller: Caller): Transport;
  close(): Promise<void>;
}

export class McpWorld {
  readonly dir: string;
  readonly storage: FileStorage;
  /** Of the test itself, beside the server. */
  readonly shared: SharedSessions;
  readonly #clients = new Map<string, Promise<Client>>();

  private constructor(dir: string) {
    this.dir = dir;
    this.storage = new FileStorage(dir, { durability: 'relaxed' });
    this.shared = new SharedSessions(this.storage);
  }

  static async make(): Promise<McpWorld> {
    const world = new McpWorld(await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-mcp-')));
    await rememberingAgent(world.dir);
    await limitCheckpoints(world.dir);
    await world.shared.tree.create({ id: 'root' });
    await world.shared.tree.create({ id: SESSION_A, parent: 'root', agent: AGENT_ID });
    await world.shared.tree.create({ id: SESSION_B, parent: 'root' });
    await world.shared.tree.create({ id: OTHER_ROOT });
    await logCalls(world.storage);
    return world;
  }

  /** One for each caller, and the same one each time. */
  client(door: Door, caller: Caller): Promise<Client> {
    const name = JSON.stringify(caller);
    const known = this.#clients.get(name);
    if (known) return known;
    const client = connected(door.transport(caller));
    this.#clients.set(name, client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of await Promise.allSettled(this.#clients.values()))
      if (client.status === 'fulfilled') await client.value.close();
    await this.shared.close();
    await this.storage.close();
    await fs.rm(this.dir, { recursive: true, force: true });
  }
}

async function logCalls(storage: FileStorage): Promise<void> {
  const log = new ToolCallLog(storage);
  const call = { tool: 'send', output: null, error: null, startedMs: Date.now(), durationMs: 1 };
  for (const session of [SESSION_B, OTHER_ROOT])
    await log.record({ ...call, callId: session, agent: 'x', session, input: `logged in ${session}` });
  await log.record({ ...call, callId: 'own', agent: AGENT_ID, input: `logged by ${AGENT_ID}` });
  await log.close();
}

/** `auto` asks for the revision of 2026 first, `legacy` begins with `initialize` as most clients do. */
export async function connected(transport: Transport, mode: 'legacy' | 'auto' = 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

export interface Answer {
  readonly isError: boolean;
  readonly structured: JsonObject;
  readonly text: string;
}

export async function call(client: Client, name: string, args: JsonObject = {}): Promise<Answer> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
  const [block] = content;
  const structured = structuredContent as JsonValue | undefined;
  if (!isJsonObject(structured)) throw new TypeError(`${name} gives no structured result`);
  if (content.length !== 1 || block?.type !== 'text') throw new TypeError(`${name} gives no text`);
  return { isError: isError === true, structured, text: block.text };
}

/** The structured result of a call that must work. */
export async function result(client: Client, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const { isError, structured, text } = await call(client, name, args);
  if (isError) throw new Error(text);
  return structured;
}

/** Of a call that must fail, and must fail as a result. */
export async function errorOf(client: Client, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const { isError, structured } = await call(client, name, args);
  const { error } = structured;
  if (!isError || !isJsonObject(error)) throw new Error(`${name} worked: ${JSON.stringify(structured)}`);
  return error;
}

/** Names of the properties in a schema, at any depth. */
export function propertyNames(schema: JsonValue | undefined): string[] {
  if (Array.isArray(schema)) return schema.flatMap(propertyNames);
  if (!isJsonObject(schema)) return [];
  const { properties } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return [...names, ...Object.values(schema).flatMap(propertyNames)];
}

/** A session of checkpoints is full long before a request is too large. */
async function limitCheckpoints(dir: string): Promise<void> {
  const folder = path.join(dir, 'checkpoints', 'config');
  await fs.mkdir(folder, { recursive: true });
  const config = { storage: { maxSessionSize: 500_000 } };
  await fs.writeFile(path.join(folder, 'checkpoints.json'), JSON.stringify(config));
}

/** It was told of an order, looked it up with a tool, and answered. */
async function rememberingAgent(dir: string): Promise<void> {
  const agent = createAgent({
    agentId: AGENT_ID,
    memoryDir: dir,
    systemPrompt: 'You are an order desk.',
    model: new ScriptedModel([
      { text: 'Noted: it ships on Friday.' },
      { text: 'I look.', calls: [{ name: 'weigh', arguments: { order: 4711 } }] },
      { text: 'It is heavy.' },
    ]),
    tools: [
      {
        name: 'weigh',
        description: 'Weighs a parcel.',
        inputSchema: { type: 'object' },
        execute: () => ({ kilos: 12, label: 'blue zebra' }),
      },
    ],
  });
  await agent.start();
  await agent.send('Order 4711 ships on Friday.');
  await agent.send('What does the parcel weigh?');
  await agent.stop();
}
