/**
 * The HTTP and WebSocket server, its page, and its tokens.
 *
 * @module rekindle/server
 */
export type { Authenticate } from './access/access-check.js';
export type { Principal, TokenScope } from './access/principal.js';
export { loadServerToken, type ServerToken } from './access/token.js';
export { type NewToken, TokenBook, type TokenInfo } from './access/token-book.js';
export { type RunningServer, startServer } from './rekindle-server.js';
export type { ServerOptions } from './server-options.js';
