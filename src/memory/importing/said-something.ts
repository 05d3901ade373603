/**
 * Rejects a transcript whose messages are all blank, because no restore would accept it. Results without a call are in
 * no context, so a transcript with nothing else counts as empty.
 */
import { RekindleError } from '../../core/errors.js';
import type { TranscriptItem } from '../../messages/importers/transcript.js';
import { knownRoles } from '../../messages/legality/h1-known-roles.js';
import { mendMessage } from '../../messages/legality/history.js';
import { type Message, toolResultOf } from '../../messages/message.js';

export class SaidSomething {
  #blank = 0;
  #isSaid = false;

  add(item: TranscriptItem): void {
    if (this.#isSaid) return;
    const messages = item.kind === 'message' ? [item.message] : item.messages;
    for (const message of messages) {
      if (knownRoles.mend(message, () => {})?.role === 'system') continue;
      if (isShown(message)) this.#isSaid = true;
      else if (!toolResultOf(message)) this.#blank += 1;
    }
  }

  /** A system prompt alone is accepted. @throws TRANSCRIPT_INVALID */
  assert(): void {
    if (this.#isSaid || this.#blank === 0) return;
    throw new RekindleError('TRANSCRIPT_INVALID', 'Every message of the transcript is blank.', {
      details: { problem: 'blank', messages: this.#blank },
    });
  }
}

/** A result is shown only with its call, and so are its images. */
function isShown(message: Message): boolean {
  const isResult = toolResultOf(message) !== null;
  if (isResult && message.role === 'tool') return false;
  const { toolPayload: _, ...said } = message;
  return mendMessage(isResult ? said : message) !== null;
}
