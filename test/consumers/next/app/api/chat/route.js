import { chat } from '../../../chat.mjs';

export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

export async function POST(request) {
  const input = await request.json();
  const client = new AbortController();
  request.signal.addEventListener('abort', () => client.abort());
  const pieces = chat(input, client.signal);
  const first = await pieces.next(); // an error before the first word is an answer with a status
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    start(controller) {
      if (!first.done) controller.enqueue(encoder.encode(first.value));
    },
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      client.abort();
      await pieces.return();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}
