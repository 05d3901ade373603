/**
 * The file of one document, `<name>.json`, which people read, edit and review. It is pretty-printed with keys
 * in schema order, so that a diff shows what changed. Its last line names the version that it shows. The
 * journal is the source of truth; the file is compared with it to detect edits by people.
 */
import { isUtf8 } from 'node:buffer';
import { canonicalJson } from '../../core/canonical-json.js';
import { isRekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, setOwn, tryParseJson } from '../../core/json.js';
import { versionOf } from '../../storage/document-encoding.js';
import type { Documents, Name } from '../../storage/ports.js';
import { type ShownVersion, splitShownVersion, withShownVersion } from './shown-version.js';
import type { StateSchema } from './state-definition.js';
import type { StateAt, StateEvent } from './state-event.js';
import { digestOf } from './state-event.js';

export interface FileContent {
  readonly text: string;
  /** False if the bytes are not UTF-8: `text` then has replacement characters. */
  readonly isText: boolean;
  /** Version of the bytes, for `replace`. */
  readonly fileVersion: string;
  /** The document without the line that names its version; undefined if the file is not JSON. */
  readonly value: JsonValue | undefined;
  /**
   * The version that the file shows, or that the editing person had opened; null if the file does not name
   * one.
   */
  readonly shows: ShownVersion | null;
  readonly modifiedMs: number;
}

/**
 * How the file relates to the journal. `behind`: an older version, left by a crash, a failed write or a
 * restored copy. `ahead`: a version that the journal has lost. `edited`: a person's edit of the newest
 * version. `edited-old`: an edit of an older version.
 */
export type FileStanding = 'missing' | 'same' | 'behind' | 'ahead' | 'edited' | 'edited-old';

/** How many versions back an older version is searched. */
const BEHIND_MAX = 100;

export class StateFile {
  readonly #documents: Documents;
  readonly #name: Name;
  readonly #ranks: ReadonlyMap<string, number>;
  /** The bytes that were compared last, and their version: most checks find nothing new. */
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
    const parsed = isText ? tryParseJson(text) : undefined;
    const { document: value, shows } =
      parsed === undefined ? { document: undefined, shows: null } : splitShownVersion(parsed);
    return { text, isText, fileVersion: versionOf(bytes), value, shows, modifiedMs };
  }

  /**
   * @param backward the events of the journal, newest first; read only if the file is not the newest version
   */
  async standing(
    content: FileContent | null,
    current: StateAt,
    backward: () => AsyncIterable<StateEvent>,
  ): Promise<FileStanding> {
    if (!content) return 'missing';
    const { fileVersion, value, shows } = content;
    if (this.#same?.fileVersion === fileVersion && this.#same.version === current.version) return 'same';
    if (value !== undefined && canonicalJson(value) === canonicalJson(current.value)) {
      if (shows && shows.version !== current.version) return 'behind';
      this.#same = { fileVersion, version: current.version };
      return 'same';
    }
    if (!isJsonObject(value)) return 'edited';
    if (!shows) return (await isBehind(content, backward())) ? 'behind' : 'edited';
    if (shows.version > current.version) return 'ahead';
    if (shows.digest === digestOf(value)) return 'behind';
    return shows.version === current.version && shows.digest === current.digest ? 'edited' : 'edited-old';
  }

  /**
   * Replaces the file, durably. False if the file changed since it was read: a person saved it first, and
   * their file stays.
   * @throws STORAGE_FULL, STORAGE_FAILED
   */
  async replace(state: StateAt, read: FileContent | null): Promise<boolean> {
    const { version } = state;
    const bytes = Buffer.from(this.render(state));
    try {
      await this.#documents.writeBytes(this.#name, bytes, { ifVersion: read?.fileVersion ?? null });
    } catch (thrown) {
      if (isRekindleError(thrown, 'DOCUMENT_CONFLICT')) return false;
      throw thrown;
    }
    this.#same = { fileVersion: versionOf(bytes), version };
    return true;
  }

  /** Moves the file to a free name next to it and returns that; null if there is no file. */
  setAside(label: string): Promise<string | null> {
    this.#same = null;
    return this.#documents.setAside(this.#name, label);
  }

  render({ value, version, digest }: StateAt): string {
    const text = `${JSON.stringify(inOrder(value, this.#ranks), null, 2)}\n`;
    return withShownVersion(text, { version, digest });
  }
}

/**
 * For a file that does not name its version. True if it is an older version and was written before its
 * successor was made. The same content written later is an edit: the person took the change back.
 */
async function isBehind(content: FileContent, events: AsyncIterable<StateEvent>): Promise<boolean> {
  const digest = digestOf(content.value as JsonObject);
  let looked = 0;
  let after: StateEvent | null = null;
  for await (const event of events) {
    // Adopted from this very file, which could not be updated then.
    if (!after && event.file === digest) return true;
    const isOurs = event.digest === digest || event.file === digest;
    if (after && isOurs) return Math.floor(content.modifiedMs) <= Date.parse(after.at);
    after = event;
    // Stop only when the events are older than the file: replacing it may have failed for a long time.
    if (++looked > BEHIND_MAX && Date.parse(event.at) <= content.modifiedMs) break;
  }
  return false;
}

/** Keys in the order in which the schema first names them; other keys follow, by name. */
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
