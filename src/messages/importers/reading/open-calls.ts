/** Tool calls as transcripts write them: arguments as JSON text, and names that only the call knows. */
import type { JsonValue } from '../../../core/json.js';
import { isNestedTooDeep } from '../../../core/json-depth.js';
import { parseJsonKeepingDigits } from '../../../core/json-digits.js';
import type { Message, ToolCallSpec } from '../../message.js';
import { toolCallsOf } from '../../message.js';

/** The text is kept beside its value where writing the value again would not give it, and alone where its value could not be stored. */
export function argumentsFromText(text: string): Pick<ToolCallSpec, 'arguments' | 'argumentsText'> {
  try {
    const value = parseJsonKeepingDigits(text);
    if (isNestedTooDeep(value)) return { arguments: text, argumentsText: text };
    return JSON.stringify(value) === text ? { arguments: value } : { arguments: value, argumentsText: text };
  } catch {
    return { arguments: text, argumentsText: text };
  }
}

/** Arguments that are JSON text in one tool and the value itself in another. */
export function argumentsFrom(
  given: JsonValue | undefined,
): Pick<ToolCallSpec, 'arguments' | 'argumentsText'> {
  return typeof given === 'string' ? argumentsFromText(given) : { arguments: given ?? {} };
}

/** The calls that have no result yet; only these are remembered. */
export class OpenCalls {
  readonly #names = new Map<string, string>();

  called(message: Message): void {
    for (const { id, name } of toolCallsOf(message)) this.#names.set(id, name);
  }

  has(id: string): boolean {
    return this.#names.has(id);
  }

  /** Name of the call that is answered; empty for a result without a call. */
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
