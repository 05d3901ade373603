/** What a tool returned, as text. */
import { isBlankText, type Message, partsOf, type ToolResultPayload } from '../message.js';

/** Strings as they are, everything else as JSON. */
export function outputText(result: ToolResultPayload): string {
  const { toolResult, toolError } = result;
  if (toolError !== null) return toolError;
  return typeof toolResult === 'string' ? toolResult : JSON.stringify(toolResult);
}

/** For targets that cannot mark a result as failed. */
export function markedOutputText(result: ToolResultPayload): string {
  const text = outputText(result);
  return result.toolError === null || /^(error|interrupted)\b/i.test(text) ? text : `Error: ${text}`;
}

/** Text that stands beside the result, and beside its media. */
export function partTexts(message: Message): string[] {
  return partsOf(message).flatMap((part) =>
    part.type === 'text' && !isBlankText(part.text) ? [part.text] : [],
  );
}
