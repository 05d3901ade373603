import { jsonSchema, tool } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { project } from '../../../src/messages/projections/project.js';
import { type GivenTools, toolDescriptionsOf } from '../../../src/messages/projections/tool-descriptions.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const READ = { name: 'weather', description: 'Tells it.', inputSchema: SCHEMA };
const about = { description: 'Tells it.' };

describe('the tools of a request are read from', () => {
  it.each<[string, GivenTools]>([
    ['our own and MCP', [READ]],
    ['the AI SDK with jsonSchema', { weather: tool({ ...about, inputSchema: jsonSchema(SCHEMA as never) }) }],
    [
      'the AI SDK with a schema that is made later',
      { weather: { ...about, inputSchema: () => jsonSchema(SCHEMA as never) } },
    ],
    ['OpenAI chat', [{ type: 'function', function: { name: 'weather', ...about, parameters: SCHEMA } }]],
    [
      'OpenAI Responses',
      [{ type: 'function', name: 'weather', ...about, parameters: SCHEMA, strict: false }],
    ],
    ['Anthropic', [{ name: 'weather', ...about, input_schema: SCHEMA }]],
    [
      'Gemini with JSON Schema',
      [{ functionDeclarations: [{ name: 'weather', ...about, parametersJsonSchema: SCHEMA }] }],
    ],
    [
      'Gemini with its own schema',
      [
        {
          functionDeclarations: [
            {
              name: 'weather',
              ...about,
              parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] },
            },
          ],
        },
      ],
    ],
  ])('%s', (_, tools) => {
    expect(toolDescriptionsOf(tools)).toEqual([READ]);
    const { request } = project('anthropic', [{ role: 'user', content: 'hi' }], { tools });
    expect(request.tools).toEqual([{ name: 'weather', description: 'Tells it.', input_schema: SCHEMA }]);
  });

  it('the AI SDK with zod', () => {
    const [read] = toolDescriptionsOf({
      weather: tool({ ...about, inputSchema: z.object({ city: z.string() }) }),
    });
    expect(read).toMatchObject({ name: 'weather', inputSchema: { ...SCHEMA } });
  });

  it('functions without parameters, as OpenAI and Gemini allow them', () => {
    const tools = [
      { type: 'function', function: { name: 'now' } },
      { functionDeclarations: [{ name: 'then' }] },
    ];
    const inputSchema = { type: 'object', properties: {} };
    expect(toolDescriptionsOf(tools)).toEqual([
      { name: 'now', description: '', inputSchema },
      { name: 'then', description: '', inputSchema },
    ]);
  });
});

describe('a tool is refused with TOOL_INVALID', () => {
  it.each<[string, unknown]>([
    ['without a schema', [{ name: 'a', description: 'x', execute: () => 1 }]],
    [
      'with a schema of a library that gives no JSON Schema',
      [{ name: 'a', inputSchema: { parse: () => 1, _def: {} } }],
    ],
    ['with fields of a schema instead of a schema', { a: { inputSchema: { city: z.string() } } }],
    ['with a schema that is not one of an object', [{ name: 'a', inputSchema: { type: 'string' } }]],
    [
      'with a schema that is a promise',
      [{ name: 'a', inputSchema: { jsonSchema: Promise.resolve({}), validate: () => 1 } }],
    ],
    ['that its provider runs', [{ type: 'web_search_20250305', name: 'web_search' }]],
    ['that has no name', [{ googleSearch: {} }]],
    ['that is not an object', ['weather']],
    ['in place of a list', { name: 'a', inputSchema: SCHEMA }],
    ['when null is given for the list', null],
  ])('%s', (_, tools) => {
    const ask = () =>
      project('openai-chat', [{ role: 'user', content: 'hi' }], { tools: tools as GivenTools });
    expect(ask).toThrow(expect.objectContaining({ code: 'TOOL_INVALID' }));
  });
});
