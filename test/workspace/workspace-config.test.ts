import { describe, expect, it } from 'vitest';
import type { ToolContext, ToolDefinition } from '../../src/core/tool-definition.js';
import { WorkspaceConfig } from '../../src/workspace/config/workspace-config.js';
import { SHOPS, type Shop } from './workspace-kit.js';

const HOSTILE = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a\nb', '🙂'];
const context = {} as ToolContext;

const configOf = (shop: Shop) => new WorkspaceConfig(shop.backend, ['workspace']);
const put = (shop: Shop, file: string, text: string) =>
  shop.backend.documents.writeBytes(['workspace', 'config', file], Buffer.from(text));
const tools = (shop: Shop, text: string) => put(shop, 'agent_tools.json', text);
const budgets = (shop: Shop, text: string) => put(shop, 'context_budgets.json', text);

function tool(name: string): ToolDefinition {
  return { name, description: name, inputSchema: {}, execute: () => `${name} ran` };
}

describe.each(SHOPS)('the configuration of a workspace over $name', ({ make }) => {
  it('that is absent sets no limits', async () => {
    const config = configOf(await make());
    expect(await config.mayUse('ada', 'search')).toBe(true);
    expect(await config.budgetOf('ada')).toBeUndefined();
  });

  it('lets an agent use the tools that are named, and one that is not named all', async () => {
    const shop = await make();
    await tools(shop, '\ufeff{"ada":["search"],"eve":[],"root":["*"]}');
    const config = configOf(shop);
    expect(await config.mayUse('ada', 'search')).toBe(true);
    expect(await config.mayUse('ada', 'read')).toBe(false);
    expect(await config.mayUse('ada', '*')).toBe(false);
    expect(await config.mayUse('eve', 'search')).toBe(false);
    expect(await config.mayUse('root', 'read')).toBe(true);
    expect(await config.mayUse('other', 'read')).toBe(true);
  });

  it('gives each agent its budget', async () => {
    const shop = await make();
    await budgets(shop, '{"ada":{"workspace_total_tokens":10,"per_key_limits":{"a":0}},"eve":{}}');
    const config = configOf(shop);
    expect(await config.budgetOf('ada')).toEqual({ total: 10, perKey: { a: 0 } });
    expect(await config.budgetOf('eve')).toEqual({});
    expect(await config.budgetOf('other')).toBeUndefined();
  });

  it('is read again when it changes, and when it goes', async () => {
    const shop = await make();
    const config = configOf(shop);
    await tools(shop, '{"ada":["a"]}');
    expect(await config.mayUse('ada', 'b')).toBe(false);
    await tools(shop, '{"ada":["b"]}');
    expect(await config.mayUse('ada', 'b')).toBe(true);
    expect(await config.mayUse('ada', 'a')).toBe(false);
    await shop.backend.documents.delete(['workspace', 'config', 'agent_tools.json']);
    expect(await config.mayUse('ada', 'a')).toBe(true);
  });

  it.each([
    ['{\n  "ada": [1]\n}', { line: 2, column: 11 }],
    ['{\n  "ada": "search"\n}', { line: 2, column: 10 }],
    ['{"ada": [""]}', { line: 1, column: 10 }],
    ['{\n  "ada": ["a",]\n}', { line: 2 }],
    ['', { line: 1, column: 1 }],
    ['[]', { line: 1, column: 1 }],
    ['null', { line: 1, column: 1 }],
    ['{"ada":[],\n "ada":["*"]}', { line: 2, column: 2 }],
  ])('is refused with its place when its tools are %j', async (text, place) => {
    const shop = await make();
    await tools(shop, '{"ada":[]}');
    const config = configOf(shop);
    expect(await config.mayUse('ada', 'search')).toBe(false);
    await tools(shop, text);
    const damaged = { code: 'DOCUMENT_DAMAGED', details: place };
    await expect(config.mayUse('other', 'search')).rejects.toMatchObject(damaged);
    await expect(configOf(shop).toolsFor('ada', [tool('search')])).rejects.toMatchObject(damaged);
    await tools(shop, '{}');
    expect(await config.mayUse('ada', 'search')).toBe(true);
  });

  it.each([
    ['{\n"ada": {"workspace_total_tokens": -1}}', { line: 2, column: 35 }],
    ['{"ada": {"workspace_total_tokens": 1.5}}', { line: 1, column: 36 }],
    ['{"ada": {"workspace_total_tokens": "10"}}', { line: 1 }],
    ['{"ada": {\n"total": 10}}', { rule: 'additionalProperties' }],
    ['{"ada": {"per_key_limits": {"a":\n null}}}', { line: 2, column: 2 }],
  ])('is refused with its place when its budgets are %j', async (text, place) => {
    const shop = await make();
    await budgets(shop, text);
    await expect(configOf(shop).budgetOf('ada')).rejects.toMatchObject({
      code: 'DOCUMENT_DAMAGED',
      details: place,
    });
  });

  it.each(HOSTILE)('takes %j for an ordinary name of an agent', async (name) => {
    const shop = await make();
    const config = configOf(shop);
    await tools(shop, '{}');
    await budgets(shop, '{}');
    expect(await config.mayUse(name, 'search')).toBe(true);
    expect(await config.budgetOf(name)).toBeUndefined();
    await tools(shop, `{${JSON.stringify(name)}:["read"]}`);
    await budgets(shop, `{${JSON.stringify(name)}:{"per_key_limits":{${JSON.stringify(name)}:5}}}`);
    expect(await config.mayUse(name, 'search')).toBe(false);
    expect(await config.mayUse(name, 'read')).toBe(true);
    expect(Object.entries((await config.budgetOf(name))?.perKey ?? {})).toEqual([[name, 5]]);
    expect(await config.mayUse('ada', 'search')).toBe(true);
  });

  it.each(HOSTILE)('is refused when what stands at %j is of another shape', async (name) => {
    const shop = await make();
    await tools(shop, `{${JSON.stringify(name)}:"read"}`);
    await budgets(shop, `{${JSON.stringify(name)}:{"per_key_limits":{${JSON.stringify(name)}:"5"}}}`);
    const config = configOf(shop);
    await expect(config.mayUse(name, 'read')).rejects.toMatchObject({ code: 'DOCUMENT_DAMAGED' });
    await expect(config.budgetOf(name)).rejects.toMatchObject({ code: 'DOCUMENT_DAMAGED' });
  });
});

describe.each(SHOPS)('the tools of an agent over $name', ({ make }) => {
  it('are those that it may use, and work', async () => {
    const shop = await make();
    await tools(shop, '{"ada":["read"]}');
    const all = [tool('search'), tool('read')];
    const [read, ...rest] = await configOf(shop).toolsFor('ada', all);
    expect(rest).toEqual([]);
    expect(await read?.execute({}, context)).toBe('read ran');
    expect(await configOf(shop).toolsFor('other', all)).toHaveLength(2);
  });

  it('are refused at the call when the file has changed, and come back with it', async () => {
    const shop = await make();
    const [read] = await configOf(shop).toolsFor('ada', [tool('read')]);
    await tools(shop, '{"ada":[]}');
    await expect(read?.execute({}, context)).rejects.toMatchObject({
      code: 'TOOL_REFUSED',
      details: { agent: 'ada', tool: 'read' },
    });
    await tools(shop, '{');
    await expect(read?.execute({}, context)).rejects.toMatchObject({ code: 'DOCUMENT_DAMAGED' });
    await tools(shop, '{"ada":["*"]}');
    expect(await read?.execute({}, context)).toBe('read ran');
  });

  it('keep what they are when they are objects of a class', async () => {
    class Eraser implements ToolDefinition {
      readonly #asked: string[] = [];
      readonly inputSchema = {};
      get name() {
        return 'erase';
      }
      get description() {
        return `Erases ${this.#asked.length}.`;
      }
      get idempotent() {
        return true;
      }
      get timeoutMs() {
        return 50;
      }
      needsApproval(args: object): boolean {
        this.#asked.push(JSON.stringify(args));
        return true;
      }
      execute() {
        return this.#asked.length;
      }
    }
    const [erase] = await configOf(await make()).toolsFor('ada', [new Eraser()]);
    expect(erase).toMatchObject({ name: 'erase', description: 'Erases 0.', idempotent: true, timeoutMs: 50 });
    const { needsApproval } = erase!;
    expect(typeof needsApproval === 'function' && needsApproval({})).toBe(true);
    expect(await erase!.execute({}, context)).toBe(1);
  });
});
