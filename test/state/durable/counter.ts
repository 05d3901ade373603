/** The smallest document. */
import { defineState } from '../../../src/state/durable/state-definition.js';

export const counter = defineState({
  name: 'counter',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['schema_version', 'count'],
    properties: { schema_version: { const: 1 }, count: { type: 'integer' } },
  },
  initial: { schema_version: 1, count: 0 },
});
