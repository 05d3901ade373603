/**
 * What a text is found by: stems of its words, the parts of identifiers, pairs of characters where words are not told apart by
 * spaces. The same for what is indexed and for what is asked.
 */
import { isFunctionWord, type Language, languageOf, loadStemmer, type Stem } from './languages.js';

export interface TextTerms {
  /** In order, with repetitions. */
  readonly terms: readonly string[];
  readonly language: Language;
}

/** Longer ones are cut: a hash is found by its beginning. */
const TERM_CHARS_MAX = 64;
/** Of a text, that tell its language. */
const SAMPLE_WORDS = 60;
/** Words whose terms are kept, of each language. */
const WORDS_KEPT = 50_000;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that write no spaces between words, and Hangul, whose particles cling to theirs. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const UNSPACED_RUN = new RegExp(`${UNSPACED.source}+|[^${UNSPACED.source.slice(1, -1)}]+`, 'gu');
/** Where a name in camel case is joined. */
const HUMPS = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const HUMP = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+/gu;
const MARKS = /\p{M}+/gu;
const NOT_ASCII = /[^\0-\x7f]/;

const ofWords = new Map<Language, Map<string, readonly string[]>>();

/** Loads the stemmer of the text's language when it is the first of it. */
export async function termsOf(text: string): Promise<TextTerms> {
  const words = wordsOf(text);
  const language = languageOf(
    text.slice(0, 2_000),
    words.slice(0, SAMPLE_WORDS).map((word) => word.toLowerCase()),
  );
  const stem = await loadStemmer(language);
  const terms: string[] = [];
  for (const word of words) for (const term of termsOfWord(word, language, stem)) terms.push(term);
  return { terms, language };
}

/** What a question is found by: each word's forms in all the languages that it may meet. */
export async function questionTerms(
  text: string,
  languages: Iterable<Language>,
): Promise<readonly (readonly string[])[]> {
  const words = wordsOf(text);
  const own = languageOf(
    text,
    words.map((word) => word.toLowerCase()),
  );
  const known = new Map<Language, Stem>();
  for (const language of new Set<Language>([own, 'english', ...languages]))
    known.set(language, await loadStemmer(language));
  const seen = new Set<string>();
  const found: string[][] = [];
  for (const word of words) {
    if (isFunctionWord(word.toLowerCase(), own)) continue;
    for (const unit of unitsOf(word)) {
      const forms = new Set<string>();
      for (const stem of known.values()) forms.add(stemOf(unit, stem));
      const key = [...forms].join(' ');
      if (!seen.has(key)) found.push([...forms]);
      seen.add(key);
    }
  }
  return found;
}

function wordsOf(text: string): readonly string[] {
  return text.normalize('NFC').match(WORD) ?? [];
}

/** Looked up, for words that were met before: most of a text is made of few words. */
function termsOfWord(word: string, language: Language, stem: Stem): readonly string[] {
  let known = ofWords.get(language);
  if (!known) ofWords.set(language, (known = new Map()));
  const before = known.get(word);
  if (before) return before;
  const terms = unitsOf(word)
    .filter((unit) => !isFunctionWord(unit, language))
    .map((unit) => stemOf(unit, stem));
  if (known.size >= WORDS_KEPT) known.clear();
  known.set(word, terms);
  return terms;
}

/** A word as it is found: itself in lower case; the parts of a name in camel case beside it; pairs of characters where there are no spaces. */
function unitsOf(word: string): string[] {
  if (NOT_ASCII.test(word) && UNSPACED.test(word)) return (word.match(UNSPACED_RUN) ?? []).flatMap(pairsOf);
  const whole = word.toLowerCase();
  if (!HUMPS.test(word)) return [whole];
  const parts = (word.match(HUMP) ?? []).map((part) => part.toLowerCase());
  return parts.length > 1 ? [whole, ...parts] : [whole];
}

function pairsOf(run: string): string[] {
  if (!UNSPACED.test(run)) return [run.toLowerCase()];
  const characters = [...run];
  if (characters.length === 1) return [run];
  return characters.slice(1).map((character, index) => characters[index]! + character);
}

function stemOf(word: string, stem: Stem): string {
  return folded(word.length > TERM_CHARS_MAX ? word.slice(0, TERM_CHARS_MAX) : stem(word));
}

/** Accents, and forms that stand for the same letter, are left out of what is compared, after the stemmer has seen them. */
function folded(word: string): string {
  if (!NOT_ASCII.test(word)) return word;
  return word.normalize('NFKD').replace(MARKS, '').replaceAll('ς', 'σ').replaceAll('ſ', 's').toWellFormed();
}
