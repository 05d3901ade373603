/**
 * Redacts a text that arrives in pieces. What is found depends on what stands around it, so the whole text so far is
 * redacted each time, and only what is new in the result is stored.
 */
import type { StorageRedactor } from '../../storage/storage-redactor.js';

interface Pieces {
  readonly text?: string;
  readonly reasoning?: string;
}

export class RedactedPieces {
  readonly #redactor: StorageRedactor;
  readonly #given = { text: '', reasoning: '' };
  readonly #stored = { text: '', reasoning: '' };

  constructor(redactor: StorageRedactor) {
    this.#redactor = redactor;
  }

  /** `replaces`: the text replaces all earlier ones. @throws SENSITIVE_DATA */
  next(part: Pieces): Pieces & { readonly replaces?: true } {
    const reasoning = this.#new('reasoning', part.reasoning);
    const text = this.#new('text', part.text);
    return {
      ...(reasoning.added === '' ? {} : { reasoning: reasoning.added }),
      ...(text.added === '' && !text.replaces ? {} : { text: text.added }),
      ...(text.replaces ? { replaces: true } : {}),
    };
  }

  #new(kind: 'text' | 'reasoning', piece = ''): { readonly added: string; readonly replaces: boolean } {
    if (piece === '') return { added: '', replaces: false };
    this.#given[kind] += piece;
    const before = this.#stored[kind];
    const now = this.#redactor.text(this.#given[kind]);
    this.#stored[kind] = now;
    const continues = now.startsWith(before);
    return { added: continues ? now.slice(before.length) : now, replaces: !continues };
  }
}
