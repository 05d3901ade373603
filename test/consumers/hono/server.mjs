import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { chat } from './chat.mjs';

export const app = new Hono();

app.post('/chat', async (c) => {
  const input = await c.req.json();
  const client = new AbortController();
  return stream(
    c,
    async (answer) => {
      answer.onAbort(() => client.abort());
      for await (const piece of chat(input, client.signal)) await answer.write(piece);
    },
    async (thrown) => {
      if (!client.signal.aborted) console.error(thrown);
    },
  );
});
