/**
 * The file of one document, `<name>.json`: what people read, edit and review. Pretty-printed, keys in the order of the schema, so
 * that a diff shows what changed. The journal is the truth; here it is compared with it, to find out what a person did.
 */
import { isUtf8 } from 'node:buffer';
import { canonicalJson } from '../../core/canonical-json.js';
import { isRekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, setOwn, tryParseJson } from '../../core/json.js';
import { versionOf } from '../../storage/document-encoding.js';
import type { Documents, Name } from '../../storage/ports.js';
import type { StateSchema } from './state-definition.js';
import type { StateAt, StateEvent } from './state-event.js';
import { digestOf } from './state-event.js';

export interface FileContent {
  readonly text: string;
  /** False when the bytes are no UTF-8: then `text` has marks in place of some of them. */
  readonly isText: boolean;
  /** Of the bytes, for `replace`. */
  readonly fileVersion: string;
  /** The value; undefined when it is no JSON. */
  readonly value: JsonValue | undefined;
  readonly modifiedMs: number;
}

/** How the file stands to the journal. `behind`: an older version of ours, left by a crash or a failed write. */
export type FileStanding = 'missing' | 'same' | 'behind' | 'edited';

/** How far back an older version of ours is looked for. */
const BEHIND_MAX = 100;

export class StateFile {
  readonly #documents: Documents;
  readonly #name: Name;
  readonly #ranks: ReadonlyMap<string, number>;
  /** The bytes that were compared last, and with which version: most looks find nothing new. */
  #same: { readonly fileVersion: string; readonly version: number } | null = null;

  constructor(documents: Documents, folder: Name, name: string, schema: StateSchema) {
    this.#documents = documents;
    this.#name = [...folder, `${name}.json`];
    this.#ranks = rankKeys(schema);
  }

  async read(): Promise<FileContent | null> {
    const bytes = await this.#documents.readBytes(this.#name);
    if (!bytes) return null;
    const text = Buffer.from(bytes)
      .toString('utf8')
      .replace(/^\ufeff/, '');
    const modifiedMs = (await this.#documents.modifiedMs(this.#name)) ?? 0;
    const isText = isUtf8(bytes);
    const value = isText ? tryParseJson(text) : undefined;
    return { text, isText, fileVersion: versionOf(bytes), value, modifiedMs };
  }

  /** @param backward the events of the journal, newest first; looked at only when the file is not the newest version */
  async standing(
    content: FileContent | null,
    current: StateAt,
    backward: () => AsyncIterable<StateEvent>,
  ): Promise<FileStanding> {
    if (!content) return 'missing';
    const { fileVersion } = content;
    if (this.#same?.fileVersion === fileVersion && this.#same.version === current.version) return 'same';
    if (content.value !== undefined && canonicalJson(content.value) === canonicalJson(current.value)) {
      this.#same = { fileVersion, version: current.version };
      return 'same';
    }
    const isObject = isJsonObject(content.value);
    return isObject && (await isBehind(content, backward())) ? 'behind' : 'edited';
  }

  /**
   * Replaces the file, durably. False when it is not any more what was read: a person was faster, and their file stays.
   * @throws STORAGE_FULL, STORAGE_FAILED
   */
  async replace(value: JsonObject, version: number, read: FileContent | null): Promise<boolean> {
    const bytes = Buffer.from(this.render(value));
    try {
      await this.#documents.writeBytes(this.#name, bytes, { ifVersion: read?.fileVersion ?? null });
    } catch (thrown) {
      if (isRekindleError(thrown, 'DOCUMENT_CONFLICT')) return false;
      throw thrown;
    }
    this.#same = { fileVersion: versionOf(bytes), version };
    return true;
  }

  /** Moves it to a free name beside it, which is returned; null when there is none. */
  setAside(label: string): Promise<string | null> {
    this.#same = null;
    return this.#documents.setAside(this.#name, label);
  }

  render(value: JsonObject): string {
    return `${JSON.stringify(inOrder(value, this.#ranks), null, 2)}\n`;
  }
}

/**
 * True when the file is an older version of ours that was never followed by its successor: it was written before that one was made.
 * The same content, written later, is a person's doing: they took the change back.
 */
async function isBehind(content: FileContent, events: AsyncIterable<StateEvent>): Promise<boolean> {
  const digest = digestOf(content.value as JsonObject);
  let looked = 0;
  let after: StateEvent | null = null;
  for await (const event of events) {
    // Adopted from this very file, which could not be brought up to date then.
    if (!after && event.file === digest) return true;
    const isOurs = event.digest === digest || event.file === digest;
    if (after && isOurs) return Math.floor(content.modifiedMs) <= Date.parse(after.at);
    after = event;
    // Not before the events are older than the file: it may not have been possible to replace it for long.
    if (++looked > BEHIND_MAX && Date.parse(event.at) <= content.modifiedMs) break;
  }
  return false;
}

/** Keys in the order in which the schema names them first; others after them, by name. */
function rankKeys(schema: StateSchema): Map<string, number> {
  const ranks = new Map<string, number>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties } = node as { readonly properties?: unknown };
    if (isJsonObject(properties))
      for (const key of Object.keys(properties)) if (!ranks.has(key)) ranks.set(key, ranks.size);
    for (const inner of Object.values(node)) walk(inner);
  };
  walk(schema);
  return ranks;
}

function inOrder(value: JsonValue, ranks: ReadonlyMap<string, number>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => inOrder(item, ranks));
  if (!isJsonObject(value)) return value;
  const rank = (key: string) => ranks.get(key) ?? ranks.size;
  const keys = Object.keys(value).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const ordered: JsonObject = {};
  for (const key of keys) setOwn(ordered, key, inOrder(value[key]!, ranks));
  return ordered;
}
