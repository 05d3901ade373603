/**
 * Counts the tokens of tools in a request. Each tool is counted once: hosts give a new list of the same tools with
 * every request.
 */
import type { ToolDescription } from '../../core/tool-definition.js';
import type { TokenCounter } from '../compaction/token-counter.js';

export class ToolTokens {
  readonly #counter: TokenCounter;
  readonly #known = new WeakMap<ToolDescription, number>();

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  async of(tools: readonly ToolDescription[]): Promise<number> {
    let sum = 0;
    for (const tool of tools) {
      const tokens = this.#known.get(tool) ?? (await this.#count(tool));
      this.#known.set(tool, tokens);
      sum += tokens;
    }
    return sum;
  }

  #count(tool: ToolDescription): Promise<number> {
    return this.#counter.countMessages([{ role: 'system', content: JSON.stringify(tool) }]);
  }
}
