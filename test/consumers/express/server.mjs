import express from 'express';
import { chat } from './chat.mjs';

export const app = express();

app.post('/chat', express.json(), async (request, response, next) => {
  const client = new AbortController();
  response.once('close', () => client.abort());
  try {
    for await (const piece of chat(request.body, client.signal)) response.write(piece);
    response.end();
  } catch (thrown) {
    if (client.signal.aborted) return; // nobody is there to answer
    if (response.headersSent) response.destroy();
    else next(thrown);
  }
});
