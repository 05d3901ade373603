/**
 * Memory as an MCP server, over stdio or in a server of your own.
 *
 * @module rekindle/mcp
 */
export { type McpCaller, McpTools } from './mcp-server.js';
export { type McpStdioOptions, serveMcpStdio } from './mcp-stdio.js';
