/**
 * Translates ids and names to what a target accepts. The translation is injective and depends only on earlier messages,
 * so a longer list starts with the same bytes. Stored ids never change; each request is translated again.
 */
import { sha256Hex } from '../../core/sha256.js';
import type { IdRule, NameRule } from './target-limits.js';

const HASH_CHARS = 8;

export class IdTranslator {
  readonly #rule: IdRule;
  /** Translated id → stored id. */
  readonly #owners = new Map<string, string>();
  /** How often an id was opened: providers may reuse one in a later turn. */
  readonly #opened = new Map<string, number>();
  /** Stored id → translated id, for the current batch. */
  #batch = new Map<string, string>();
  /** Translated id → stored id, if they differ. */
  readonly originals = new Map<string, string>();

  constructor(rule: IdRule) {
    this.#rule = rule;
  }

  /** The translated ids of a message's calls, in order. Results use them until the next message with calls. */
  openBatch(ids: readonly string[]): string[] {
    this.#batch = new Map();
    return ids.map((id) => {
      const translated = this.#translate(id);
      this.#batch.set(id, translated);
      if (translated !== id) this.originals.set(translated, id);
      return translated;
    });
  }

  /** The translated id of the call that a result of the current batch answers. */
  ofResult(id: string): string {
    return this.#batch.get(id) ?? id;
  }

  #translate(id: string): string {
    const { pattern, max, exact, unique } = this.#rule;
    const times = this.#opened.get(id) ?? 0;
    this.#opened.set(id, times + 1);
    const fits = pattern.test(id) && (exact ? id.length === max : id.length <= max);
    if (fits && this.#isFree(id, id, unique)) return this.#take(id, id);
    return this.#made(id, unique ? times : 0);
  }

  #made(id: string, times: number): string {
    for (let attempt = 0; ; attempt += 1) {
      const candidate = this.#candidate(id, `${times}.${attempt}`);
      if (this.#isFree(candidate, id, this.#rule.unique)) return this.#take(candidate, id);
    }
  }

  /** An id that may be reused always has the same translation: a translated id belongs to one stored id, or to none yet. */
  #isFree(candidate: string, id: string, unique: boolean): boolean {
    const owner = this.#owners.get(candidate);
    return owner === undefined || (!unique && owner === id);
  }

  #candidate(id: string, salt: string): string {
    const { max, exact } = this.#rule;
    const hash = sha256Hex(`${id}\n${salt}`);
    if (exact || max <= HASH_CHARS + 1) return hash.slice(0, max);
    return `${cleaned(id, max - HASH_CHARS - 1)}_${hash.slice(0, HASH_CHARS)}`;
  }

  #take(translated: string, id: string): string {
    this.#owners.set(translated, id);
    return translated;
  }
}

export class NameTranslator {
  readonly #rule: NameRule;
  readonly #names = new Map<string, string>();
  readonly #used = new Set<string>();

  /** Translated name → own name, if they differ. */
  readonly originals = new Map<string, string>();

  constructor(rule: NameRule) {
    this.#rule = rule;
  }

  of(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const { pattern, max } = this.#rule;
    const fits = pattern.test(name) && name.length <= max && !this.#used.has(name);
    const translated = fits ? name : this.#made(name);
    this.#names.set(name, translated);
    this.#used.add(translated);
    if (translated !== name) this.originals.set(translated, name);
    return translated;
  }

  #made(name: string): string {
    for (let attempt = 0; ; attempt += 1) {
      const candidate = this.#candidate(name, attempt === 0 ? name : `${name}\n${attempt}`);
      if (!this.#used.has(candidate)) return candidate;
    }
  }

  #candidate(name: string, hashed: string): string {
    const hash = sha256Hex(hashed).slice(0, HASH_CHARS);
    const start = cleaned(name, this.#rule.max - HASH_CHARS - 1);
    return `${/^[a-zA-Z_]/.test(start) ? '' : 't'}${start}`
      .slice(0, this.#rule.max - HASH_CHARS - 1)
      .concat(`_${hash}`);
  }
}

/** The start of an id, in characters that every target accepts, to help people who read a request. */
function cleaned(id: string, max: number): string {
  return id.slice(0, max).replace(/[^a-zA-Z0-9_-]/g, '_') || 'id';
}
