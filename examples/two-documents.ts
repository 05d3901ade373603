/**
 * An agent's own state and the task board: two documents, both changed in two turns of work, and printed after each.
 *
 *     npx tsx examples/two-documents.ts
 *
 * The files are `memory/state/agent_state.json` and `memory/state/task_board.json`. A second run does the second task.
 */
// In your program: from 'rekindle', 'rekindle/state'
import { FileStorage } from '../src/index.js';
import { agentState, StateManager, type StateOf, taskBoard } from '../src/state/index.js';

const storage = new FileStorage('memory');
const state = await StateManager.open({ ...agentState, backend: storage });
const board = await StateManager.open({ ...taskBoard, backend: storage });

type Task = StateOf<typeof taskBoard.schema>['tasks'][number];

function planned(id: string, goal: string, file: string): Task {
  return { id, goal, owner: 'builder', acceptance: ['npm test'], status: 'todo', files: [file] };
}

/** One turn of work: takes the next task, or finishes the one that is taken, and notes it in both documents. */
async function turn(): Promise<string> {
  const task = (await board.load()).value.tasks.find(({ status }) => status !== 'done');
  if (!task) return 'no task is left';
  const status = task.status === 'todo' ? 'in_progress' : 'done';
  const options = { by: 'builder', why: `${status}: ${task.goal}` };
  await board.update((draft) => {
    for (const other of draft.tasks) if (other.id === task.id) other.status = status;
  }, options);
  await state.update((draft) => {
    draft.active_task_id = status === 'done' ? '' : task.id;
    draft.next_action = status === 'done' ? 'Take the next task' : `Finish ${task.id}`;
    if (status === 'done' && 'files' in task) draft.touched_files.push(...(task.files ?? []));
  }, options);
  return options.why;
}

/** `load` checks each document against its schema. */
async function printBoth(): Promise<void> {
  const own = await state.load();
  console.log(`agent_state, version ${own.version}: ${JSON.stringify(own.value)}`);
  const { version, value } = await board.load();
  console.log(`task_board, version ${version}: ${JSON.stringify(value)}`);
}

if ((await board.load()).value.tasks.length === 0) {
  const tasks = [
    planned('T-001', 'Parse the file', 'src/parser.ts'),
    planned('T-002', 'Write the manual', 'docs/manual.md'),
  ];
  await board.update((draft) => void draft.tasks.push(...tasks), { by: 'planner', why: 'the plan' });
}
for (const number of [1, 2]) {
  console.log(`Turn ${number}: ${await turn()}`);
  await printBoth();
}
await state.close();
await board.close();
await storage.close();
