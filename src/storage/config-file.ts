/**
 * A configuration file that people edit. Its bytes are checked on each use, so a change takes effect at once. An
 * invalid file is rejected with its line, never ignored.
 */
import { RekindleError } from '../core/errors.js';
import { parseJsonText } from '../core/json-source.js';
import type { SchemaCheck } from '../core/schema-check.js';
import { parseChecked } from './json-document.js';
import type { Name } from './ports.js';

export interface ConfigFileOptions {
  /** For messages; the name of the document if it is one. */
  readonly name: Name;
  readonly read: () => Promise<Uint8Array | null>;
  readonly check: () => SchemaCheck;
}

export class ConfigFile<T extends object> {
  readonly #options: ConfigFileOptions;
  /** The last parsed content: most reads find the same bytes. */
  #known: { readonly bytes: Buffer; readonly value: T } | null = null;

  constructor(options: ConfigFileOptions) {
    this.#options = options;
  }

  /** The same object as before if nothing changed; null if there is no file. @throws DOCUMENT_DAMAGED with line and column */
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

/** With a duplicate key only one value would count, and it would not be clear which. */
async function assertNoKeyTwice(name: Name, bytes: Uint8Array): Promise<void> {
  const { problem } = await parseJsonText(Buffer.from(bytes).toString('utf8'));
  if (!problem) return;
  const place = `line ${problem.line}, column ${problem.column}`;
  throw new RekindleError('DOCUMENT_DAMAGED', `${name.join('/')} (${place}): ${problem.message}`, {
    details: { name: [...name], ...problem },
  });
}
