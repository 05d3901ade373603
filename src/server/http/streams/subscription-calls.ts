/** The reserved addresses of the protocol: subscriptions below `/v1/stream/__ds/`. */
import type { JsonObject } from '../../../core/json.js';
import { payloadOf } from '../../../streams/stream-body.js';
import type { StreamSubscriptions } from '../../../streams/subscriptions/stream-subscriptions.js';
import { type AckOutcome, digestOf } from '../../../streams/subscriptions/wake-call.js';
import { answered, badRequest, missing, STREAM_PREFIX, type StreamCall } from './stream-call.js';
import { RESERVED } from './stream-path.js';
import {
  assertObject,
  configOf,
  linksOf,
  pathsOf,
  subscriptionProblem,
  subscriptionToWire,
  wakeRequestOf,
} from './subscription-wire.js';
import { type WebhookKey, webhookProblem } from './webhook-calls.js';

const PLACE = `${STREAM_PREFIX}${RESERVED}/`;
/** Workers prove themselves with the token of their wake; keys are public. */
const OWN_PROOF = new RegExp(`^${PLACE}(jwks\\.json|subscriptions/[^/]+/(callback|ack|release))$`);

/** Whether an address is for callers without a token of the server. */
export function hasOwnProof(path: string): boolean {
  return OWN_PROOF.test(path);
}

export interface SubscriptionCalls {
  readonly subscriptions: StreamSubscriptions;
  readonly key: WebhookKey;
  readonly allowsLocal: boolean;
}

/** @throws as the routes of streams */
export async function callSubscriptions(
  method: string,
  call: StreamCall,
  parts: SubscriptionCalls,
): Promise<Response> {
  const [, kind, id, action, ...rest] = call.path.split('/');
  if (kind === 'jwks.json' && id === undefined && method === 'GET') return keys(parts.key);
  if (kind !== 'subscriptions' || !id) return missing('missing');
  if (action === undefined && method === 'PUT') return put(call, id, parts);
  if (action === undefined && method === 'GET') return get(call, id, parts);
  if (action === undefined && method === 'DELETE')
    return (await parts.subscriptions.delete(id)) ? answered(204, {}) : missing('missing');
  if (action === 'streams') return changeStreams(method, call, { id, path: rest.join('/') }, parts);
  if (method !== 'POST' || rest.length > 0) return missing('missing');
  if (action === 'claim') return claim(call, id, parts);
  if (action === 'callback' || action === 'ack' || action === 'release')
    return acknowledge(call, id, action, parts);
  return missing('missing');
}

async function keys(key: WebhookKey): Promise<Response> {
  const headers = { 'Content-Type': 'application/jwk-set+json', 'Cache-Control': 'public, max-age=300' };
  return answered(200, headers, JSON.stringify({ keys: [await key.jwk()] }));
}

async function put(call: StreamCall, id: string, parts: SubscriptionCalls): Promise<Response> {
  const config = configOf(await bodyOf(call));
  const problem = config.webhookUrl === null ? null : webhookProblem(config.webhookUrl, parts.allowsLocal);
  if (problem)
    return json(400, subscriptionProblem('WEBHOOK_URL_REJECTED', `The address is refused: ${problem}.`));
  const { kind, subscription } = await parts.subscriptions.create(id, config, call.url.origin);
  if (kind === 'differs')
    return json(409, subscriptionProblem('SUBSCRIPTION_EXISTS', 'It exists with other settings.'));
  return json(kind === 'created' ? 201 : 200, subscriptionToWire(subscription, await signing(call, parts)));
}

async function get(call: StreamCall, id: string, parts: SubscriptionCalls): Promise<Response> {
  const subscription = await parts.subscriptions.read(id);
  return subscription
    ? json(200, subscriptionToWire(subscription, await signing(call, parts)))
    : missing('missing');
}

async function signing({ url }: StreamCall, { key }: SubscriptionCalls): Promise<JsonObject> {
  const { kid = '' } = await key.jwk();
  return { alg: 'ed25519', kid, jwks_url: `${url.origin}${PLACE}jwks.json` };
}

async function changeStreams(
  method: string,
  call: StreamCall,
  { id, path }: { readonly id: string; readonly path: string },
  { subscriptions }: SubscriptionCalls,
): Promise<Response> {
  if (method === 'POST' && path === '') {
    const paths = pathsOf(assertObject(await bodyOf(call))['streams']);
    return (await subscriptions.addStreams(id, paths)) ? answered(204, {}) : missing('missing');
  }
  if (method !== 'DELETE' || path === '') return missing('missing');
  return (await subscriptions.removeStream(id, path)) ? answered(204, {}) : missing('missing');
}

async function claim(call: StreamCall, id: string, { subscriptions }: SubscriptionCalls): Promise<Response> {
  const { worker } = assertObject(await bodyOf(call));
  if (typeof worker !== 'string' || worker === '') return badRequest('worker must be a text.');
  const outcome = await subscriptions.claim(id, worker);
  switch (outcome.kind) {
    case 'missing':
      return missing('missing');
    case 'idle':
      return json(409, subscriptionProblem('NOTHING_PENDING', 'Nothing is pending.'));
    case 'held': {
      const { holder, generation } = outcome;
      const more = { current_holder: holder, generation };
      return json(409, subscriptionProblem('ALREADY_CLAIMED', 'Another worker works.', more));
    }
    case 'claimed': {
      const { subscription, wake, token, tails } = outcome.call;
      return json(200, {
        ...{ wake_id: wake.id, generation: wake.generation, token },
        streams: linksOf(subscription, tails),
        lease_ttl_ms: subscription.config.leaseMs,
      });
    }
  }
}

async function acknowledge(
  call: StreamCall,
  id: string,
  action: 'callback' | 'ack' | 'release',
  { subscriptions }: SubscriptionCalls,
): Promise<Response> {
  const { wakeId, generation, acks, isDone } = wakeRequestOf(await bodyOf(call));
  const token = /^Bearer +(\S+)$/i.exec(call.header('Authorization') ?? '')?.[1] ?? '';
  const proof = { wakeId, generation, tokenDigest: digestOf(token) };
  if (action === 'release') {
    const outcome = await subscriptions.release(id, proof);
    return outcome.kind === 'done' ? answered(204, {}) : notProven(outcome);
  }
  const outcome = await subscriptions.acknowledge(id, proof, acks, isDone);
  return outcome.kind === 'done' ? json(200, { ok: true, next_wake: outcome.nextWake }) : notProven(outcome);
}

/** Without a token of the server, nobody learns whether a subscription exists. */
function notProven(_: AckOutcome): Response {
  return json(409, subscriptionProblem('FENCED', 'This is not the current wake.'));
}

/** @throws INVALID_ARGUMENT, LIMIT_EXCEEDED, REQUEST_REFUSED */
async function bodyOf(call: StreamCall): Promise<JsonObject> {
  const payload = payloadOf('application/json', await call.body());
  return assertObject(payload?.kind === 'messages' ? payload.messages[0] : undefined);
}

function json(status: number, body: JsonObject): Response {
  return answered(status, { 'Content-Type': 'application/json' }, JSON.stringify(body));
}
