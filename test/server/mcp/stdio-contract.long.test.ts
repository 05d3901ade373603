/** The whole contract over standard input and output: each client is a process of its own. Over HTTP it runs with every `npm test`. */
import { describe } from 'vitest';
import { CLI_TIMEOUT_MS } from '../../cli/cli-fixture.js';
import { mcpContract } from './mcp-contract.js';
import { transportTo } from './stdio-transport.js';

describe('MCP over standard input and output', { timeout: CLI_TIMEOUT_MS }, () => {
  mcpContract(async ({ dir }) => ({
    transport: (caller) => transportTo(dir, caller),
    close: async () => {},
  }));
});
