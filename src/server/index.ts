export { loadServerToken, type ServerToken } from './access/token.js';
export { type RunningServer, startServer } from './rekindle-server.js';
export type { ServerOptions } from './server-options.js';
