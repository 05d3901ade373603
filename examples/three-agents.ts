/**
 * Three agents over one workspace, killed twice, and resumed: an analyst of traces, an engineer of contexts, an architect.
 *
 *     npx tsx examples/three-agents.ts
 *
 * The program starts itself as a worker. The first worker is killed with SIGKILL right after the analyst's entry is written, the
 * second one while the engineer reads its context; the third goes on where they were and finishes. Scripts stand for the models.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
// In your program: from 'rekindle', 'rekindle/workspace'
import { FileStorage, type Message, openAgent, ScriptedModel, type ToolDefinition } from '../src/index.js';
import {
  type ContextDependencies,
  SessionManager,
  selectContext,
  ToolCallLog,
  Workspace,
  workspaceTools,
} from '../src/workspace/index.js';

interface Role {
  readonly name: string;
  readonly task: string;
  readonly dependencies: ContextDependencies;
  readonly writes: string;
  readonly value: unknown;
}

const ROLES: readonly Role[] = [
  {
    name: 'trace_analyst',
    task: 'Find what goes wrong in the traces.',
    dependencies: { required: [] },
    writes: 'error_patterns',
    value: Array.from({ length: 40 }, (_, n) => ({ pattern: `time-out of tool ${n}`, count: 40 - n })),
  },
  {
    name: 'context_engineer',
    task: 'Say what the agents should see.',
    dependencies: {
      required: ['error_patterns'],
      optional: ['performance_metrics'],
      excluded: ['agent_design'],
    },
    writes: 'context_recommendations',
    value: { keep: ['the last error'], drop: ['old traces'] },
  },
  {
    name: 'agent_architect',
    task: 'Design the next version.',
    dependencies: {
      required: ['context_recommendations', 'performance_metrics'],
      optional: ['error_patterns'],
    },
    writes: 'agent_design',
    value: { agents: 2, because: 'the traces say so' },
  },
];
const PRODUCERS = { error_patterns: 'trace_analyst', performance_metrics: 'trace_analyst' };
const BUDGETS = {
  context_engineer: { workspace_total_tokens: 300 },
  agent_architect: { workspace_total_tokens: 400, per_key_limits: { error_patterns: 120 } },
};

const storage = new FileStorage('memory');
const workspace = new Workspace(storage);
const sessions = new SessionManager(storage);
const log = new ToolCallLog(storage);

/** What a model would do: read the context, write the entry, and look whether it is there when that is unknown. */
function scriptFor({ writes, value }: Role): ScriptedModel {
  const next = ({ messages }: { readonly messages: readonly Message[] }) => {
    const results = messages.flatMap(({ toolPayload }) =>
      toolPayload && 'toolName' in toolPayload ? [toolPayload] : [],
    );
    const last = results.at(-1);
    if (!results.some((result) => result.toolName === 'get_workspace_context' && result.toolError === null))
      return { text: 'I look at the workspace.', calls: [{ name: 'get_workspace_context', arguments: {} }] };
    if (last?.toolName === 'write_to_workspace' && last.toolError !== null)
      return {
        text: 'Was it written?',
        calls: [{ name: 'read_from_workspace', arguments: { key: writes } }],
      };
    if (last?.toolName === 'get_workspace_context' || last?.toolError)
      return {
        text: 'I write it.',
        calls: [{ name: 'write_to_workspace', arguments: { key: writes, value: value as never } }],
      };
    return { text: `${writes} is done.` };
  };
  return new ScriptedModel(Array.from({ length: 8 }, () => next));
}

/** Waits to be killed at one point of the work. */
function killAt(point: string | undefined, role: Role, tool: ToolDefinition): ToolDefinition {
  const wait = async () => {
    process.send?.('kill me');
    await new Promise(() => setInterval(() => {}, 60_000));
  };
  return {
    ...tool,
    execute: async (args, context) => {
      if (point === `${role.name} before ${tool.name}`) await wait();
      const result = await tool.execute(args, context);
      if (point === `${role.name} after ${tool.name}`) await wait();
      return result;
    },
  };
}

async function work(point: string | undefined): Promise<void> {
  await storage.documents.write([...workspace.folder, 'config', 'context_budgets.json'], BUDGETS);
  const known = await sessions.current();
  const session = known
    ? await sessions.resume(known.id)
    : await sessions.create({
        title: 'evaluation',
        workspace,
        agents: ROLES.map(({ name }) => ({ name, agentId: `${name}-1` })),
      });
  console.log(known ? `the session goes on (resumed: ${session.resumed})` : 'a new session');
  for (const role of ROLES) {
    if (await sessions.agentState(session.id, role.name)) {
      console.log(`${role.name}: done before`);
      continue;
    }
    const tools = workspaceTools({
      workspace,
      agent: role.name,
      dependencies: role.dependencies,
      producers: PRODUCERS,
      log,
      calls: 'all',
    });
    const { agentId } = session.agents.find(({ name }) => name === role.name)!;
    const agent = await openAgent(agentId, {
      storage,
      model: scriptFor(role),
      tools: tools.map((tool) => killAt(point, role, tool)),
      toolCallLog: { log, agent: role.name, session: session.id },
    });
    const interrupted = agent.restoreReport?.interruptedCalls ?? [];
    for (const call of interrupted)
      console.log(`${role.name}: ${call.toolName} was interrupted, ${call.verdict}`);
    const turn = agent.memory.frontier.kind === 'idle' ? await agent.send(role.task) : await agent.resume();
    console.log(`${role.name}: ${turn.text}`);
    await agent.stop();
    await sessions.saveAgentState(session.id, {
      name: role.name,
      agentId,
      workspaceKeysWritten: [role.writes],
    });
  }
  await sessions.end(session.id);
}

async function workUntilKilled(point: string | null): Promise<void> {
  const args = [
    ...process.execArgv,
    fileURLToPath(import.meta.url),
    'work',
    ...(point === null ? [] : [point]),
  ];
  const child = spawn(process.execPath, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  child.once('message', () => child.kill('SIGKILL'));
  await new Promise((resolve) => child.once('exit', resolve));
  if (point !== null) console.log(`[killed: ${point}]\n`);
}

async function report(): Promise<void> {
  for (const { name, dependencies } of ROLES) {
    const budget = await workspace.config.budgetOf(name);
    const context = await selectContext(workspace, {
      agent: name,
      dependencies,
      producers: PRODUCERS,
      ...(budget ? { budget } : {}),
    });
    console.log(`\n${name} is shown (${context.tokens} tokens):\n${context.text}`);
  }
  const { totalWrites, agentsInvolved } = await workspace.timing();
  console.log(`\n${totalWrites} writes by ${agentsInvolved.join(', ')}`);
  for (const call of (await log.recent(20)).reverse())
    console.log(`  ${call.agent}: ${call.tool}, ${call.status}`);
}

if (process.argv[2] === 'work') await work(process.argv[3]);
else {
  await workUntilKilled('trace_analyst after write_to_workspace');
  await workUntilKilled('context_engineer before get_workspace_context');
  await workUntilKilled(null);
  await report();
}
for (const part of [workspace, sessions, log]) await part.close();
await storage.close();
