/** Subscriptions as clients send and get them. */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { folderOf } from '../../../streams/stream-name.js';
import type { Subscription, SubscriptionConfig, Tails } from '../../../streams/subscriptions/subscription.js';
import { invalid, offsetOf, positionOf } from './stream-wire.js';

const LEASE_MS = { least: 1_000, most: 600_000, usual: 30_000 } as const;
const STREAMS_MAX = 1_000;
const TEXT_MAX = 1_000;
/** More would make a comparison slow. */
const ANY_DEPTH_MAX = 3;

/** @throws INVALID_ARGUMENT, INVALID_NAME */
export function configOf(body: JsonValue): SubscriptionConfig {
  if (!isJsonObject(body)) throw invalid('body', 'must be an object');
  const { type, webhook } = body;
  if (type !== 'webhook' && type !== 'pull-wake') throw invalid('type', 'must be webhook or pull-wake');
  const pattern = textIn(body, 'pattern');
  const streams = body['streams'] === undefined ? [] : pathsOf(body['streams']);
  if (pattern === null && streams.length === 0) throw invalid('pattern', 'or streams must be given');
  if (pattern !== null && pattern.split('**').length - 1 > ANY_DEPTH_MAX)
    throw invalid('pattern', `may have ** at most ${ANY_DEPTH_MAX} times`);
  const webhookUrl = isJsonObject(webhook) ? textIn(webhook, 'url') : null;
  if ((type === 'webhook') !== (webhookUrl !== null))
    throw invalid('webhook', 'must be given for webhook, only');
  const wakeStream = textIn(body, 'wake_stream');
  if ((type === 'pull-wake') !== (wakeStream !== null))
    throw invalid('wake_stream', 'must be given for pull-wake, only');
  if (wakeStream !== null) folderOf(wakeStream);
  const leaseMs = body['lease_ttl_ms'] ?? LEASE_MS.usual;
  if (!Number.isSafeInteger(leaseMs) || Number(leaseMs) < LEASE_MS.least || Number(leaseMs) > LEASE_MS.most)
    throw invalid('lease_ttl_ms', `must be a whole number from ${LEASE_MS.least} to ${LEASE_MS.most}`);
  const description = textIn(body, 'description');
  return { type, pattern, streams, webhookUrl, wakeStream, leaseMs: Number(leaseMs), description };
}

function textIn(body: JsonObject, field: string): string | null {
  const value = body[field];
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX && value.isWellFormed())
    return value;
  throw invalid(field, `must be a text of 1 to ${TEXT_MAX} characters`);
}

/** Sorted, each once. @throws INVALID_ARGUMENT, INVALID_NAME */
export function pathsOf(value: JsonValue | undefined): string[] {
  if (!Array.isArray(value) || value.length > STREAMS_MAX || !value.every((path) => typeof path === 'string'))
    throw invalid('streams', `must be a list of at most ${STREAMS_MAX} paths`);
  for (const path of value as string[]) folderOf(path);
  return [...new Set(value as string[])].sort();
}

export interface WakeRequest {
  readonly wakeId: string;
  readonly generation: number;
  readonly acks: ReadonlyMap<string, number>;
  readonly isDone: boolean;
}

/** @throws INVALID_ARGUMENT */
export function wakeRequestOf(body: JsonValue): WakeRequest {
  if (!isJsonObject(body)) throw invalid('body', 'must be an object');
  const { wake_id: wakeId, generation, acks = [], done } = body;
  if (typeof wakeId !== 'string') throw invalid('wake_id', 'must be a text');
  if (typeof generation !== 'number') throw invalid('generation', 'must be a number');
  if (!Array.isArray(acks)) throw invalid('acks', 'must be a list');
  return { wakeId, generation, acks: new Map(acks.map(ackOf)), isDone: done === true };
}

function ackOf(ack: JsonValue): [string, number] {
  if (!isJsonObject(ack) || typeof ack['stream'] !== 'string' || typeof ack['offset'] !== 'string')
    throw invalid('acks', 'must be a list of objects with stream and offset');
  return [ack['stream'], positionOf(ack['offset'], 'acks')];
}

export function linksOf({ links }: Subscription, tails: Tails): JsonObject[] {
  return links.map(({ path, isExplicit, acked }) => {
    const tail = tails.get(path) ?? acked;
    return {
      ...{ path, link_type: isExplicit ? 'explicit' : 'glob', acked_offset: offsetOf(acked) },
      ...{ tail_offset: offsetOf(tail), has_pending: tail > acked },
    };
  });
}

/** @param signing what a receiver needs to check calls; only for webhooks */
export function subscriptionToWire(subscription: Subscription, signing: JsonObject): JsonObject {
  const { id, config, createdMs, links, failed } = subscription;
  const { type, pattern, webhookUrl, wakeStream, leaseMs, description } = config;
  return {
    ...{ id, subscription_id: id, type, pattern },
    streams: links.map(({ path, isExplicit, acked }) => ({
      ...{ path, link_type: isExplicit ? 'explicit' : 'glob', acked_offset: offsetOf(acked) },
    })),
    ...(webhookUrl === null ? {} : { webhook: { url: webhookUrl, signing } }),
    ...{ wake_stream: wakeStream, lease_ttl_ms: leaseMs, created_at: new Date(createdMs).toISOString() },
    ...{ status: failed === null ? 'active' : 'failed', description },
  };
}

/** The shape that this part of the protocol has for problems. */
export function subscriptionProblem(code: string, message: string, more: JsonObject = {}): JsonObject {
  return { error: { code, message, ...more } };
}

export function assertObject(value: JsonValue | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  throw new RekindleError('INVALID_ARGUMENT', 'The body must be a JSON object.', {
    details: { field: 'body' },
  });
}
