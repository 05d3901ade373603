/** The members of a list, one at a time: the document itself, or below one of its keys. */
import { RekindleError } from '../../../core/errors.js';
import type { JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import type { TranscriptSource } from '../transcript.js';
import { sliceJson } from './json-slices.js';

export interface ListMember {
  readonly value: JsonValue;
  /** `events/3` */
  readonly place: string;
}

/**
 * @param keys names of the list in a document that is an object
 * @throws TRANSCRIPT_INVALID if the document has no such list
 */
export async function* membersOf(
  source: TranscriptSource,
  keys: readonly string[],
  losses: LossAccount,
): AsyncGenerator<ListMember> {
  let hasList = false;
  const slices = sliceJson(source.chunks(), (path) => {
    const [key] = path;
    if (path.length === 0) return 'enter';
    if (typeof key === 'number') return 'take';
    if (key === undefined || !keys.includes(key)) return 'skip';
    hasList = true;
    return path.length === 1 ? 'enter' : 'take';
  });
  for await (const { path, value } of slices) {
    const isOfDocument = path.length === 1 && typeof path[0] === 'number';
    if (isOfDocument) hasList = true;
    else if (typeof path[1] !== 'number') continue;
    losses.record();
    yield { value, place: isOfDocument ? `messages/${path[0]}` : path.join('/') };
  }
  if (!hasList) throw noList(source, keys);
}

function noList(source: TranscriptSource, keys: readonly string[]): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `${JSON.stringify(source.name)} has no list ${keys.map((key) => `\`${key}\``).join(' or ')}.`,
    { details: { name: source.name, lookedFor: [...keys] } },
  );
}
