import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { SchemaViolation } from '../../../core/schema-check.js';
import { defineState } from '../state-definition.js';

const task = {
  id: { type: 'string', pattern: '^T-\\d{3,}$' },
  goal: { type: 'string', pattern: '\\S' },
  owner: { enum: ['builder', 'reviewer', 'human'] },
  acceptance: {
    type: 'array',
    items: { type: 'string', pattern: '\\S' },
    description: 'Commands that show that the task is done.',
  },
  status: { enum: ['todo', 'in_progress', 'done', 'blocked'] },
} as const;

/** Without `object`, the inferred type of a task would change: it must come from its properties alone. */
const doneNeedsAcceptance: object = {
  if: { required: ['status'], properties: { status: { const: 'done' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { acceptance: { minItems: 1 } } },
};

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Task board',
  type: 'object',
  additionalProperties: false,
  required: ['schema_version', 'tasks'],
  properties: {
    schema_version: { const: 1 },
    tasks: {
      type: 'array',
      items: {
        oneOf: [
          {
            title: 'Build task',
            type: 'object',
            additionalProperties: false,
            required: ['id', 'goal', 'owner', 'acceptance', 'status'],
            properties: {
              ...task,
              kind: { const: 'build' },
              files: { type: 'array', items: { type: 'string' } },
            },
            ...doneNeedsAcceptance,
          },
          {
            title: 'Review task',
            type: 'object',
            additionalProperties: false,
            required: ['kind', 'id', 'goal', 'owner', 'acceptance', 'status', 'reviews'],
            properties: {
              ...task,
              kind: { const: 'review' },
              reviews: {
                type: 'string',
                pattern: '^T-\\d{3,}$',
                description: 'The task whose result is looked at.',
              },
              findings: { type: 'array', items: { type: 'string' } },
            },
            ...doneNeedsAcceptance,
          },
        ],
      },
    },
  },
} as const;

/** Ready-made definition of `task_board.json`: the tasks that agents and people share. */
export const taskBoard = defineState({
  name: 'task_board',
  schema,
  initial: { schema_version: 1, tasks: [] },
  check: repeatedIds,
});

function repeatedIds(board: JsonObject): SchemaViolation[] {
  const ids = (Array.isArray(board['tasks']) ? board['tasks'].filter(isJsonObject) : []).map(
    ({ id }) => id ?? null,
  );
  return ids.flatMap((id, index) =>
    ids.indexOf(id) === index
      ? []
      : [
          {
            path: `/tasks/${index}/id`,
            rule: 'uniqueId',
            message: 'must not stand twice on the board',
            value: id,
          },
        ],
  );
}
