/** A transcript whose messages are all blank, or results of nothing, makes no context: it is refused, because no restore would take it. */
import { RekindleError } from '../../core/errors.js';
import type { TranscriptItem } from '../../messages/importers/transcript.js';
import { mendMessage } from '../../messages/legality/history.js';
import { type Message, toolResultOf } from '../../messages/message.js';

export class SaidSomething {
  #messages = 0;
  #isSaid = false;

  add(item: TranscriptItem): void {
    const messages = item.kind === 'message' ? [item.message] : item.messages;
    for (const message of messages) {
      if (message.role === 'system') continue;
      this.#messages += 1;
      this.#isSaid ||= isShown(message);
    }
  }

  /** A prompt alone is a beginning. @throws TRANSCRIPT_INVALID */
  assert(): void {
    if (this.#isSaid || this.#messages === 0) return;
    throw new RekindleError('TRANSCRIPT_INVALID', 'Nothing is said in the transcript.', {
      details: { problem: 'blank', messages: this.#messages },
    });
  }
}

/** A result is shown with its call alone. */
function isShown(message: Message): boolean {
  const { toolPayload: _, ...said } = message;
  return mendMessage(toolResultOf(message) ? said : message) !== null;
}
