/** Tool calls as transcripts write them: arguments as JSON text, and tool names that only the call has. */
import type { JsonValue } from '../../../core/json.js';
import { isNestedTooDeep } from '../../../core/json-depth.js';
import { parseJsonKeepingDigits } from '../../../core/json-digits.js';
import type { Message, ToolCallSpec } from '../../message.js';
import { toolCallsOf } from '../../message.js';

/**
 * Keeps the text next to its value if serializing the value would give another text, and the text alone if its value
 * cannot be stored.
 */
export function argumentsFromText(text: string): Pick<ToolCallSpec, 'arguments' | 'argumentsText'> {
  try {
    const value = parseJsonKeepingDigits(text);
    if (isNestedTooDeep(value)) return { arguments: text, argumentsText: text };
    return JSON.stringify(value) === text ? { arguments: value } : { arguments: value, argumentsText: text };
  } catch {
    return { arguments: text, argumentsText: text };
  }
}

/** Arguments that some tools store as JSON text and others as the value itself. */
export function argumentsFrom(
  given: JsonValue | undefined,
): Pick<ToolCallSpec, 'arguments' | 'argumentsText'> {
  return typeof given === 'string' ? argumentsFromText(given) : { arguments: given ?? {} };
}

/** The calls without a result. Answered calls are forgotten. */
export class OpenCalls {
  readonly #names = new Map<string, string>();

  called(message: Message): void {
    for (const { id, name } of toolCallsOf(message)) this.#names.set(id, name);
  }

  has(id: string): boolean {
    return this.#names.has(id);
  }

  /** The tool name of the call that is answered; empty for a result without a call. */
  answered(id: string): string {
    const name = this.#names.get(id) ?? '';
    this.#names.delete(id);
    return name;
  }

  /** Id of the newest open call of a tool, for formats whose results name only the tool. */
  newestOf(name: string): string | undefined {
    return [...this.#names].findLast(([, called]) => called === name)?.[0];
  }
}
