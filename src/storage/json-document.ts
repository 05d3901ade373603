/**
 * Small JSON documents that people read and edit (manifests, registries, sessions, configuration): lowdb over the
 * document port, so that they are synced, replaced atomically and checked on every backend.
 */
import { type Adapter, Low } from 'lowdb';
import { RekindleError } from '../core/errors.js';
import { type JsonObject, type JsonValue, tryParseJson } from '../core/json.js';
import { parseJsonText } from '../core/json-source.js';
import type { SchemaCheck } from '../core/schema-check.js';
import type { DocumentDurability, Documents, Name } from './ports.js';

export interface JsonDocumentOptions<T> {
  readonly name: Name;
  /** The schema of the document, checked on reading and writing. */
  readonly check: SchemaCheck;
  /** Value while the document does not exist. */
  readonly initial: T;
  /** Default `durable`. */
  readonly durability?: DocumentDurability;
}

/** `data` is its value; `write` and `update` make it durable. */
export type JsonDocument<T> = Low<T>;

/** Reads the document. @throws DOCUMENT_DAMAGED with line, column and rule; the file is not changed */
export async function openJsonDocument<T extends object>(
  documents: Documents,
  options: JsonDocumentOptions<T>,
): Promise<JsonDocument<T>> {
  const document = new Low<T>(new DocumentAdapter<T>(documents, options), structuredClone(options.initial));
  await document.read();
  return document;
}

class DocumentAdapter<T> implements Adapter<T> {
  readonly #documents: Documents;
  readonly #options: JsonDocumentOptions<T>;

  constructor(documents: Documents, options: JsonDocumentOptions<T>) {
    this.#documents = documents;
    this.#options = options;
  }

  async read(): Promise<T | null> {
    const { name, check } = this.#options;
    const bytes = await this.#documents.readBytes(name);
    return bytes === null ? null : (parseChecked(name, bytes, check) as Promise<T>);
  }

  async write(data: T): Promise<void> {
    const { name, check, durability = 'durable' } = this.#options;
    if (!check(data)) throw invalid(name, { violations: check.violations() as unknown as JsonValue });
    await this.#documents.write(name, data as JsonValue, { durability });
  }
}

/** Parses and checks a document. If something is wrong, it is parsed again to find the position. @throws DOCUMENT_DAMAGED */
export async function parseChecked(name: Name, bytes: Uint8Array, check: SchemaCheck): Promise<JsonValue> {
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\ufeff/, '');
  const value = tryParseJson(text);
  if (value !== undefined && check(value)) return value;
  const violations = value === undefined ? [] : check.violations();
  const parsed = await parseJsonText(text);
  if (parsed.problem !== null) throw invalid(name, { ...parsed.problem });
  const placed = violations.map((violation) => ({ ...violation, ...parsed.positionOf(violation.path) }));
  throw invalid(name, {
    ...(placed[0] as unknown as JsonObject),
    violations: placed as unknown as JsonValue,
  });
}

function invalid(name: Name, problem: JsonObject): RekindleError {
  const { line, column, message = 'it does not match its schema' } = problem;
  const place = line === undefined ? '' : ` (line ${String(line)}, column ${String(column)})`;
  const text = `${name.join('/')} is not valid${place}: ${String(message)}`;
  return new RekindleError('DOCUMENT_DAMAGED', text, { details: { name: [...name], ...problem } });
}
