/** Detects the format of a message list from the content of its entries. Reads as many as it takes. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { ENTRY_FORMATS, type EntryFormat, type EntryMark } from './entry-format.js';
import { marksOf } from './entry-marks.js';

export interface DetectedEntries {
  readonly format: EntryFormat;
  /** In words, with places: `messages/2: a part tool_use (anthropic)`. */
  readonly reasons: readonly string[];
}

const REASONS_MAX = 5;

interface Tally {
  strong: number;
  weak: number;
  readonly reasons: string[];
}

/** Collects marks entry by entry. */
export class EntryDetection {
  readonly #tallies = new Map<EntryFormat, Tally>();
  #entries = 0;
  #messages = 0;
  #hasTextLists = false;
  #hasChatRole = false;

  add(entry: JsonValue, place: string): void {
    this.#entries += 1;
    if (isJsonObject(entry) && isMessage(entry)) this.#messages += 1;
    this.#noteShape(entry);
    for (const mark of distinct(marksOf(entry))) this.#tally(mark, place);
  }

  /** A mark that only one format has was seen. */
  get isDecided(): boolean {
    return [...this.#tallies.values()].some(({ strong }) => strong > 0);
  }

  /** Null if nothing shows that the entries (with `ofAll`: all of them) are messages. */
  result({ ofAll }: { readonly ofAll: boolean }): DetectedEntries | null {
    const [best] = ENTRY_FORMATS.filter((format) => this.#tallies.has(format)).sort(
      (left, right) => this.#weight(right) - this.#weight(left),
    );
    if (best) return { format: best, reasons: this.#reasonsFor(best) };
    if (this.#messages === 0 || (ofAll && this.#messages < this.#entries)) return null;
    const format = this.#hasTextLists && !this.#hasChatRole ? 'anthropic' : 'openai-chat';
    return {
      format,
      reasons: [`${this.#messages} messages of role and text, as all formats have them; read as ${format}`],
    };
  }

  #tally({ format, what, weak }: EntryMark, place: string): void {
    const tally = this.#tallies.get(format) ?? { strong: 0, weak: 0, reasons: [] };
    this.#tallies.set(format, tally);
    if (weak) tally.weak += 1;
    else tally.strong += 1;
    if (tally.reasons.length < REASONS_MAX) tally.reasons.push(`${place}: ${what} (${format})`);
  }

  #weight(format: EntryFormat): number {
    const { strong, weak } = this.#tallies.get(format)!;
    return strong * 2 ** 20 + weak;
  }

  /** The reasons for this format, and those for another one. */
  #reasonsFor(best: EntryFormat): string[] {
    const others = [...this.#tallies].filter(([format]) => format !== best);
    const { reasons, strong, weak } = this.#tallies.get(best)!;
    const more = strong + weak - reasons.length;
    return [
      ...reasons,
      ...(more > 0 ? [`${more} more for ${best}`] : []),
      ...others.flatMap(([, tally]) => tally.reasons.slice(0, 1).map((reason) => `but ${reason}`)),
    ];
  }

  /** Answers as lists of texts suggest Anthropic. A system or tool message in the list rules Anthropic out. */
  #noteShape(entry: JsonValue): void {
    if (!isJsonObject(entry)) return;
    const { role, content } = entry;
    if (role === 'assistant' && Array.isArray(content)) this.#hasTextLists = true;
    if (role === 'system' || role === 'developer' || role === 'tool') this.#hasChatRole = true;
  }
}

function isMessage(entry: JsonObject): boolean {
  return typeof entry['role'] === 'string' && ('content' in entry || 'parts' in entry);
}

/** An entry counts once for each format. */
function distinct(marks: readonly EntryMark[]): EntryMark[] {
  const byFormat = new Map<EntryFormat, EntryMark>();
  for (const mark of marks) {
    const known = byFormat.get(mark.format);
    if (!known || (known.weak && !mark.weak)) byFormat.set(mark.format, mark);
  }
  return [...byFormat.values()];
}

/** The format that an entry shows by itself; null if it has no mark that only one format has. */
export function formatOfEntry(entry: JsonValue): EntryFormat | null {
  const strong = [...new Set(marksOf(entry).flatMap((mark) => (mark.weak ? [] : [mark.format])))];
  return strong.length === 1 ? strong[0]! : null;
}
