/**
 * The search terms of a text: stems of its words, parts of identifiers, and pairs of characters in scripts without
 * spaces. Used for indexed texts and for questions alike.
 */
import { isFunctionWord, type Language, languageOf, loadStemmer, type Stem } from './languages.js';

export interface TextTerms {
  /** In order, including repetitions. */
  readonly terms: readonly string[];
  readonly language: Language;
}

/** Longer terms are cut: a hash is found by its beginning. */
const TERM_CHARS_MAX = 64;
/** Number of words used to detect the language. */
const SAMPLE_WORDS = 60;
/** Cache size per language, in words. */
const WORDS_KEPT = 50_000;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** The same words in a text of ASCII, found much faster. */
const ASCII_WORD = /[A-Za-z0-9]+/g;
/** Scripts without spaces between words, and Hangul, whose particles are attached to words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const UNSPACED_RUN = new RegExp(`${UNSPACED.source}+|[^${UNSPACED.source.slice(1, -1)}]+`, 'gu');
/** The boundaries inside a camel case name. */
const HUMPS = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const HUMP = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+/gu;
const MARKS = /\p{M}+/gu;
const NOT_ASCII = /[^\0-\x7f]/;

const ofWords = new Map<Language, Map<string, readonly string[]>>();

/** Loads the stemmer of the text's language on first use. */
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

/** The search terms of a question: each word's forms in all languages that it may belong to. */
export async function questionTerms(
  text: string,
  languages: Iterable<Language>,
): Promise<readonly (readonly string[])[]> {
  return (await questionUnits(text, languages)).map(({ forms }) => forms);
}

/**
 * For a question, the words that a text has too, in some form: as the question has them, in lower case. The forms of the
 * question are made once for each language.
 */
export function wordsInCommon(question: string): (text: string) => Promise<string[]> {
  const unitsIn = new Map<Language, Promise<QuestionUnit[]>>();
  return async (text) => {
    const { terms, language } = await termsOf(text);
    const known = new Set(terms);
    const made = unitsIn.get(language) ?? questionUnits(question, [language]);
    unitsIn.set(language, made);
    const units = await made;
    return units.filter(({ forms }) => forms.some((form) => known.has(form))).map(({ unit }) => unit);
  };
}

interface QuestionUnit {
  readonly unit: string;
  readonly forms: readonly string[];
}

/** Each with other forms than the ones before. */
async function questionUnits(text: string, languages: Iterable<Language>): Promise<QuestionUnit[]> {
  const words = wordsOf(text);
  const own = languageOf(
    text,
    words.map((word) => word.toLowerCase()),
  );
  const known = new Map<Language, Stem>();
  for (const language of new Set<Language>([own, 'english', ...languages]))
    known.set(language, await loadStemmer(language));
  const seen = new Set<string>();
  const found: QuestionUnit[] = [];
  for (const word of words) {
    if (isFunctionWord(word.toLowerCase(), own)) continue;
    for (const unit of unitsOf(word)) {
      const forms = new Set<string>();
      for (const stem of known.values()) forms.add(stemOf(unit, stem));
      const key = [...forms].join(' ');
      if (!seen.has(key)) found.push({ unit, forms: [...forms] });
      seen.add(key);
    }
  }
  return found;
}

function wordsOf(text: string): readonly string[] {
  if (!NOT_ASCII.test(text)) return text.match(ASCII_WORD) ?? [];
  return text.normalize('NFC').match(WORD) ?? [];
}

/** Cached by word, because most texts repeat few words. */
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

/**
 * The units of a word: the word in lower case, the parts of a camel case name, and pairs of characters in scripts
 * without spaces.
 */
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

/** Removes accents and letter variants after stemming, so that they do not affect comparison. */
function folded(word: string): string {
  if (!NOT_ASCII.test(word)) return word;
  return word.normalize('NFKD').replace(MARKS, '').replaceAll('ς', 'σ').replaceAll('ſ', 's').toWellFormed();
}
