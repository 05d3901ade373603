/**
 * A configuration that people edit. Its bytes are looked at in each use, so a change counts at once; one that is not what it should be
 * is refused with its line, never ignored.
 */
import { RekindleError } from '../core/errors.js';
import { parseJsonText } from '../core/json-source.js';
import type { SchemaCheck } from '../core/schema-check.js';
import { parseChecked } from './json-document.js';
import type { Name } from './ports.js';

export interface ConfigFileOptions {
  /** For messages, and where it is a document its name. */
  readonly name: Name;
  readonly read: () => Promise<Uint8Array | null>;
  readonly check: () => SchemaCheck;
}

export class ConfigFile<T extends object> {
  readonly #options: ConfigFileOptions;
  /** What was parsed last: most reads find the same bytes. */
  #known: { readonly bytes: Buffer; readonly value: T } | null = null;

  constructor(options: ConfigFileOptions) {
    this.#options = options;
  }

  /** The same object as before where nothing changed; null when there is none. @throws DOCUMENT_DAMAGED with line and column */
  async read(): Promise<T | null> {
    const { name, read, check } = this.#options;
    const bytes = await read();
    if (!bytes) return null;
    if (this.#known?.bytes.equals(bytes)) return this.#known.value;
    const value = (await parseChecked(name, bytes, check())) as unknown as T;
    await assertNoKeyTwice(name, bytes);
    this.#known = { bytes: Buffer.from(bytes), value };
    return value;
  }
}

/** Of two values for one key only one would count, and nobody could say which was meant. */
async function assertNoKeyTwice(name: Name, bytes: Uint8Array): Promise<void> {
  const { problem } = await parseJsonText(Buffer.from(bytes).toString('utf8'));
  if (!problem) return;
  const place = `line ${problem.line}, column ${problem.column}`;
  throw new RekindleError('DOCUMENT_DAMAGED', `${name.join('/')} (${place}): ${problem.message}`, {
    details: { name: [...name], ...problem },
  });
}
