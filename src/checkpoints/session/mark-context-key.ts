/** Marks a key of a session's context: no budgeted view drops it from then on. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { noneLeft, sessionNotFound } from '../checkpoint-id.js';
import { assertContextKey } from '../save-params.js';
import type { CheckpointSession } from './checkpoint-session.js';

/** Maximum of keys listed in an error. */
const KEYS_SHOWN = 50;

/**
 * Durable when it resolves. @throws SESSION_NOT_FOUND, INVALID_ARGUMENT if the newest context does not have
 * the key
 */
export async function markContextKey(session: CheckpointSession, contextKey: string): Promise<void> {
  assertContextKey(contextKey);
  const { since, newest, marks } = await session.read();
  if (since === null) throw sessionNotFound(session.id);
  if (!marks.has(contextKey)) await assertHasKey(session, newest?.number ?? null, contextKey);
  await session.mark({ contextKey });
}

async function assertHasKey(
  session: CheckpointSession,
  number: number | null,
  contextKey: string,
): Promise<void> {
  const loaded = number === null ? null : await session.load(number);
  if (!loaded) throw noneLeft(session.id);
  const context = JSON.parse(loaded.content.toString('utf8')) as JsonObject;
  if (Object.hasOwn(context, contextKey)) return;
  const keys = Object.keys(context).slice(0, KEYS_SHOWN);
  const there = keys.length === 0 ? 'It has no keys.' : `Its keys are: ${keys.join(', ')}.`;
  const text = `The newest context of the session has no key ${JSON.stringify(contextKey)}. ${there}`;
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { field: 'contextKey', contextKey, keys } });
}
