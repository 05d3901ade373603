/** A tool's output in the forms that targets accept. */
import { isBlankText, type Message, partsOf, resultText, type ToolResultPayload } from '../message.js';

/** For targets that cannot mark a result as failed. */
export function markedOutputText(result: ToolResultPayload): string {
  const text = resultText(result);
  return result.toolError === null || /^(error|interrupted)\b/i.test(text) ? text : `Error: ${text}`;
}

/** Text next to the result and its media. */
export function partTexts(message: Message): string[] {
  return partsOf(message).flatMap((part) =>
    part.type === 'text' && !isBlankText(part.text) ? [part.text] : [],
  );
}
