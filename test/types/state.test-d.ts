/** Types of durable state that must hold, checked by `npm run typecheck`: nothing here runs. */
import { expectTypeOf } from 'vitest';
import { agentState, defineState, StateManager, type StateOf, taskBoard } from '../../src/state/index.js';
import { MemoryStorage } from '../../src/storage/index.js';

const backend = new MemoryStorage();

// --- The type of a document comes from its schema.
export async function infers(): Promise<void> {
  const state = await StateManager.open({ ...agentState, backend });
  const { value } = await state.load();
  expectTypeOf(value.schema_version).toEqualTypeOf<1>();
  expectTypeOf(value.touched_files).toEqualTypeOf<string[]>();
  expectTypeOf(value.last_human_touch).toEqualTypeOf<string | null>();
  await state.update((draft) => {
    draft.touched_files.push('src/a.ts');
    // @ts-expect-error: not a list of numbers
    draft.touched_files.push(1);
    // @ts-expect-error: no such field
    draft.mood = 'good';
  });
}

export async function infersInline(): Promise<void> {
  const notes = defineState({
    name: 'notes',
    schema: {
      type: 'object',
      required: ['schema_version', 'risks'],
      properties: {
        schema_version: { const: 2 },
        risks: { type: 'array', items: { enum: ['high', 'low'] } },
        owner: { type: 'string' },
      },
    },
  });
  type Notes = StateOf<typeof notes.schema>;
  expectTypeOf<Notes['risks']>().toEqualTypeOf<('high' | 'low')[]>();
  expectTypeOf<Notes['owner']>().toEqualTypeOf<string | undefined>();
  const state = await StateManager.open({ ...notes, backend });
  expectTypeOf((await state.load()).value.risks).toEqualTypeOf<('high' | 'low')[]>();
}

export async function boards(): Promise<void> {
  const board = await StateManager.open({ ...taskBoard, backend });
  const [task] = (await board.load()).value.tasks;
  expectTypeOf(task!.status).toEqualTypeOf<'todo' | 'in_progress' | 'done' | 'blocked'>();
  expectTypeOf(task!.owner).toEqualTypeOf<'builder' | 'reviewer' | 'human'>();
}

// --- A type of one's own, where the schema comes from a file.
export function ownType(schema: object): void {
  const state = new StateManager<{ count: number }>({ name: 'counter', schema, backend });
  void state.update((draft) => ({ count: draft.count + 1 }));
}
