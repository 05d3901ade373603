import { defineState } from '../state-definition.js';

const texts = { type: 'array', items: { type: 'string' } } as const;

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Agent state',
  type: 'object',
  additionalProperties: false,
  required: [
    'schema_version',
    'active_task_id',
    'touched_files',
    'assumptions',
    'blockers',
    'next_action',
    'last_human_touch',
  ],
  properties: {
    schema_version: { const: 1 },
    active_task_id: { type: 'string', pattern: '^(T-\\d{3,})?$', description: 'Empty while there is none.' },
    touched_files: { ...texts, description: 'Files that this session changed.' },
    assumptions: { ...texts, description: 'What was taken for granted and not checked.' },
    blockers: { ...texts, description: 'What keeps the work from going on.' },
    next_action: { type: 'string', description: 'What to do first in the next session.' },
    last_human_touch: {
      type: ['string', 'null'],
      pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$',
      description: 'When a person last edited this file. Set by Rekindle.',
    },
  },
} as const;

/**
 * Ready-made definition of `agent_state.json`: what one agent knows about its own work.
 *
 *     const state = await StateManager.open({ ...agentState, backend });
 */
export const agentState = defineState({
  name: 'agent_state',
  schema,
  initial: {
    schema_version: 1,
    active_task_id: '',
    touched_files: [],
    assumptions: [],
    blockers: [],
    next_action: '',
    last_human_touch: null,
  },
});
