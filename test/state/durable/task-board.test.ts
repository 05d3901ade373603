import { describe, expect, it } from 'vitest';
import { taskBoard } from '../../../src/state/durable/documents/task-board.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';

const build = {
  id: 'T-001',
  goal: 'Parse the file',
  owner: 'builder',
  acceptance: ['npm test'],
  status: 'todo',
};
const review = { ...build, id: 'T-002', kind: 'review', owner: 'reviewer', reviews: 'T-001' };

function violations(...tasks: unknown[]) {
  const board = new StateManager({ ...taskBoard, backend: new MemoryStorage() });
  return board.validate({ schema_version: 1, tasks });
}

describe('the task board', () => {
  it.each([
    ['a build task', build],
    ['a build task that says so, with files', { ...build, kind: 'build', files: ['src/a.ts'] }],
    ['a review task with findings', { ...review, findings: ['no test'] }],
    ['a task that is done and has a command', { ...build, status: 'done' }],
    ['a task without a command that is not done', { ...build, acceptance: [], status: 'in_progress' }],
    ['a task of a person that is blocked', { ...build, owner: 'human', status: 'blocked' }],
  ])('takes %s', (_, task) => {
    expect(violations(task)).toEqual([]);
  });

  it.each([
    ['done without an acceptance command', { ...build, acceptance: [], status: 'done' }, 'minItems'],
    ['a review that is done without one', { ...review, acceptance: [], status: 'done' }, 'minItems'],
    ['a blank acceptance command', { ...build, acceptance: [' '], status: 'done' }, 'pattern'],
    ['null for acceptance', { ...build, acceptance: null }, 'type'],
    ['an owner nobody knows', { ...build, owner: 'intern' }, 'enum'],
    ['a status nobody knows', { ...build, status: 'finished' }, 'enum'],
    ['an id with a newline after it', { ...build, id: 'T-001\n' }, 'pattern'],
    ['an unknown key', { ...build, priority: 1 }, 'additionalProperties'],
    ['no goal', { ...build, goal: '' }, 'pattern'],
    ['a review of nothing', { ...review, reviews: undefined }, 'json'],
    ['a review without what it reviews', { ...build, kind: 'review' }, 'required'],
    ['a build task that reviews', { ...build, reviews: 'T-001' }, 'additionalProperties'],
    ['a task that is both', { ...review, files: [] }, 'additionalProperties'],
  ])('refuses %s', (_, task, rule) => {
    expect(violations(task).map((violation) => violation.rule)).toContain(rule);
  });

  it('refuses an id that stands twice, at the second', () => {
    expect(violations(build, { ...build, goal: 'Another' })).toEqual([
      { path: '/tasks/1/id', rule: 'uniqueId', message: expect.any(String), value: 'T-001' },
    ]);
  });
});
