/**
 * A task board that a builder, a reviewer and a person share; the first process is killed in the middle of a task.
 *
 *     npx tsx examples/task-board.ts
 *
 * The board is `memory/state/task_board.json`. The program starts itself as a worker, which is killed with SIGKILL right after the
 * builder took its task. The next worker continues. While its builder works, a person adds a task to the file. The builder gets an error that says to
 * try again later. Then it does that task, too. Scripts stand for the models.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
// In your program: from 'rekindle', 'rekindle/state'
import { FileStorage, type Message, openAgent, ScriptedModel } from '../src/index.js';
import { StateManager, type StateOf, taskBoard } from '../src/state/index.js';

const FILE = 'memory/state/task_board.json';
const storage = new FileStorage('memory');
const board = await StateManager.open({ ...taskBoard, backend: storage, humanHoldMs: 1_000 }); // 5,000 by default

type Task = StateOf<typeof taskBoard.schema>['tasks'][number];
interface Seen {
  readonly version: number;
  readonly value: { readonly tasks: readonly Task[] };
}

const parse: Task = {
  id: 'T-001',
  goal: 'Parse the file',
  acceptance: ['npm test'],
  owner: 'builder',
  status: 'todo',
};
const review: Task = {
  kind: 'review',
  id: 'T-002',
  goal: 'Read the parser',
  reviews: 'T-001',
  acceptance: ['read'],
  owner: 'reviewer',
  status: 'todo',
};

/** What the tools answered in this turn, newest last: a result, or the text of a refusal. */
function answersIn(messages: readonly Message[]): unknown[] {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(asked + 1)
    .flatMap(({ toolPayload }) =>
      toolPayload && 'toolName' in toolPayload ? [toolPayload.toolError ?? toolPayload.toolResult] : [],
    );
}

/** What a model would do: read the board, take or finish its next task at the version that it read, and read again if it is refused. */
function scriptFor(owner: Task['owner']): ScriptedModel {
  const read = { calls: [{ name: 'read_state', arguments: { name: 'task_board' } }] };
  const next = ({ messages }: { readonly messages: readonly Message[] }) => {
    const last = answersIn(messages).at(-1);
    if (typeof last === 'string') {
      console.log(`${owner} reads: ${last}`);
      return { text: 'I wait a moment.', wordMs: 300, ...read };
    }
    if (!isBoard(last)) return read;
    const index = last.value.tasks.findIndex((task) => task.owner === owner && task.status !== 'done');
    const task = last.value.tasks[index];
    if (!task) return { text: `${owner}: all my tasks are done.` };
    const status = task.status === 'todo' ? 'in_progress' : 'done';
    const change = {
      name: 'task_board',
      pointer: `/tasks/${index}`,
      patch: { status },
      version: last.version,
    };
    return { calls: [{ name: 'update_state', arguments: { ...change, why: `${status}: ${task.goal}` } }] };
  };
  return new ScriptedModel(Array.from({ length: 40 }, () => next));
}

function isBoard(answer: unknown): answer is Seen {
  return typeof answer === 'object' && answer !== null && 'value' in answer;
}

/** What happens while the builder works. */
type Incident = 'kill' | 'edit';

async function runAgent(owner: Task['owner'], incident: Incident | null): Promise<void> {
  const agent = await openAgent(owner, {
    storage,
    name: owner,
    model: scriptFor(owner),
    systemPrompt: `You are the ${owner}. Work on your tasks of the board.`,
    state: { documents: { task_board: board } },
  });
  let isEdited = false;
  agent.events.on('tool_result', ({ toolName, error }) => {
    if (incident === 'kill' && toolName === 'update_state' && error === null)
      process.kill(process.pid, 'SIGKILL');
    if (incident === 'edit' && toolName === 'read_state' && !isEdited) {
      isEdited = true;
      personAddsTask();
    }
  });
  const { kind } = agent.memory.frontier;
  if (kind !== 'idle') console.log(`${owner} was interrupted and continues`);
  const turn = await (kind === 'idle' ? agent.send('Work.') : agent.resume());
  console.log(turn.text);
  await agent.stop();
}

/** As an editor does it. */
function personAddsTask(): void {
  console.log('A person adds a task to the file.');
  const document = JSON.parse(readFileSync(FILE, 'utf8')) as { tasks: Task[] };
  document.tasks.push({ ...parse, id: 'T-003', goal: 'Write the manual' });
  writeFileSync(FILE, `${JSON.stringify(document, null, 2)}\n`);
}

async function work(incident: Incident): Promise<void> {
  await runAgent('builder', incident);
  await runAgent('reviewer', null);
}

async function workInAnotherProcess(incident: Incident): Promise<void> {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), 'work', incident];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const signal = await new Promise((resolve) => child.once('exit', (_, killed) => resolve(killed)));
  if (signal !== null) console.log(`[killed with ${signal}]`);
}

if (process.argv[2] === 'work') await work(process.argv[3] === 'kill' ? 'kill' : 'edit');
else {
  await board.update((draft) => void draft.tasks.push(parse, review), { by: 'planner', why: 'the plan' });
  await workInAnotherProcess('kill');
  await workInAnotherProcess('edit');
  console.log('\nThe board, by its history:');
  const events: string[] = [];
  for await (const { version, by, why } of board.history())
    events.unshift(`  ${version} ${by}: ${why ?? ''}`);
  console.log(events.join('\n'));
  for (const { id, owner, status } of (await board.load()).value.tasks)
    console.log(`${id} ${owner} ${status}`);
}
await board.close();
await storage.close();
