/** What a chat route of any framework has to do: requests of one agent wait for each other, and one that is aborted lets it go. */
import assert from 'node:assert/strict';

const post = (url, text, signal) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ conversation: 'c-1', text }),
    ...(signal && { signal }),
  });

/** @param url of the route: takes `{ conversation, text }`, streams the answer, which repeats how many messages of people there are */
export async function checkRoutes(url) {
  const both = await Promise.all([post(url, 'one'), post(url, 'two')]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  const answers = await Promise.all(both.map((response) => response.text()));
  assert.deepEqual(answers.sort(), ['message 1: done.', 'message 2: done.']);

  const client = new AbortController();
  const aborted = await post(url, 'slow', client.signal);
  const reader = aborted.body.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /^message 3/);
  client.abort();
  const begun = Date.now();
  const next = await post(url, 'after');
  assert.equal(await next.text(), 'message 4: done.');
  assert.ok(Date.now() - begun < 8_000, 'the aborted request kept the agent');
}
