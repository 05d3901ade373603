/** The handler as a server, for a container or a unit of systemd. SIGTERM ends it when the running turns are done. */
import { serve } from '@hono/node-server';
import { handle, storage } from './handler.js';

const server = serve({
  port: Number(process.env['PORT'] ?? 8080),
  fetch: (request) => (new URL(request.url).pathname === '/health' ? new Response('ok') : handle(request)),
});

process.once('SIGTERM', () => {
  server.close(async () => {
    await storage.close();
    console.log('stopped');
  });
});
