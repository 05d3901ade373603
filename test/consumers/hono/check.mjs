import { serve } from '@hono/node-server';
import { checkRoutes } from './check-routes.mjs';
import { app } from './server.mjs';

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, async ({ port }) => {
  await checkRoutes(`http://127.0.0.1:${port}/chat`);
  server.closeAllConnections();
  server.close();
});
