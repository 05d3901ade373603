/** A WebSocket client that keeps everything it was told. */
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../src/core/json.js';
import { TOKEN } from './server-kit.js';

export interface EventClient {
  readonly socket: WebSocket;
  readonly messages: JsonObject[];
  /** The code. */
  readonly closed: Promise<number>;
  say(message: JsonObject | string | Buffer): void;
  /** The first message, now or later, that fits. Taken from `messages`, with all before it, when `take` is true. */
  until(fits: (message: JsonObject) => boolean, withinMs?: number): Promise<JsonObject>;
}

export async function eventClient(
  port: number,
  { token = TOKEN as string | null, atEnd = onTestFinished as (end: () => void) => void } = {},
): Promise<EventClient> {
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/events`, { headers });
  const client = listenTo(socket);
  atEnd(() => socket.terminate());
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return client;
}

function listenTo(socket: WebSocket): EventClient {
  const messages: JsonObject[] = [];
  const waiting = new Set<() => void>();
  socket.on('error', () => {});
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)) as JsonObject);
    for (const look of waiting) look();
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  return {
    socket,
    messages,
    closed,
    say: (message) =>
      socket.send(
        typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
      ),
    until: (fits, withinMs = 5_000) =>
      new Promise((resolve, reject) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(look);
        };
        const look = () => {
          const found = messages.find(fits);
          if (!found) return;
          done();
          resolve(found);
        };
        const timer = setTimeout(() => {
          done();
          const last = JSON.stringify(messages.slice(-3)).slice(0, 500);
          reject(new Error(`Not told within ${withinMs} ms; ${messages.length} messages, the last: ${last}`));
        }, withinMs);
        waiting.add(look);
        look();
      }),
  };
}

export function isEvent({ type }: JsonObject): boolean {
  return type === 'state_key_updated' || type === 'state_key_deleted';
}

export function versionsOf(messages: readonly JsonObject[]): number[] {
  return messages.filter(isEvent).map((message) => message['global_version'] as number);
}
