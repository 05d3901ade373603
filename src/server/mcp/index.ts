export { type McpCaller, McpTools } from './mcp-server.js';
export { type McpStdioOptions, serveMcpStdio } from './mcp-stdio.js';
