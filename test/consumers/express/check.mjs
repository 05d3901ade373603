import { checkRoutes } from './check-routes.mjs';
import { app } from './server.mjs';

const server = app.listen(0, '127.0.0.1', async () => {
  await checkRoutes(`http://127.0.0.1:${server.address().port}/chat`);
  server.closeAllConnections();
  server.close();
});
