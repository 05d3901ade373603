/**
 * A child session of `rekindle demo shared`: a process that gets the server and its session from its
 * environment, and updates its root's state over HTTP. It prints a line per acknowledged update, so that its
 * parent can check that none is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { JsonObject, JsonValue } from '../core/json.js';
import { sessionFromEnvironment } from '../state/shared/sessions/session-environment.js';

export const URL_VARIABLE = 'REKINDLE_URL';
export const TOKEN_VARIABLE = 'REKINDLE_TOKEN';
export const ROUNDS = 40;

/** A message of a child after the server's answer. */
export type Acknowledged =
  | { readonly kind: 'done'; readonly rounds: number }
  | { readonly kind: 'finding'; readonly text: string }
  | { readonly kind: 'progress'; readonly key: string; readonly round: number };

async function live(): Promise<void> {
  const session = sessionFromEnvironment(process.env)?.id ?? '';
  const base = `${process.env[URL_VARIABLE]}/sessions/${encodeURIComponent(session)}/state`;
  const progress = `progress/${session}`;
  let version = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    await send('POST', `${base}/keys/done/ops`, { operation: 'increment' });
    say({ kind: 'done', rounds: round });
    const text = `${session} found something in round ${round}`;
    await send('POST', `${base}/keys/findings/ops`, { operation: 'append', items: [text] });
    say({ kind: 'finding', text });
    // Compare-and-set: no other process writes this key, so a conflict would be a bug.
    const condition = version === 0 ? { 'If-None-Match': '*' } : { 'If-Match': `"${version}"` };
    const key = `${base}/keys/${encodeURIComponent(progress)}`;
    version = Number((await send('PUT', key, { value: { round, of: ROUNDS } }, condition))['version']);
    say({ kind: 'progress', key: progress, round });
    await sleep(5);
  }
}

async function send(
  method: string,
  url: string,
  body: JsonValue,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  const response = await fetch(url, {
    method,
    headers: {
      Authorization: `Bearer ${process.env[TOKEN_VARIABLE]}`,
      'Content-Type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as JsonObject;
  if (response.ok) return answer;
  process.stderr.write(`${method} ${url}: ${String(answer['detail'])}\n`);
  process.exit(1);
}

function say(line: Acknowledged): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await live();
