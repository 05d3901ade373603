/** The WebSocket at /events: who may listen, what may be said, and what is told. */
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../src/core/json.js';
import { createAgent, ScriptedModel } from '../../src/index.js';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { type EventClient, eventClient, isEvent, versionsOf } from './event-client.js';
import { keyPath, serverKit, sleep, TOKEN } from './server-kit.js';

const SUBSCRIBE = { type: 'subscribe', to: 'state', session: 'root' };

const subscribed = ({ type }: JsonObject) => type === 'subscribed';

async function subscribe(client: EventClient, fields: JsonObject = {}): Promise<JsonObject> {
  client.say({ ...SUBSCRIBE, ...fields });
  return client.until(subscribed);
}

describe('a client', () => {
  it('is known by the token in a header', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    expect(await subscribe(client)).toMatchObject({ root_session_id: 'root', global_version: 0, since: 0 });
  });

  it('is known by the token in its first message', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port, { token: null });
    client.say({ type: 'authenticate', token: TOKEN });
    await client.until(({ type }) => type === 'authenticated');
    await subscribe(client);
  });

  it.each([
    ['a wrong token', { type: 'authenticate', token: 'not-the-token-0123456789' }],
    ['anything before the token', SUBSCRIBE],
  ])('is closed with 4401 after %s, and told nothing', async (_, message) => {
    const kit = await serverKit();
    const client = await eventClient(kit.port, { token: null });
    client.say(message);
    client.say(SUBSCRIBE);
    expect(await client.closed).toBe(4401);
    expect(client.messages).toEqual([]);
  });

  it.each([
    ['no JSON', 'hello'],
    ['an unknown type', '{"type":"publish"}'],
    ['no object', '[]'],
    ['more fields than there are', '{"type":"subscribe","to":"agents","more":1}'],
    ['an unknown topic', '{"type":"subscribe","to":"everything"}'],
    ['a version that is none', '{"type":"subscribe","to":"state","session":"root","since":-1}'],
    ['no session', '{"type":"subscribe","to":"state"}'],
    ['a binary message', Buffer.from(JSON.stringify(SUBSCRIBE))],
  ])('is closed with 4400 when it says %s', async (_, message) => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    client.say(message);
    expect(await client.closed).toBe(4400);
  });

  it('is closed with 1009 when a frame is larger than 1 MiB, and others are not', async () => {
    const kit = await serverKit();
    const other = await eventClient(kit.port);
    const client = await eventClient(kit.port);
    client.say('x'.repeat(1024 * 1024 + 1));
    expect([1009, 1006]).toContain(await client.closed);
    await subscribe(other);
  });

  it('is closed when it says more at once than is handled', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    for (let index = 0; index < 300; index += 1) client.say(SUBSCRIBE);
    expect(await client.closed).toBe(4400);
  });

  it('is told of a session that is not there, and may go on', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    client.say({ ...SUBSCRIBE, session: 'nobody' });
    const told = await client.until(({ type }) => type === 'error');
    expect(told).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await subscribe(client);
  });
});

describe('a subscription to a state', () => {
  it('is told every change in order, of every kind', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    await subscribe(client);
    await kit.put('a', 1);
    await kit.call('POST', `${keyPath('a')}/ops`, { body: { operation: 'increment' } });
    await kit.call('DELETE', keyPath('a'));
    await client.until((message) => message['global_version'] === 3);
    expect(client.messages.filter(isEvent)).toMatchObject([
      {
        type: 'state_key_updated',
        root_session_id: 'root',
        key: 'a',
        value: 1,
        version: 1,
        op: 'set',
        updated_by: 'root',
      },
      { type: 'state_key_updated', key: 'a', value: 2, version: 2, op: 'increment', last_of_commit: 2 },
      {
        type: 'state_key_deleted',
        key: 'a',
        version: 3,
        op: 'delete',
        deleted_by: 'root',
        global_version: 3,
      },
    ]);
    const { events } = (await kit.get('/sessions/root/state/events')).json;
    expect(events).toEqual(client.messages.filter(isEvent));
  });

  it.each([0, 1, 4, 5, 9])('since %i is told exactly what is missing', async (since) => {
    const kit = await serverKit();
    for (let value = 1; value <= 5; value += 1) await kit.put('k', value);
    const client = await eventClient(kit.port);
    const from = Math.min(since, 5);
    expect(await subscribe(client, { since })).toMatchObject({ global_version: 5, since: from });
    await kit.put('k', 6);
    await client.until((message) => message['global_version'] === 6 && isEvent(message));
    const wanted = Array.from({ length: 6 - from }, (_, index) => from + 1 + index);
    expect(versionsOf(client.messages)).toEqual(wanted);
  });

  it('without since begins now, also through a child of the root', async () => {
    const kit = await serverKit();
    await kit.session({ id: 'child', parent: 'root' });
    await kit.put('k', 1);
    const client = await eventClient(kit.port);
    expect(await subscribe(client, { session: 'child' })).toMatchObject({
      root_session_id: 'root',
      since: 1,
    });
    await kit.put('k', 2);
    await client.until(isEvent);
    expect(versionsOf(client.messages)).toEqual([2]);
  });

  it('asked for twice tells each change once', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    client.say(SUBSCRIBE);
    client.say(SUBSCRIBE);
    await client.until(() => client.messages.filter(subscribed).length === 2);
    await kit.put('k', 1);
    await kit.put('k', 2);
    await client.until((message) => message['global_version'] === 2);
    expect(versionsOf(client.messages)).toEqual([1, 2]);
  });

  it('ends with unsubscribe', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    await subscribe(client);
    client.say({ type: 'unsubscribe', session: 'root' });
    expect(await client.until(({ type }) => type === 'unsubscribed')).toMatchObject({
      root_session_id: 'root',
    });
    await kit.put('k', 1);
    await sleep(50);
    expect(versionsOf(client.messages)).toEqual([]);
    client.say({ type: 'unsubscribe', session: 'root' }); // there is none: it is told the same
    await client.until(() => client.messages.filter(({ type }) => type === 'unsubscribed').length === 2);
  });

  it('to a version that is gone is told to read the state anew, and then goes on', async () => {
    const kit = await serverKit({ limits: { history: 5 } });
    for (let index = 1; index <= 45; index += 1) await kit.put('k', 'x'.repeat(150_000) + String(index));
    const client = await eventClient(kit.port);
    await subscribe(client, { since: 0 });
    const resync = await client.until(({ type }) => type === 'resync');
    expect(resync).toMatchObject({ root_session_id: 'root', global_version: 45 });
    await kit.put('k', 1);
    await client.until(isEvent);
    expect(versionsOf(client.messages)).toEqual([46]);
  });

  it('is told the past of a large state, page by page', async () => {
    const kit = await serverKit();
    for (let from = 0; from < 3_000; from += 500) {
      const operations = Array.from({ length: 500 }, (_, index) => ({
        op: 'set',
        key: `k${index}`,
        value: from + index,
      }));
      expect((await kit.call('POST', '/sessions/root/state/batch', { body: { operations } })).status).toBe(
        200,
      );
    }
    const client = await eventClient(kit.port);
    await subscribe(client, { since: 0 });
    await client.until((message) => isEvent(message) && message['global_version'] === 3_000);
    expect(versionsOf(client.messages)).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1));
  });

  it('is not ended for another message that is due while a large page is on its way', async () => {
    const kit = await serverKit();
    const writer = new SharedState(kit.backend, { root: 'root' });
    const operations = Array.from({ length: 60 }, () => ({
      op: 'set' as const,
      key: 'k',
      value: 'x'.repeat(250_000),
    }));
    await writer.batch(operations);
    await writer.close();
    const client = await eventClient(kit.port);
    client.say({ type: 'subscribe', to: 'sessions' });
    await client.until(subscribed);
    client.say({ ...SUBSCRIBE, since: 0 });
    await client.until(isEvent, 20_000); // 15 MB, on a busy machine
    client.socket.pause(); // for a moment: a client may take ten seconds
    await sleep(300);
    await kit.session({ id: 'new' });
    await sleep(300);
    client.socket.resume();
    let code = 0;
    void client.closed.then((closed) => (code = closed));
    const isTold = () => client.messages.some(({ type }) => type === 'session_updated');
    for (let waited = 0; waited < 8_000 && code === 0 && !isTold(); waited += 20) await sleep(20);
    expect([code, isTold()]).toEqual([0, true]);
    await client.until((message) => message['global_version'] === 60 && isEvent(message), 20_000);
  });
});

describe('the other topics', () => {
  it('tell of sessions that are new or changed, by whoever', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    client.say({ type: 'subscribe', to: 'sessions' });
    await client.until(subscribed);
    await kit.session({ id: 's', parent: 'root', status: 'running' });
    const made = await client.until(({ type }) => type === 'session_updated');
    expect(made['session']).toMatchObject({ id: 's', parent: 'root', status: 'running' });
    await kit.call('PUT', '/sessions/s/status', { body: { status: 'failed', why: 'no disk' } });
    const is = (status: string) => (message: JsonObject) =>
      (message['session'] as JsonObject)?.['status'] === status;
    expect((await client.until(is('failed')))['session']).toMatchObject({ id: 's', why: 'no disk' });
  });

  it('tell of agents at work', async () => {
    const kit = await serverKit();
    const client = await eventClient(kit.port);
    client.say({ type: 'subscribe', to: 'agents' });
    await client.until(subscribed);
    const agent = createAgent({
      agentId: 'ada',
      memoryDir: kit.dir,
      model: new ScriptedModel([{ text: 'hi' }]),
    });
    await agent.start();
    await agent.send('hello');
    await agent.stop();
    expect(await client.until(({ type }) => type === 'agent_updated')).toMatchObject({ agent_id: 'ada' });
  });
});

describe('clients that are gone', () => {
  it('leave a server that answers others', async () => {
    const kit = await serverKit();
    for (let index = 0; index < 20; index += 1) {
      const socket = new WebSocket(`ws://127.0.0.1:${kit.port}/events`, {
        headers: { Authorization: `Bearer ${TOKEN}` },
      });
      socket.on('error', () => {});
      socket.once('open', () => {
        for (const to of ['sessions', 'agents']) socket.send(JSON.stringify({ type: 'subscribe', to }));
        socket.send(JSON.stringify(SUBSCRIBE));
        socket.terminate();
      });
      await new Promise((resolve) => socket.once('close', resolve));
    }
    const client = await eventClient(kit.port);
    await subscribe(client);
    await kit.put('k', 1);
    await client.until(isEvent);
    expect(kit.unexpected).toEqual([]);
  });
});
