/** Schemas as they come from generators and other servers. What is refused is in `agent-factory.test.ts`. */
import { describe, expect, it } from 'vitest';
import { ToolRegistry } from '../../../src/agent/tools/tool-registry.js';
import type { JsonObject } from '../../../src/core/json.js';
import { tool } from '../agent-fixture.js';

function registryWith(inputSchema: JsonObject): ToolRegistry {
  return new ToolRegistry([tool({ inputSchema, execute: () => 1 })]);
}

const numbers: JsonObject = { type: 'object', properties: { n: { type: 'number' } } };

describe('a tool registry', () => {
  it('takes schemas that name an older draft', () => {
    const registry = registryWith({ $schema: 'http://json-schema.org/draft-07/schema#', ...numbers });
    expect(registry.problemWith('work', { n: 1 })).toBeNull();
    expect(registry.problemWith('work', { n: 'one' })).toMatch(/must be number/);
  });

  it('takes schemas of one id for several agents of a process', () => {
    for (let agents = 0; agents < 2; agents += 1) {
      expect(registryWith({ $id: 'work', ...numbers }).problemWith('work', { n: 1 })).toBeNull();
    }
  });

  it('shows the model the schema as it was given', () => {
    const inputSchema = { $schema: 'http://json-schema.org/draft-07/schema#', ...numbers };
    expect(registryWith(inputSchema).descriptions()[0]?.inputSchema).toBe(inputSchema);
  });

  it('takes a schema that says nothing about its type', () => {
    expect(registryWith({}).problemWith('work', { any: 'thing' })).toBeNull();
  });

  it('names every problem with the arguments', () => {
    const schema: JsonObject = { ...numbers, required: ['m'], additionalProperties: false };
    const problem = registryWith(schema).problemWith('work', { n: 'one', x: 1 });
    expect(problem).toMatch(/must be number/);
    expect(problem).toMatch(/must have required property 'm'/);
    expect(problem).toMatch(/must not have the key "x"/);
  });
});
